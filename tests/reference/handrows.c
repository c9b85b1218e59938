/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* handrows: reads the text of rows and describes results. */
#include "handrows.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static const struct {
  const char *name;
  float corners[4];
} places[] = { { "whole", { 0, 0, 4, 4 } }, { "half", { 0, 0, 4, 2 } }, { "lower", { 0, 2, 4, 4 } },
  { "quarter", { 0, 0, 4, 1 } }, { "shifted", { 2, 0, 6, 4 } }, { "next", { 4, 0, 8, 4 } },
  { "corner", { 2, 2, 6, 6 } }, { "far", { 9, 9, 13, 13 } } };

typedef enum { FLOAT, UINT8, INT32, UINT64 } Type;

/* A field of a struct. `bit` is that of nms_class_options.set, and tells columns apart. */
typedef struct {
  const char *name;
  Type type;
  size_t at;
  uint32_t bit;
} Field;

#define OPTION(field) offsetof (nms_options, field)
static const Field fields[] = { { "iou", FLOAT, OPTION (iou_threshold), 0 },
  { "least", FLOAT, OPTION (score_threshold), 0 }, { "sigma", FLOAT, OPTION (sigma), 0 },
  { "min-score", FLOAT, OPTION (min_score), 0 },
  { "size-ratio", FLOAT, OPTION (min_size_ratio), 0 },
  { "max", UINT64, OPTION (max_detections), 0 },
  { "max-per-class", UINT64, OPTION (max_per_class), 0 },
  { "candidates", UINT64, OPTION (max_candidates), 0 },
  { "sources", UINT64, OPTION (source_count), 0 }, { "fused", INT32, OPTION (fused_score), 0 },
  { "inclusive", UINT8, OPTION (inclusive), 0 }, { "strict", UINT8, OPTION (score_strict), 0 },
  { "agnostic", UINT8, OPTION (class_agnostic), 0 } };

#define OF_CLASS(field) offsetof (nms_class_options, field)
static const Field class_fields[] = { { "class", INT32, OF_CLASS (class_id), 0 },
  { "iou", FLOAT, OF_CLASS (iou_threshold), NMS_CLASS_IOU_THRESHOLD },
  { "least", FLOAT, OF_CLASS (score_threshold), NMS_CLASS_SCORE_THRESHOLD },
  { "max", UINT64, OF_CLASS (max_detections), NMS_CLASS_MAX_DETECTIONS },
  { "group", INT32, OF_CLASS (group), NMS_CLASS_GROUP } };

#define COLUMN(field) offsetof (HandCall, rows[0].field) - offsetof (HandCall, rows)
static const Field columns[] = { { "class", INT32, COLUMN (class_id), 1 },
  { "source", INT32, COLUMN (source), 2 }, { "parent", INT32, COLUMN (parent), 4 },
  { "exclude", UINT8, COLUMN (exclude), 8 }, { "angle", FLOAT, COLUMN (angle), 16 } };

static float
number_of (const char *text)
{
  char *end;
  const float value = (float) g_ascii_strtod (text, &end);

  g_assert (end != text && *end == '\0');
  return value;
}

/* Sets the field that a word such as "max=2" names; a word without a value sets 1. Returns its
 * bit. */
static uint32_t
set_field (const Field *list, size_t count, void *to, const char *word)
{
  const size_t length = strcspn (word, "=");
  const char *value = word[length] ? word + length + 1 : "1";

  for (size_t i = 0; i < count; i++) {
    void *at = (char *) to + list[i].at;
    if (strlen (list[i].name) != length || strncmp (word, list[i].name, length) != 0)
      continue;
    switch (list[i].type) {
      case FLOAT:
        *(float *) at = number_of (value);
        break;
      case UINT8:
        *(uint8_t *) at = (uint8_t) g_ascii_strtoull (value, NULL, 10);
        break;
      case INT32:
        *(int32_t *) at = (int32_t) g_ascii_strtoll (value, NULL, 10);
        break;
      case UINT64:
        *(uint64_t *) at = g_ascii_strtoull (value, NULL, 10);
    }
    return list[i].bit;
  }
  g_error ("'%s' is not known", word);
}

static void
read_class (HandCall *call, const char *text)
{
  nms_class_options *c = &call->classes[call->options.class_option_count++];
  g_auto (GStrv) words = g_strsplit (text, ",", -1);

  g_assert (call->options.class_option_count <= HANDROW_CLASSES);
  *c = (nms_class_options) { .size = sizeof *c };
  for (char **word = words; *word; word++)
    if (**word == '-')
      set_field (class_fields, G_N_ELEMENTS (class_fields), c, *word + 1);
    else
      c->set |= set_field (class_fields, G_N_ELEMENTS (class_fields), c, *word);
  call->options.class_options = call->classes;
}

/* Reads up to `count` numbers separated by commas. */
static void
read_numbers (const char *text, float *numbers, size_t count)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);

  g_assert (g_strv_length (words) <= count);
  for (size_t i = 0; words[i]; i++)
    numbers[i] = number_of (words[i]);
}

