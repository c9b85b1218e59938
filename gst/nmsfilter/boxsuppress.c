/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxfilter: see the header. Expects frames of some 30 to 300 boxes, where
 * everything is a few passes over small arrays that live from frame to frame;
 * nothing here grows faster than n log n, for the frame that has 100,000.
 *
 * Two ways lead to the core. When every box has a score, the columns go there
 * as they are. When some have none, the boxes are put in their final order
 * here and go without scores: the core then takes its input order as rank.
 */
#include "boxsuppress.h"

#include <math.h>
#include <string.h>

#include "boxparents.h"
#include "unscoredorder.h"

#define COORDINATE_LIMIT 1e18f  /* beyond it the core calls a box invalid */

struct _BoxFilter
{
  nms_context *context;
  nms_options options;          /* of this run */
  gboolean turned;              /* a box of it is */
  BoxParents *parents;

  /* one element a box */
  guint capacity;
  gint32 *class_of;             /* of those that are put in order anew */
  gint32 *fed_at;               /* place among the fed boxes, or -1 */

  /* one element a fed box: a box that goes to the core */
  guint32 *fed;                 /* which box it is */
  gfloat *rows;                 /* x1 y1 x2 y2 */
  gfloat *angle;
  gfloat *score;
  gint32 *class_id;
  gint32 *parent;               /* place among the fed boxes, or -1 */
  guint8 *exclude;
  guint32 *neighbors;
  UnscoredOrderKey *keys;

  /* label ids of boxes without a label, as -1, -2, ... in order of appearance;
   * slots of an older frame have another stamp */
  struct IdSlot
  {
    gint label_id;
    gint32 class_id;
    guint32 stamp;
  } *id_slots;
  guint id_slot_count;          /* a power of 2, more than the boxes */
  guint32 stamp;
};

BoxFilter *
box_filter_new (void)
{
  BoxFilter *filter;
  nms_context *context = nms_context_new ();

  if (context == NULL)
    return NULL;
  filter = g_new0 (BoxFilter, 1);
  filter->context = context;
  filter->parents = box_parents_new ();
  return filter;
}

void
box_filter_free (BoxFilter * filter)
{
  if (filter == NULL)
    return;
  nms_context_free (&filter->context);
  box_parents_free (filter->parents);
  g_free (filter->class_of);
  g_free (filter->fed_at);
  g_free (filter->fed);
  g_free (filter->rows);
  g_free (filter->angle);
  g_free (filter->score);
  g_free (filter->class_id);
  g_free (filter->parent);
  g_free (filter->exclude);
  g_free (filter->neighbors);
  g_free (filter->keys);
  g_free (filter->id_slots);
  g_free (filter);
}

static void
reserve (BoxFilter * filter, guint count)
{
  guint capacity = MAX (filter->capacity, 64);

  if (count <= filter->capacity)
    return;
  while (capacity < count)
    capacity *= 2;
  filter->class_of = g_renew (gint32, filter->class_of, capacity);
  filter->fed_at = g_renew (gint32, filter->fed_at, capacity);
  filter->fed = g_renew (guint32, filter->fed, capacity);
  filter->rows = g_renew (gfloat, filter->rows, (gsize) 4 * capacity);
  filter->angle = g_renew (gfloat, filter->angle, capacity);
  filter->score = g_renew (gfloat, filter->score, capacity);
  filter->class_id = g_renew (gint32, filter->class_id, capacity);
  filter->parent = g_renew (gint32, filter->parent, capacity);
  filter->exclude = g_renew (guint8, filter->exclude, capacity);
  filter->neighbors = g_renew (guint32, filter->neighbors, capacity);
  filter->keys = g_renew (UnscoredOrderKey, filter->keys, capacity);
  filter->capacity = capacity;
}

/* ------------------------------------------------------------------ classes */

static gint32
class_of_label_id (BoxFilter * filter, gint label_id, gint32 * last)
{
  guint slot = (guint) label_id * 2654435769u;
  guint mask;

  if (filter->id_slot_count < 2 * filter->capacity) {
    /* reserve () has just grown: only ever before the first id of a frame */
    filter->id_slot_count = 2 * filter->capacity;
    g_free (filter->id_slots);
    filter->id_slots = g_new0 (struct IdSlot, filter->id_slot_count);
    filter->stamp = 1;
  }
  mask = filter->id_slot_count - 1;
  for (slot = (slot ^ slot >> 15) & mask; filter->id_slots[slot].stamp == filter->stamp;
      slot = (slot + 1) & mask)
    if (filter->id_slots[slot].label_id == label_id)
      return filter->id_slots[slot].class_id;
  filter->id_slots[slot] = (struct IdSlot) { label_id, --*last, filter->stamp };
  return *last;
}

static void
begin_label_ids (BoxFilter * filter)
{
  if (++filter->stamp == 0 && filter->id_slots) {       /* once in 2^32 frames */
    memset (filter->id_slots, 0, filter->id_slot_count * sizeof *filter->id_slots);
    filter->stamp = 1;
  }
}

