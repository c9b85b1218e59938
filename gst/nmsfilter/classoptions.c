/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* classoptions: the options of single classes as nmscore takes them. */
#include "classoptions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classlist.h"
#include "optionvalue.h"

typedef struct
{
  GQuark label;
  nms_class_options core;
} ClassEntry;

static void
init_entry (gpointer data)
{
  ClassEntry *entry = data;

  entry->core = (nms_class_options) { .size = sizeof entry->core,
    .class_id = CLASS_ID_OF_LABEL (entry->label) };
}

static const gchar *
take_key (gpointer data, const gchar *key, const GValue *value)
{
  nms_class_options *option = &((ClassEntry *) data)->core;
  gdouble number = 0;
  const gboolean is_number = option_value_number (value, &number) && !isnan (number);

  if (strcmp (key, "iou-threshold") == 0) {
    if (!is_number || number < 0 || number > 1)
      return "a number from 0 to 1";
    option->iou_threshold = (gfloat) number;
    option->set |= NMS_CLASS_IOU_THRESHOLD;
  } else if (strcmp (key, "score-threshold") == 0) {
    if (!is_number)
      return "a number";
    option->score_threshold = (gfloat) number;
    option->set |= NMS_CLASS_SCORE_THRESHOLD;
  } else if (strcmp (key, "max") == 0) {
    if (!is_number || number < 0 || number > G_MAXUINT32 || number != floor (number))
      return "a whole number from 0 (no limit) to 4294967295";
    option->max_detections = (guint64) number;
    option->set |= NMS_CLASS_MAX_DETECTIONS;
  } else {
    return CLASS_LIST_UNKNOWN;
  }
  return NULL;
}

ClassOptions *
class_options_parse (const GstStructure *structure, gchar **error)
{
  static const ClassListForm form = {
    .keys = "iou-threshold, score-threshold, max",
    .entry_size = sizeof (ClassEntry),
    .init = init_entry,
    .take = take_key,
  };
  GArray *entries = class_list_parse (structure, &form, error);
  ClassOptions *result;

  if (entries == NULL)
    return NULL;
  result = g_new0 (ClassOptions, 1);
  result->ref_count = 1;
  result->count = entries->len;
  result->options = g_new (nms_class_options, entries->len);
  result->unscored = g_new (nms_class_options, entries->len);
  for (guint k = 0; k < entries->len; k++) {
    result->options[k] = result->unscored[k] = g_array_index (entries, ClassEntry, k).core;
    result->unscored[k].set &= ~(guint32) NMS_CLASS_SCORE_THRESHOLD;
  }
  g_array_unref (entries);
  return result;
}

ClassOptions *
class_options_ref (ClassOptions *options)
{
  if (options)
    g_atomic_int_inc (&options->ref_count);
  return options;
}

void
class_options_unref (ClassOptions *options)
{
  if (options && g_atomic_int_dec_and_test (&options->ref_count)) {
    g_free (options->options);
    g_free (options->unscored);
    g_free (options);
  }
}

static gint
compare_class_ids (gconstpointer a, gconstpointer b)
{
  gint32 left = ((const nms_class_options *) a)->class_id;
  gint32 right = ((const nms_class_options *) b)->class_id;

  return (left > right) - (left < right);
}

gfloat
class_options_score_threshold (const ClassOptions *options, gint32 class_id, gfloat otherwise)
{
  const nms_class_options key = { .class_id = class_id }, *found = NULL;

  if (options && options->count > 0)
    found = bsearch (&key, options->options, options->count, sizeof key, compare_class_ids);
  if (found && (found->set & NMS_CLASS_SCORE_THRESHOLD))
    return found->score_threshold;
  return otherwise;
}
