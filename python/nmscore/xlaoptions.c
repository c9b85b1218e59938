/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaoptions: an option is a scalar attribute of its name. Class options are four arrays with one
 * element for each class. */
#include "xlaoptions.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  int type;
  size_t offset;
} fields[] = {
#define FIELD(name, type) \
  { \
#name, type, offsetof(nms_options, name) \
  }
  FIELD (iou_threshold, XLAFFI_F32),
  FIELD (score_threshold, XLAFFI_F32),
  FIELD (max_per_class, XLAFFI_S64),
  FIELD (max_candidates, XLAFFI_S64),
  FIELD (inclusive, XLAFFI_PRED),
  FIELD (score_strict, XLAFFI_PRED),
  FIELD (class_agnostic, XLAFFI_PRED),
#undef FIELD
};

static const struct {
  const char *name;
  int type;
  size_t offset;
} class_fields[] = {
#define FIELD(name, type) \
  { \
    "class_" #name, type, offsetof (nms_class_options, name) \
  }
  { "class_ids", XLAFFI_S32, offsetof (nms_class_options, class_id) },
  FIELD (set, XLAFFI_S32),
  FIELD (iou_threshold, XLAFFI_F32),
  FIELD (score_threshold, XLAFFI_F32),
  FIELD (max_detections, XLAFFI_S64),
#undef FIELD
};

static bool
is_named (const xlaffi_text *text, const char *name)
{
  return text->length == strlen (name) && !memcmp (text->text, name, text->length);
}

static size_t
width_of (int type)
{
  return type == XLAFFI_S64 ? 8 : type == XLAFFI_PRED ? 1 : 4;
}

/* Returns false if the attribute is none of the scalars above. */
static bool
read_scalar (const xlaffi_text *name, const xlaffi_scalar *scalar, nms_options *options)
{
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (is_named (name, fields[i].name)) {
      if (scalar->type != fields[i].type)
        return false;
      memcpy ((char *) options + fields[i].offset, scalar->value, width_of (scalar->type));
      return true;
    }
  return false;
}

/* Allocates the entries when the first array is read, because all have the same length. */
static bool
allocate (size_t count, nms_options *options, nms_class_options **classes)
{
  if (*classes)
    return options->class_option_count == count;
  *classes = calloc (count + 1, sizeof **classes);
  for (size_t i = 0; *classes && i < count; i++)
    (*classes)[i].size = sizeof **classes;
  options->class_options = *classes;
  options->class_option_count = count;
  return *classes != NULL;
}

static bool
read_array (const xlaffi_text *name, const xlaffi_array *array, nms_options *options,
    nms_class_options **classes)
{
  for (size_t i = 0; i < sizeof class_fields / sizeof *class_fields; i++)
    if (is_named (name, class_fields[i].name)) {
      const size_t width = width_of (array->type);
      if (array->type != class_fields[i].type || !allocate (array->count, options, classes))
        return false;
      for (size_t k = 0; k < array->count; k++)
        memcpy ((char *) &(*classes)[k] + class_fields[i].offset,
            (const char *) array->values + k * width, width);
      return true;
    }
  return false;
}

const char *
xlaoptions_read (const xlaffi_attributes *attributes, nms_options *options,
    nms_class_options **classes)
{
  nms_options_init (options, sizeof *options);
  for (int64_t i = 0; i < attributes->count; i++) {
    const xlaffi_text *name = attributes->names[i];
    bool known = false;
    if (attributes->types[i] == XLAFFI_ATTRIBUTE_SCALAR)
      known = read_scalar (name, attributes->values[i], options);
    else if (attributes->types[i] == XLAFFI_ATTRIBUTE_ARRAY)
      known = read_array (name, attributes->values[i], options, classes);
    if (!known)
      return "nmscore: an attribute of the call is unknown or has the wrong type";
  }
  return NULL;
}