static void
read_option (HandCall *call, const char *word)
{
  nms_options *o = &call->options;

#define METHOD(constant, value, family, by_score, changes, name, text) \
  if (strcmp (word, name) == 0) { \
    o->method = value; \
    return; \
  }
  NMS_METHOD_LIST (METHOD)
#define METRIC(constant, value, name, text) \
  if (strcmp (word, name) == 0) { \
    o->metric = value; \
    return; \
  }
  NMS_METRIC_LIST (METRIC)
  if (g_str_has_prefix (word, "class=")) {
    read_class (call, word);
  } else if (g_str_has_prefix (word, "weights=")) {
    read_numbers (word + 8, call->weights, HANDROW_SOURCES);
    o->source_weights = call->weights;
  } else {
    set_field (fields, G_N_ELEMENTS (fields), o, word);
  }
}

/* Returns the bits of the columns that the box has. */
static uint32_t
read_box (HandCall *call, const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  typeof (call->rows[0]) *row = &call->rows[call->boxes.count++];
  uint32_t given = 0;
  size_t p = 0;

  g_assert (call->boxes.count <= HANDROW_BOXES);
  row->parent = -1;
  while (p < G_N_ELEMENTS (places) && strcmp (words[0], places[p].name) != 0)
    p++;
  if (p < G_N_ELEMENTS (places))
    memcpy (row->corners, places[p].corners, sizeof row->corners);
  else
    read_numbers (words[0], row->corners, 4);
  row->score = number_of (words[1]);
  for (char **word = words + 2; *word; word++)
    given |= set_field (columns, G_N_ELEMENTS (columns), row, *word);
  return given;
}

void
handrow_call (const HandRow *row, HandCall *call)
{
  const ptrdiff_t stride = sizeof call->rows[0];
  g_auto (GStrv) options = g_strsplit (row->options, " ", -1);
  g_auto (GStrv) boxes = g_strsplit (row->boxes, "; ", -1);
  uint32_t given = 0;

  *call = (HandCall) {
    .boxes = { .size = sizeof call->boxes,
        .x1 = { &call->rows->corners[0], stride },
        .y1 = { &call->rows->corners[1], stride },
        .x2 = { &call->rows->corners[2], stride },
        .y2 = { &call->rows->corners[3], stride },
        .score = { &call->rows->score, stride },
        .class_id = { &call->rows->class_id, stride },
        .exclude = { &call->rows->exclude, stride },
        .parent = { &call->rows->parent, stride },
        .source = { &call->rows->source, stride },
        .angle = { &call->rows->angle, stride } },
    .options = { .size = sizeof call->options,
        .iou_threshold = 0.5f,
        .score_threshold = -INFINITY,
        .outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY | NMS_OUTPUT_SCORE
            | NMS_OUTPUT_BOX },
  };
  for (char **word = options; *word; word++)
    read_option (call, *word);
  for (char **box = boxes; *box; box++)
    given |= read_box (call, *box);
  nms_column *const optional[] = { &call->boxes.class_id, &call->boxes.source, &call->boxes.parent,
    &call->boxes.exclude, &call->boxes.angle };
  for (size_t c = 0; c < G_N_ELEMENTS (optional); c++)
    if (!(given & 1u << c))
      optional[c]->data = NULL;
}

/* Appends a number with the nine digits that tell it from all others, in no locale. */
static void
append_number (GString *text, float number, char end)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (text, "%s%c", g_ascii_formatd (digits, sizeof digits, "%.9g", number),
      end);
}

char *
handrow_describe (const HandRow *row, const nms_result *result, size_t count)
{
  const char *bar = strchr (row->expect, '|');
  GString *text = g_string_new (NULL);

  for (size_t i = 0; bar && i < count; i++) {
    const int suppressed = result->outcome[i] == NMS_OUTCOME_SUPPRESSED;
    g_string_append_c (text, "KSONFI"[result->outcome[i]]);
    if (suppressed || result->suppressed_by[i] != -1)
      g_string_append_printf (text, suppressed ? "%d" : "(by %d)", result->suppressed_by[i]);
    g_string_append_c (text, ' ');
  }
  if (bar)
    g_string_append (text, "| ");
  for (size_t k = 0; k < result->kept_count; k++)
    g_string_append_printf (text, "%d ", result->kept[k]);
  if (bar && strchr (bar + 1, '|')) {
    g_string_append (text, "| ");
    for (size_t k = 0; k < result->kept_count; k++) {
      append_number (text, result->kept_score[k], ' ');
      for (size_t c = 0; c < 4; c++)
        append_number (text, result->kept_box[4 * k + c], ",,,;"[c]);
      g_string_append_c (text, ' ');
    }
    g_string_truncate (text, text->len - (result->kept_count > 0));
  }
  g_string_truncate (text, text->len - (text->len > 0));
  return g_string_free (text, FALSE);
}
