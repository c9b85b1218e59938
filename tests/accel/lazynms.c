/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lazynms: records a call as a program, runs it, and compares the results. */
#define _GNU_SOURCE
#include "lazynms.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  size_t count, padded;
  const nms_boxes *boxes;
  const nms_options *options;
  float *floats; /* one column at a time */
  int32_t *words;
  uint8_t *flags;
} Call;

__attribute__ ((format (printf, 1, 2))) static char *
text (const char *format, ...)
{
  char *string;
  va_list args;

  va_start (args, format);
  if (vasprintf (&string, format, args) < 0)
    abort ();
  va_end (args);
  return string;
}

static const void *
at (const nms_column *column, size_t i, size_t size)
{
  ptrdiff_t stride = column->stride ? column->stride : (ptrdiff_t) size;
  return (const char *) column->data + (ptrdiff_t) i * stride;
}

static int32_t
int_at (const nms_column *column, size_t i, int32_t otherwise)
{
  if (column->data)
    memcpy (&otherwise, at (column, i, sizeof otherwise), sizeof otherwise);
  return otherwise;
}

/* ------------------------------------------------------------------ inputs */

static nms_lazy_tensor
float_input (nms_lazy *lz, const Call *c, const nms_column *column)
{
  int32_t n = (int32_t) c->padded;

  memset (c->floats, 0, c->padded * sizeof *c->floats);
  for (size_t i = 0; i < c->count && column->data; i++)
    memcpy (&c->floats[i], at (column, i, sizeof *c->floats), sizeof *c->floats);
  return nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, c->floats);
}

static nms_lazy_tensor
word_input (nms_lazy *lz, const Call *c, int32_t (*word) (const Call *, size_t))
{
  int32_t n = (int32_t) c->padded;

  memset (c->words, 0, c->padded * sizeof *c->words);
  for (size_t i = 0; i < c->count; i++)
    c->words[i] = word (c, i);
  return nms_lazy_input (lz, NMS_LAZY_S32, 1, &n, c->words);
}

static int32_t
class_of (const Call *c, size_t i)
{
  return int_at (&c->boxes->class_id, i, 0);
}

static int32_t
same_class (const Call *c, size_t i)
{
  return 7;
}

/* Returns the class options of box i, with defaults from the global ones. */
static nms_class_options
rule_of (const Call *c, size_t i)
{
  const nms_options *o = c->options;
  nms_class_options rule = { .iou_threshold = o->iou_threshold,
    .score_threshold = o->score_threshold,
    .max_detections = o->max_per_class,
    .group = class_of (c, i) };

  for (size_t k = 0; k < o->class_option_count; k++) {
    const nms_class_options *own = &o->class_options[k];
    if (own->class_id != class_of (c, i))
      continue;
    if (own->set & NMS_CLASS_IOU_THRESHOLD)
      rule.iou_threshold = own->iou_threshold;
    if (own->set & NMS_CLASS_SCORE_THRESHOLD)
      rule.score_threshold = own->score_threshold;
    if (own->set & NMS_CLASS_MAX_DETECTIONS)
      rule.max_detections = own->max_detections;
    if (own->set & NMS_CLASS_GROUP)
      rule.group = own->group;
  }
  return rule;
}

static int32_t
group_of (const Call *c, size_t i)
{
  return rule_of (c, i).group;
}

static int32_t
least_of (const Call *c, size_t i)
{
  uint8_t exclude = 0;

  if (c->boxes->exclude.data)
    memcpy (&exclude, at (&c->boxes->exclude, i, 1), 1);
  return exclude
      ? INT32_MAX
      : nms_lazy_order_key_of (rule_of (c, i).score_threshold) + (c->options->score_strict != 0);
}

static int32_t
as_cap (uint64_t most)
{
  return most > INT32_MAX ? 0 : (int32_t) most;
}

static int32_t
cap_of (const Call *c, size_t i)
{
  return as_cap (rule_of (c, i).max_detections);
}

static int32_t
parent_of (const Call *c, size_t i)
{
  int32_t parent = int_at (&c->boxes->parent, i, -1);
  return parent < 0 || (size_t) parent >= c->count ? -1 : parent;
}

static nms_lazy_tensor
limit_input (nms_lazy *lz, const Call *c)
{
  int32_t n = (int32_t) c->padded;

  if (!c->options->class_option_count)
    return nms_lazy_input_f32 (lz,
        nms_lazy_limit_of (c->options->iou_threshold, c->options->inclusive));
  memset (c->floats, 0, c->padded * sizeof *c->floats);
  for (size_t i = 0; i < c->count; i++)
    c->floats[i] = nms_lazy_limit_of (rule_of (c, i).iou_threshold, c->options->inclusive);
  return nms_lazy_input (lz, NMS_LAZY_F32, 1, &n, c->floats);
}