/* `last`: the class id that an empty label with a new label id got last. */
static inline gint32
class_of_box (BoxFilter * filter, const Box * box, gint32 * last)
{
  if (G_LIKELY (box->label != 0))
    return CLASS_ID_OF_LABEL (box->label);
  return box->flags & BOX_HAS_LABEL_ID ? class_of_label_id (filter, box->label_id, last) : 0;
}

/* ------------------------------------------------------------------ columns */

static gboolean
is_valid (const Box * box)
{
  /* false for NaN */
  return fabsf ((gfloat) box->x1) <= COORDINATE_LIMIT
      && fabsf ((gfloat) box->y1) <= COORDINATE_LIMIT
      && fabsf ((gfloat) box->x2) <= COORDINATE_LIMIT
      && fabsf ((gfloat) box->y2) <= COORDINATE_LIMIT
      && isfinite ((gfloat) box->rotation)
      && !((box->flags & BOX_HAS_CONFIDENCE) && isnan (box->confidence));
}

/* Makes box i the k-th of the columns. */
static inline void
feed (BoxFilter * filter, const Box * box, guint32 i, gint32 class_id, guint k)
{
  gfloat *row = &filter->rows[(gsize) 4 * k];

  filter->fed[k] = i;
  row[0] = (gfloat) box->x1;
  row[1] = (gfloat) box->y1;
  row[2] = (gfloat) box->x2;
  row[3] = (gfloat) box->y2;
  filter->score[k] = (gfloat) box->confidence;
  filter->class_id[k] = class_id;
}

/* Fills the columns anew, after fed[0..count) has changed. */
static void
feed_again (BoxFilter * filter, const GArray * boxes, guint count)
{
  guint k;

  for (k = 0; k < count; k++) {
    guint32 i = filter->fed[k];
    feed (filter, &g_array_index (boxes, Box, i), i, filter->class_of[i], k);
  }
}

/* Describes the columns, with `count` boxes, to the core. */
static void
describe (BoxFilter * filter, const GArray * boxes, guint count, nms_boxes * columns,
    gboolean with_score, gboolean parts)
{
  guint i, k;

  *columns = (nms_boxes) { .size = sizeof *columns, .count = count };
  nms_boxes_set_rows (columns, filter->rows);
  columns->class_id.data = filter->class_id;
  if (filter->turned) {
    for (k = 0; k < count; k++)
      filter->angle[k] = (gfloat) g_array_index (boxes, Box, filter->fed[k]).rotation;
    columns->angle.data = filter->angle;
  }
  if (with_score)
    columns->score.data = filter->score;
  if (parts) {
    for (i = 0; i < boxes->len; i++)
      filter->fed_at[i] = -1;
    for (k = 0; k < count; k++)
      filter->fed_at[filter->fed[k]] = (gint32) k;
    for (k = 0; k < count; k++) {
      gint parent = g_array_index (boxes, Box, filter->fed[k]).parent;
      filter->parent[k] = parent >= 0 ? filter->fed_at[parent] : -1;
    }
    columns->parent.data = filter->parent;
  }
}

/* ----------------------------------------------- boxes without a confidence */

/* Decides the boxes that do not get as far as the core, leaves the others in
 * fed[] in their final order and returns how many they are, or an error. */
static gint
put_in_order (BoxFilter * filter, GArray * boxes, const BoxRules * rules, guint count,
    gboolean parts)
{
  const Box *all = (const Box *) boxes->data;
  gboolean neighbors = rules->unscored_order == UNSCORED_ORDER_NEIGHBORS
      || rules->min_neighbors > 0;
  guint k, kept;
  gint res;

  for (k = 0; k < count; k++)
    filter->class_of[filter->fed[k]] = filter->class_id[k];
  for (k = kept = 0; k < count; k++) {
    guint32 i = filter->fed[k];
    Box *box = &g_array_index (boxes, Box, i);
    gfloat least = rules->core.score_threshold;

    if (!is_valid (box)) {
      box->state = BOX_STATE_INVALID;
      continue;
    }
    if (box->flags & BOX_HAS_CONFIDENCE) {
      least = class_options_score_threshold (rules->options, filter->class_of[i], least);
      if ((gfloat) box->confidence < least) {
        box->state = BOX_STATE_BELOW_SCORE;
        continue;
      }
    }
    filter->fed[kept++] = i;
  }
  count = kept;

  if (neighbors) {
    nms_boxes columns;

    feed_again (filter, boxes, count);
    describe (filter, boxes, count, &columns, FALSE, parts);
    if ((res = nms_count_neighbors (filter->context, &columns, &filter->options,
                filter->neighbors)) < 0)
      return res;
  }

  for (k = kept = 0; k < count; k++) {
    Box *box = &g_array_index (boxes, Box, filter->fed[k]);
    UnscoredOrderKey *key = &filter->keys[kept];

    *key = (UnscoredOrderKey) { 0, filter->fed[k], 0 };
    if (box->flags & BOX_HAS_CONFIDENCE) {
      key->value = (gfloat) box->confidence;
    } else if (rules->min_neighbors > 0 && filter->neighbors[k] < rules->min_neighbors) {
      box->state = BOX_STATE_TOO_FEW_NEIGHBORS;
      continue;
    } else {
      key->unscored = 1;
      if (rules->unscored_order == UNSCORED_ORDER_NEIGHBORS)
        key->value = filter->neighbors[k];
      else if (rules->unscored_order == UNSCORED_ORDER_AREA)
        key->value = fabs (box->x2 - box->x1) * fabs (box->y2 - box->y1);
      else
        key->value = -(gdouble) key->index;
    }
    kept++;
  }
  unscored_order_sort (filter->keys, kept, all);
  for (k = 0; k < kept; k++)
    filter->fed[k] = filter->keys[k].index;
  feed_again (filter, boxes, kept);
  return (gint) kept;
}

