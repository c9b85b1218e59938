/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lazynms: records a call as a program, runs it, and compares the results. */
#include "lazynms.h"

#include "refboxes.h"
#include "scoped.h"

#include <stdlib.h>
#include <string.h>

enum { X1, Y1, X2, Y2, SCORE, LIMIT, FLOATS };
enum { LEAST, GROUP, CLASS, CLASS_CAP, PARENT, WORDS };

/* The columns of a call, each of `padded` elements, which are 0 behind the last box. */
typedef struct {
  int32_t padded;
  float *floats;  /* FLOATS columns */
  int32_t *words; /* WORDS columns */
  uint8_t *there; /* 1 for a box */
} Columns;

static float *
floats (const Columns *c, int column)
{
  return c->floats + (size_t) column * (size_t) c->padded;
}

static int32_t *
words (const Columns *c, int column)
{
  return c->words + (size_t) column * (size_t) c->padded;
}

/* Copies element i of a column if there is a column. */
static void
fetch (const nms_column *column, size_t i, void *value, size_t size)
{
  ptrdiff_t stride = column->stride ? column->stride : (ptrdiff_t) size;

  if (column->data)
    memcpy (value, (const char *) column->data + (ptrdiff_t) i * stride, size);
}

static int32_t
as_cap (uint64_t most)
{
  return most > INT32_MAX ? 0 : (int32_t) most;
}

static void
fill (const Columns *c, const nms_boxes *boxes, const nms_options *o)
{
  const nms_column *plain[] = { &boxes->x1, &boxes->y1, &boxes->x2, &boxes->y2, &boxes->score };
  RefCall call = ref_call_read (boxes, o);

  for (size_t i = 0; i < boxes->count; i++) {
    const RefBox *box = &call.list[i];
    const RefRule rule = ref_rule_of (o, box->class_id);
    uint8_t exclude = 0;

    for (int k = 0; k < (int) G_N_ELEMENTS (plain); k++)
      fetch (plain[k], i, &floats (c, k)[i], sizeof (float));
    fetch (&boxes->exclude, i, &exclude, sizeof exclude);
    floats (c, LIMIT)[i] = nms_lazy_limit_of (rule.iou_threshold, o->inclusive);
    words (c, LEAST)[i] = exclude
        ? INT32_MAX
        : nms_lazy_order_key_of (rule.score_threshold) + (o->score_strict != 0);
    words (c, GROUP)[i] = o->class_agnostic ? 7 : box->group;
    words (c, CLASS)[i] = box->class_id;
    words (c, CLASS_CAP)[i] = as_cap (rule.max);
    words (c, PARENT)[i] = box->parent;
    c->there[i] = 1;
  }
  free (call.list);
}

static nms_lazy_tensor
float_input (nms_lazy *lz, const Columns *c, int column)
{
  return nms_lazy_input (lz, NMS_LAZY_F32, 1, &c->padded, floats (c, column));
}

static nms_lazy_tensor
word_input (nms_lazy *lz, const Columns *c, int column)
{
  return nms_lazy_input (lz, NMS_LAZY_S32, 1, &c->padded, words (c, column));
}

static nms_lazy_kept
record (nms_lazy *lz, const Columns *c, const nms_boxes *in, const nms_options *o, unsigned flags)
{
  const int all = (flags & LAZYNMS_ALL) != 0;
  nms_lazy_boxes b = { 0 };
  nms_lazy_tensor *const corners[] = { &b.x1, &b.y1, &b.x2, &b.y2 };

  for (int k = 0; k < 4; k++)
    *corners[k] = float_input (lz, c, k);
  b.valid = nms_lazy_binary (lz, NMS_LAZY_AND,
      nms_lazy_input (lz, NMS_LAZY_PRED, 1, &c->padded, c->there), nms_lazy_clean_boxes (lz, &b));
  b.key = nms_lazy_order_key (lz, float_input (lz, c, SCORE), &b.valid);
  b.limit = o->class_option_count
      ? float_input (lz, c, LIMIT)
      : nms_lazy_input_f32 (lz, nms_lazy_limit_of (o->iou_threshold, o->inclusive));
  b.least = word_input (lz, c, LEAST);
  if (all || (in->class_id.data && !o->class_agnostic))
    b.class_id = word_input (lz, c, GROUP);
  if (all || o->max_per_class || o->class_option_count) {
    b.cap_class = word_input (lz, c, CLASS);
    b.class_cap = word_input (lz, c, CLASS_CAP);
  }
  if (all || in->parent.data)
    b.parent = word_input (lz, c, PARENT);
  if (all || o->max_detections)
    b.cap = nms_lazy_input_s32 (lz, as_cap (o->max_detections));
  return nms_lazy_nms (lz, &b, flags & NMS_LAZY_NO_DIVISION);
}

/* Returns the state that the program must give box i, which may be padding. */
static int32_t
state_of (const RefResult *expected, size_t i)
{
  static const int32_t states[] = { [NMS_OUTCOME_KEPT] = NMS_LAZY_KEPT,
    [NMS_OUTCOME_OVER_CAP] = NMS_LAZY_OVER_CAP,
    [NMS_OUTCOME_FILTERED] = NMS_LAZY_FILTERED,
    [NMS_OUTCOME_INVALID] = NMS_LAZY_INVALID };
  const int outcome = i < expected->count ? expected->outcome[i] : NMS_OUTCOME_INVALID;

  return outcome == NMS_OUTCOME_SUPPRESSED ? expected->suppressed_by[i] : states[outcome];
}

void
lazynms_check (nms_lazy *lz, const nms_boxes *boxes, const nms_options *options, size_t padded,
    unsigned flags)
{
  g_autofree float *float_columns = g_new0 (float, FLOATS *padded);
  g_autofree int32_t *word_columns = g_new0 (int32_t, WORDS * padded);
  g_autofree uint8_t *there = g_new0 (uint8_t, padded);
  g_autofree int32_t *picks = g_new (int32_t, padded), *state = g_new (int32_t, padded);
  const Columns columns = { (int32_t) padded, float_columns, word_columns, there };
  g_auto (RefResult) expected = { 0 };
  int32_t count;

  ref_run (boxes, options, &expected);
  fill (&columns, boxes, options);
  nms_lazy_kept kept = record (lz, &columns, boxes, options, flags);
  const nms_lazy_tensor want[] = { kept.picks, kept.count, kept.state };
  if (nms_lazy_read (lz, 3, want, (void *[]) { picks, &count, state }) < 0)
    g_error ("%s", nms_lazy_error (lz));
  nms_lazy_clear (lz);
  g_assert_cmpint (count, ==, (int32_t) expected.kept_count);
  for (size_t i = 0; i < padded; i++) {
    g_assert_cmpint (picks[i], ==, i < expected.kept_count ? expected.kept[i] : -1);
    g_assert_cmpint (state[i], ==, state_of (&expected, i));
  }
}