static nms_lazy_kept
record (nms_lazy *lz, const Call *c, int all, unsigned flags)
{
  const nms_boxes *in = c->boxes;
  const nms_options *o = c->options;
  const int32_t n = (int32_t) c->padded;
  const int has_caps = o->max_per_class || o->class_option_count;
  nms_lazy_boxes b = { 0 };
  nms_lazy_tensor there;

  b.x1 = float_input (lz, c, &in->x1);
  b.y1 = float_input (lz, c, &in->y1);
  b.x2 = float_input (lz, c, &in->x2);
  b.y2 = float_input (lz, c, &in->y2);
  memset (c->flags, 1, c->count);
  memset (c->flags + c->count, 0, c->padded - c->count);
  there = nms_lazy_input (lz, NMS_LAZY_PRED, 1, &n, c->flags);
  b.valid = nms_lazy_binary (lz, NMS_LAZY_AND, there, nms_lazy_clean_boxes (lz, &b));
  b.key = nms_lazy_order_key (lz, float_input (lz, c, &in->score), &b.valid);
  b.limit = limit_input (lz, c);
  b.least = word_input (lz, c, least_of);
  if (all || (in->class_id.data && !o->class_agnostic))
    b.class_id = word_input (lz, c, o->class_agnostic ? same_class : group_of);
  if (all || has_caps) {
    b.cap_class = word_input (lz, c, class_of);
    b.class_cap = word_input (lz, c, cap_of);
  }
  if (all || in->parent.data)
    b.parent = word_input (lz, c, parent_of);
  if (all || o->max_detections)
    b.cap = nms_lazy_input_s32 (lz, as_cap (o->max_detections));
  return nms_lazy_nms (lz, &b, flags);
}

/* -------------------------------------------------------------- comparison */

static nms_outcome
outcome_of (int32_t state)
{
  return state >= 0                ? NMS_OUTCOME_SUPPRESSED
      : state == NMS_LAZY_KEPT     ? NMS_OUTCOME_KEPT
      : state == NMS_LAZY_OVER_CAP ? NMS_OUTCOME_OVER_CAP
      : state == NMS_LAZY_FILTERED ? NMS_OUTCOME_FILTERED
                                   : NMS_OUTCOME_INVALID;
}

static char *
difference (const Call *c, const RefResult *e, const int32_t *picks, int32_t count,
    const int32_t *state)
{
  if (count != (int32_t) e->kept_count)
    return text ("%d kept, must be %zu", count, e->kept_count);
  for (size_t k = 0; k < c->padded; k++) {
    int32_t must = k < e->kept_count ? e->kept[k] : -1;
    if (picks[k] != must)
      return text ("picks[%zu] is %d, must be %d", k, picks[k], must);
  }
  for (size_t i = 0; i < c->count; i++) {
    nms_outcome must = (nms_outcome) e->outcome[i];
    if (outcome_of (state[i]) != must || (state[i] >= 0 && state[i] != e->suppressed_by[i]))
      return text ("state[%zu] is %d, must be outcome %d, by %d", i, state[i], (int) must,
          e->suppressed_by[i]);
  }
  for (size_t i = c->count; i < c->padded; i++)
    if (state[i] != NMS_LAZY_INVALID)
      return text ("state[%zu] of the padding is %d", i, state[i]);
  return NULL;
}

char *
lazynms_difference (nms_lazy *lz, const nms_boxes *boxes, const nms_options *options, size_t padded,
    int columns, unsigned flags, const RefResult *expected)
{
  nms_options defaults;
  Call c = { boxes->count, padded, boxes, options ? options : &defaults, NULL, NULL, NULL };
  int32_t *picks = malloc (padded * sizeof *picks), *state = malloc (padded * sizeof *state);
  int32_t count = -1;
  char *result;

  nms_options_init (&defaults, sizeof defaults);
  c.floats = malloc (padded * sizeof *c.floats);
  c.words = malloc (padded * sizeof *c.words);
  c.flags = malloc (padded);
  if (!picks || !state || !c.floats || !c.words || !c.flags)
    abort ();
  nms_lazy_kept kept = record (lz, &c, columns == LAZYNMS_ALL, flags);
  const nms_lazy_tensor want[] = { kept.picks, kept.count, kept.state };
  if (nms_lazy_read (lz, 3, want, (void *[]) { picks, &count, state }) < 0)
    result = text ("%s", nms_lazy_error (lz));
  else
    result = difference (&c, expected, picks, count, state);
  nms_lazy_clear (lz);
  free (picks);
  free (state);
  free (c.floats);
  free (c.words);
  free (c.flags);
  return result;
}