/* ------------------------------------------------------------------ the run */

/* Which boxes take part, as columns, and their classes; those that are dropped for the lack
 * of a score; whether any is without one, and whether any is part of another. */
static guint
choose (BoxFilter * filter, GArray * boxes, const BoxRules * rules, gboolean * unscored,
    gboolean * parts)
{
  const ClassSelection *selection = rules->selection;
  const guint len = boxes->len;
  Box *box = (Box *) boxes->data;
  gboolean any_part = FALSE, turned = FALSE;
  gint32 last = 0;
  guint i, count = 0;

  *unscored = FALSE;
  begin_label_ids (filter);
  for (i = 0; i < len; i++, box++) {
    box->state = BOX_STATE_KEPT;
    box->suppressed_by = -1;
    any_part |= box->parent >= 0;
    turned |= box->rotation != 0;
    if (G_UNLIKELY (selection != NULL) && !class_selection_has (selection, box->label)) {
      box->state = BOX_STATE_NONE;
      continue;
    }
    if (G_UNLIKELY (!(box->flags & BOX_HAS_CONFIDENCE))) {
      if (rules->unscored_order == UNSCORED_ORDER_DROP) {
        box->state = is_valid (box) ? BOX_STATE_NO_SCORE : BOX_STATE_INVALID;
        continue;
      }
      *unscored = TRUE;
    }
    feed (filter, box, i, class_of_box (filter, box, &last), count++);
  }
  *parts = any_part;
  filter->turned = turned;
  return count;
}

static void
take_outcomes (BoxFilter * filter, GArray * boxes, guint count, const nms_result * result)
{
  static const guint8 states[] = {
    [NMS_KEPT] = BOX_STATE_KEPT,
    [NMS_SUPPRESSED] = BOX_STATE_SUPPRESSED,
    [NMS_OVER_CAP] = BOX_STATE_OVER_CAP,
    [NMS_FILTERED] = BOX_STATE_BELOW_SCORE,
    [NMS_INVALID] = BOX_STATE_INVALID,
  };
  guint k;

  for (k = 0; k < count; k++) {
    Box *box = &g_array_index (boxes, Box, filter->fed[k]);

    box->state = (BoxState) states[result->outcome[k]];
    if (result->suppressed_by)
      box->suppressed_by = result->suppressed_by[k] < 0 ? -1
          : (gint) filter->fed[result->suppressed_by[k]];
  }
}

gint
box_filter_run (BoxFilter * filter, GArray * boxes, const BoxRules * rules,
    gboolean want_suppressors)
{
  nms_result result = { .size = sizeof result };
  nms_options *options = &filter->options;
  gboolean unscored, parts;
  nms_boxes columns;
  guint count;
  gint res;

  reserve (filter, boxes->len);
  count = choose (filter, boxes, rules, &unscored, &parts);

  *options = rules->core;
  options->outputs = NMS_OUTPUT_OUTCOME | (want_suppressors ? NMS_OUTPUT_SUPPRESSED_BY : 0);
  if (rules->options) {
    options->class_options = unscored ? rules->options->unscored : rules->options->options;
    options->class_option_count = rules->options->count;
  }
  if (unscored) {
    options->score_threshold = -INFINITY;
    options->score_strict = 0;
    if ((res = put_in_order (filter, boxes, rules, count, parts)) < 0)
      return res;
    count = (guint) res;
  }
  describe (filter, boxes, count, &columns, !unscored, parts);

  if (parts) {
    box_parents_begin (filter->parents, boxes);
    columns.exclude.data = filter->exclude;
    box_parents_exclude_first (filter->parents, boxes, filter->fed_at, filter->exclude, count);
  }
  do {
    if ((res = nms_run (filter->context, &columns, options, &result)) < 0)
      return res;
    take_outcomes (filter, boxes, count, &result);
  } while (parts && box_parents_again (filter->parents, boxes, filter->fed_at, filter->exclude));
  return 0;
}

const gchar *
box_filter_error (const BoxFilter * filter)
{
  return nms_context_error (filter->context);
}

gint
box_filter_engine (const BoxFilter * filter)
{
  return nms_context_engine (filter->context);
}

const gchar *
box_filter_cpu (const BoxFilter * filter)
{
  return nms_context_isa (filter->context);
}

const gchar *
box_filter_engine_in_use (BoxFilter * filter)
{
  return nms_context_engine_in_use (filter->context);
}

const gchar *
box_filter_engine_refusal (const BoxFilter * filter)
{
  return nms_context_engine_refusal (filter->context);
}
