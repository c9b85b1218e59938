/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxsuppress: runs nmscore on the boxes of a frame. Expects frames of 30 to 300 boxes,
 * for which it makes a few passes over small arrays that are kept from frame to frame.
 * Nothing grows faster than n log n, because a frame may have 100,000 boxes.
 *
 * When every box has a confidence, the columns go to the core as they were read. When
 * some have none, rank lower than their confidence says, or are of sources with different
 * priorities, the boxes are sorted into their final order here and go to the core without
 * scores, which then ranks them by their position.
 */
#include "boxsuppress.h"

#include <math.h>
#include <string.h>

#include "boxparents.h"
#include "unscoredorder.h"

#define COORDINATE_LIMIT 1e18f /* of the core: a box with a greater one is invalid */

struct _BoxSuppress
{
  nms_context *context; /* owned by the caller */
  nms_options options;  /* of this run */
  gboolean rotated;     /* a box of this run has a rotation */
  BoxParents *parents;

  guint capacity; /* elements of each array below */

  /* one element for each box */
  gint32 *class_of; /* class id; set only if some box has no confidence */
  gint32 *fed_at;   /* position among the fed boxes, or -1 */

  /* one element for each fed box: a box that goes to the core */
  guint32 *fed; /* index of the box */
  gfloat *rows; /* x1 y1 x2 y2 */
  gfloat *angle;
  gfloat *score;
  gint32 *class_id;
  gint32 *source; /* filled if the run has sources */
  gint32 *parent; /* position of its parent among the fed boxes, or -1 */
  guint8 *exclude;
  guint32 *neighbors;
  UnscoredOrderKey *keys;

  /* a hash table: the label ids of boxes without a label get the class ids -1, -2, ...
   * in order of appearance; slots of an older frame have another stamp */
  struct IdSlot
  {
    gint label_id;
    gint32 class_id;
    guint32 stamp;
  } * id_slots;
  guint id_slot_count; /* a power of 2, at least twice the capacity */
  guint32 stamp;
};

BoxSuppress *
box_suppress_new (nms_context *context)
{
  BoxSuppress *self = g_new0 (BoxSuppress, 1);

  self->context = context;
  self->parents = box_parents_new ();
  return self;
}

void
box_suppress_free (BoxSuppress *self)
{
  if (self == NULL)
    return;
  box_parents_free (self->parents);
  g_free (self->class_of);
  g_free (self->fed_at);
  g_free (self->fed);
  g_free (self->rows);
  g_free (self->angle);
  g_free (self->score);
  g_free (self->class_id);
  g_free (self->source);
  g_free (self->parent);
  g_free (self->exclude);
  g_free (self->neighbors);
  g_free (self->keys);
  g_free (self->id_slots);
  g_free (self);
}

static void
reserve (BoxSuppress *self, guint count)
{
  guint capacity = MAX (self->capacity, 64);

  if (count <= self->capacity)
    return;
  while (capacity < count)
    capacity *= 2;
  self->class_of = g_renew (gint32, self->class_of, capacity);
  self->fed_at = g_renew (gint32, self->fed_at, capacity);
  self->fed = g_renew (guint32, self->fed, capacity);
  self->rows = g_renew (gfloat, self->rows, (gsize) 4 * capacity);
  self->angle = g_renew (gfloat, self->angle, capacity);
  self->score = g_renew (gfloat, self->score, capacity);
  self->class_id = g_renew (gint32, self->class_id, capacity);
  self->source = g_renew (gint32, self->source, capacity);
  self->parent = g_renew (gint32, self->parent, capacity);
  self->exclude = g_renew (guint8, self->exclude, capacity);
  self->neighbors = g_renew (guint32, self->neighbors, capacity);
  self->keys = g_renew (UnscoredOrderKey, self->keys, capacity);
  self->capacity = capacity;
}

/* ------------------------------------------------------------------ classes */

static gint32
class_of_label_id (BoxSuppress *self, gint label_id, gint32 *last)
{
  guint slot = (guint) label_id * 2654435769u;
  guint mask;

  if (self->id_slot_count < 2 * self->capacity) {
    /* reserve () has just grown, so no id of this frame is in the table yet */
    self->id_slot_count = 2 * self->capacity;
    g_free (self->id_slots);
    self->id_slots = g_new0 (struct IdSlot, self->id_slot_count);
    self->stamp = 1;
  }
  mask = self->id_slot_count - 1;
  for (slot = (slot ^ slot >> 15) & mask; self->id_slots[slot].stamp == self->stamp;
       slot = (slot + 1) & mask)
    if (self->id_slots[slot].label_id == label_id)
      return self->id_slots[slot].class_id;
  self->id_slots[slot] = (struct IdSlot) { label_id, --*last, self->stamp };
  return *last;
}

static void
begin_label_ids (BoxSuppress *self)
{
  if (++self->stamp == 0 && self->id_slots) { /* once in 2^32 frames */
    memset (self->id_slots, 0, self->id_slot_count * sizeof *self->id_slots);
    self->stamp = 1;
  }
}

/* Returns the class id of a box. `last` is the class id that was given out last to the
 * label id of a box without a label. */
static inline gint32
class_of_box (BoxSuppress *self, const Box *box, gint32 *last)
{
  if (G_LIKELY (box->label != 0))
    return CLASS_ID_OF_LABEL (box->label);
  return box->flags & BOX_HAS_LABEL_ID ? class_of_label_id (self, box->label_id, last) : 0;
}

/* ------------------------------------------------------------------ columns */

static gboolean
is_valid (const Box *box)
{
  /* each comparison is false for NaN */
  return fabsf ((gfloat) box->x1) <= COORDINATE_LIMIT
      && fabsf ((gfloat) box->y1) <= COORDINATE_LIMIT
      && fabsf ((gfloat) box->x2) <= COORDINATE_LIMIT
      && fabsf ((gfloat) box->y2) <= COORDINATE_LIMIT && isfinite ((gfloat) box->rotation)
      && !((box->flags & BOX_HAS_CONFIDENCE) && isnan (box->confidence));
}

/* Writes box i at position k of the columns. */
static inline void
feed (BoxSuppress *self, const Box *box, guint32 i, gint32 class_id, guint k)
{
  gfloat *row = &self->rows[(gsize) 4 * k];

  self->fed[k] = i;
  row[0] = (gfloat) box->x1;
  row[1] = (gfloat) box->y1;
  row[2] = (gfloat) box->x2;
  row[3] = (gfloat) box->y2;
  self->score[k] = (gfloat) box->confidence;
  self->class_id[k] = class_id;
}

/* Writes the columns again, after fed[0..count) has changed. */
static void
feed_again (BoxSuppress *self, const GArray *boxes, guint count)
{
  guint k;

  for (k = 0; k < count; k++) {
    guint32 i = self->fed[k];
    feed (self, &g_array_index (boxes, Box, i), i, self->class_of[i], k);
  }
}

/* Sets up `columns` for the core: the first `count` elements of the arrays. */
static void
set_columns (BoxSuppress *self, const GArray *boxes, guint count, nms_boxes *columns,
    gboolean with_score, gboolean parts)
{
  guint i, k;

  *columns = (nms_boxes) { .size = sizeof *columns, .count = count };
  nms_boxes_set_rows (columns, self->rows);
  columns->class_id.data = self->class_id;
  if (self->rotated) {
    for (k = 0; k < count; k++)
      self->angle[k] = (gfloat) g_array_index (boxes, Box, self->fed[k]).rotation;
    columns->angle.data = self->angle;
  }
  if (with_score)
    columns->score.data = self->score;
  if (parts) {
    for (i = 0; i < boxes->len; i++)
      self->fed_at[i] = -1;
    for (k = 0; k < count; k++)
      self->fed_at[self->fed[k]] = (gint32) k;
    for (k = 0; k < count; k++) {
      gint parent = g_array_index (boxes, Box, self->fed[k]).parent;
      self->parent[k] = parent >= 0 ? self->fed_at[parent] : -1;
    }
    columns->parent.data = self->parent;
  }
}

static void
set_sources (BoxSuppress *self, const GArray *boxes, const SourceOptions *sources,
    nms_boxes *columns)
{
  guint k;

  for (k = 0; k < columns->count; k++)
    self->source[k] = source_options_find (sources,
        g_array_index (boxes, Box, self->fed[k]).source);
  columns->source.data = self->source;
  self->options.source_weights = sources->weights;
  self->options.source_count = sources->count;
}

/* ------------------------------------------------ boxes that are sorted here */

/* Sorts the fed boxes into their final order. `unscored` says whether any box has no
 * confidence. Before that it decides the boxes that do not go to the core: invalid ones,
 * those below their score threshold, those with too few neighbors and, with
 * `drop_unscored`, those without a confidence. Returns the number of boxes left in fed[],
 * or an error. */
static gint
order_boxes (BoxSuppress *self, GArray *boxes, const BoxSuppressRules *rules, guint count,
    gboolean parts, gboolean unscored, gboolean drop_unscored)
{
  const Box *all = (const Box *) boxes->data;
  const gboolean by_neighbors = rules->unscored_order == UNSCORED_ORDER_NEIGHBORS;
  const gboolean neighbors = unscored && !drop_unscored
      && (by_neighbors || rules->min_neighbors > 0);
  guint k, kept;
  gint res;

  for (k = 0; k < count; k++)
    self->class_of[self->fed[k]] = self->class_id[k];
  for (k = kept = 0; k < count; k++) {
    guint32 i = self->fed[k];
    Box *box = &g_array_index (boxes, Box, i);
    gfloat least = rules->core.score_threshold;

    if (!is_valid (box)) {
      box->state = BOX_STATE_INVALID;
      continue;
    }
    if (box->flags & BOX_HAS_CONFIDENCE) {
      least = class_options_score_threshold (rules->options, self->class_of[i], least);
      if ((gfloat) box->confidence < least) {
        box->state = BOX_STATE_BELOW_SCORE;
        continue;
      }
    } else if (drop_unscored) {
      box->state = BOX_STATE_NO_SCORE;
      continue;
    }
    self->fed[kept++] = i;
  }
  count = kept;

  if (neighbors) {
    nms_options counting = self->options;
    nms_boxes columns;

    counting.max_candidates = 0; /* because neighbors decide which boxes are best */
    counting.method = NMS_METHOD_HARD;
    counting.metric = NMS_METRIC_IOU;
    counting.outputs = 0;
    feed_again (self, boxes, count);
    set_columns (self, boxes, count, &columns, FALSE, parts);
    if ((res = nms_count_neighbors (self->context, &columns, &counting, self->neighbors)) < 0)
      return res;
  }

  for (k = kept = 0; k < count; k++) {
    Box *box = &g_array_index (boxes, Box, self->fed[k]);
    UnscoredOrderKey *key = &self->keys[kept];

    *key = (UnscoredOrderKey) { 0, self->fed[k],
      unscored_order_group (box->flags & BOX_RANKS_LOWER,
          source_options_priority (rules->sources, box)) };
    if (box->flags & BOX_HAS_CONFIDENCE) {
      key->value = (gfloat) box->confidence;
    } else if (rules->min_neighbors > 0 && self->neighbors[k] < rules->min_neighbors) {
      box->state = BOX_STATE_TOO_FEW_NEIGHBORS;
      continue;
    } else {
      key->group |= UNSCORED_ORDER_NO_SCORE;
      if (by_neighbors)
        key->value = self->neighbors[k];
      else if (rules->unscored_order == UNSCORED_ORDER_AREA)
        key->value = fabs (box->x2 - box->x1) * fabs (box->y2 - box->y1);
      else
        key->value = -(gdouble) key->index;
    }
    kept++;
  }
  unscored_order_sort (self->keys, kept, all);
  for (k = 0; k < kept; k++)
    self->fed[k] = self->keys[k].index;
  feed_again (self, boxes, kept);
  return (gint) kept;
}

/* ------------------------------------------------------------------ the run */

typedef struct
{
  guint count;        /* boxes that take part */
  guint lower_ranked; /* of these, those with BOX_RANKS_LOWER */
  gboolean unscored;  /* a box has no confidence */
  gboolean scored;    /* a box has a confidence */
  gboolean parts;     /* a box is a part of another */
} Taken;

/* Writes the boxes that take part into the columns. Decides those that `prefilter` (NULL:
 * none) or the threshold of their source drops, and those that are dropped for the lack of a
 * confidence. Cut boxes rank lower. */
static Taken
take_boxes (BoxSuppress *self, GArray *boxes, const BoxSuppressRules *rules,
    const PrefilterFrame *prefilter)
{
  const gboolean needs_scores = box_suppress_needs_scores ((nms_method) rules->core.method);
  const ClassSelection *selection = rules->selection;
  const guint len = boxes->len;
  Box *box = (Box *) boxes->data;
  gboolean any_part = FALSE, rotated = FALSE;
  Taken taken = { 0 };
  gint32 last = 0;
  guint i, count = 0;

  begin_label_ids (self);
  for (i = 0; i < len; i++, box++) {
    box->state = BOX_STATE_KEPT;
    box->suppressed_by = -1;
    any_part |= box->parent >= 0;
    rotated |= box->rotation != 0;
    if (G_UNLIKELY (selection != NULL) && !class_selection_has (selection, box->label)) {
      box->state = BOX_STATE_NONE;
      continue;
    }
    if (G_UNLIKELY (prefilter != NULL) && is_valid (box)) {
      box->state = prefilter_check (prefilter, box);
      if (box->state != BOX_STATE_KEPT)
        continue;
    }
    if (G_UNLIKELY (rules->sources != NULL) && is_valid (box)
        && source_options_drop (rules->sources, box)) {
      box->state = BOX_STATE_BELOW_SCORE;
      continue;
    }
    if (G_UNLIKELY (box->flags & BOX_CUT) && !needs_scores)
      box->flags |= BOX_RANKS_LOWER;
    if (G_UNLIKELY (!(box->flags & BOX_HAS_CONFIDENCE))) {
      if (rules->unscored_order == UNSCORED_ORDER_DROP) {
        box->state = is_valid (box) ? BOX_STATE_NO_SCORE : BOX_STATE_INVALID;
        continue;
      }
      taken.unscored = TRUE;
    } else {
      taken.scored = TRUE;
    }
    if (G_UNLIKELY (box->flags & BOX_RANKS_LOWER))
      taken.lower_ranked++;
    feed (self, box, i, class_of_box (self, box, &last), count++);
  }
  taken.count = count;
  taken.parts = any_part;
  self->rotated = rotated;
  return taken;
}

static void
take_outcomes (BoxSuppress *self, GArray *boxes, guint count, const nms_result *result)
{
  static const guint8 states[] = {
    [NMS_OUTCOME_KEPT] = BOX_STATE_KEPT,
    [NMS_OUTCOME_SUPPRESSED] = BOX_STATE_SUPPRESSED,
    [NMS_OUTCOME_OVER_CAP] = BOX_STATE_OVER_CAP,
    [NMS_OUTCOME_FILTERED] = BOX_STATE_BELOW_SCORE,
    [NMS_OUTCOME_INVALID] = BOX_STATE_INVALID,
    [NMS_OUTCOME_NOT_CANDIDATE] = BOX_STATE_NOT_CANDIDATE,
  };
  guint k;

  for (k = 0; k < count; k++) {
    Box *box = &g_array_index (boxes, Box, self->fed[k]);

    box->state = (BoxState) states[result->outcome[k]];
    if (result->suppressed_by)
      box->suppressed_by = result->suppressed_by[k] < 0
          ? -1
          : (gint) self->fed[result->suppressed_by[k]];
  }
}

/* The outputs of the core that change kept boxes, by method. */
static guint
changed_outputs (nms_method method)
{
  switch (method) {
    case NMS_METHOD_HARD:
      return 0;
    case NMS_METHOD_MERGE:
    case NMS_METHOD_GREEDY_MERGE:
    case NMS_METHOD_AVERAGE:
      return NMS_OUTPUT_BOX;
    case NMS_METHOD_WEIGHTED:
      return NMS_OUTPUT_BOX | NMS_OUTPUT_SCORE;
    default:
      return NMS_OUTPUT_SCORE;
  }
}

/* Moves a box from `row`, as it was fed, to `corners`. */
static void
take_corners (Box *box, const gfloat *row, const gfloat *corners)
{
  if (corners[0] == MIN (row[0], row[2]) && corners[1] == MIN (row[1], row[3])
      && corners[2] == MAX (row[0], row[2]) && corners[3] == MAX (row[1], row[3]))
    return;
  box->x1 = corners[0];
  box->y1 = corners[1];
  box->x2 = corners[2];
  box->y2 = corners[3];
  box->rotation = 0;
  box->flags |= BOX_MOVED;
}

/* Writes the places and scores that the method gave to the kept boxes, and returns the number of
 * boxes that it changed. */
static guint
take_changes (const BoxSuppress *self, GArray *boxes, const nms_result *result)
{
  guint k, changed = 0;

  for (k = 0; k < result->kept_count; k++) {
    const gint32 at = result->kept[k];
    Box *box = &g_array_index (boxes, Box, self->fed[at]);

    if (result->kept_box)
      take_corners (box, &self->rows[(gsize) 4 * at], &result->kept_box[(gsize) 4 * k]);
    if (result->kept_score && (box->flags & BOX_HAS_CONFIDENCE)
        && result->kept_score[k] != (gfloat) box->confidence) {
      box->confidence = result->kept_score[k];
      box->flags |= BOX_RESCORED;
    }
    changed += (box->flags & (BOX_MOVED | BOX_RESCORED)) != 0;
  }
  return changed;
}

static void
count_states (const GArray *boxes, BoxSuppressCounts *counts)
{
  guint i, decided = 0, dropped = 0;

  for (i = 0; i < boxes->len; i++) {
    const BoxState state = g_array_index (boxes, Box, i).state;

    decided += state != BOX_STATE_NONE;
    dropped += box_state_is_drop (state);
  }
  counts->decided = decided;
  counts->dropped = dropped;
}

void
box_suppress_rules_clear (BoxSuppressRules *rules)
{
  class_options_unref (rules->options);
  class_selection_unref (rules->selection);
  source_options_unref (rules->sources);
  if (rules->has_prefilter)
    prefilter_clear (&rules->prefilter);
}

gboolean
box_suppress_needs_scores (nms_method method)
{
  return method != NMS_METHOD_HARD && method != NMS_METHOD_MERGE
      && method != NMS_METHOD_GREEDY_MERGE;
}

gint
box_suppress_run (BoxSuppress *self, GArray *boxes, const BoxSuppressRules *rules,
    gboolean want_suppressors, BoxSuppressCounts *counts)
{
  nms_result result = { .size = sizeof result };
  nms_options *options = &self->options;
  PrefilterFrame prefilter;
  const nms_method method = (nms_method) rules->core.method;
  const gboolean needs_scores = box_suppress_needs_scores (method);
  nms_boxes columns;
  gboolean sorted;
  Taken taken;
  guint k;
  gint res;

  reserve (self, boxes->len);
  if (rules->has_prefilter)
    prefilter_begin (&prefilter, &rules->prefilter, rules->options, rules->width, rules->height);
  taken = take_boxes (self, boxes, rules, rules->has_prefilter ? &prefilter : NULL);
  sorted = taken.unscored || taken.lower_ranked > 0
      || (rules->sources && rules->sources->has_priorities);

  *options = rules->core;
  options->outputs = NMS_OUTPUT_OUTCOME | (want_suppressors ? NMS_OUTPUT_SUPPRESSED_BY : 0)
      | changed_outputs (method);
  if (rules->options) {
    options->class_options = sorted ? rules->options->unscored : rules->options->options;
    options->class_option_count = rules->options->count;
  }
  if (sorted) {
    options->score_threshold = -INFINITY;
    options->score_strict = 0;
    if ((res = order_boxes (self, boxes, rules, taken.count, taken.parts, taken.unscored,
             needs_scores && taken.scored))
        < 0)
      return res;
    taken.count = (guint) res;
    for (k = 0; !taken.scored && k < taken.count; k++)
      self->score[k] = 1;
  }
  set_columns (self, boxes, taken.count, &columns, !sorted || needs_scores, taken.parts);
  if (rules->sources && method == NMS_METHOD_WEIGHTED)
    set_sources (self, boxes, rules->sources, &columns);

  if (taken.parts) {
    box_parents_begin (self->parents, boxes);
    columns.exclude.data = self->exclude;
    box_parents_exclude_first (self->parents, boxes, self->fed_at, self->exclude, taken.count);
  }
  do {
    if ((res = nms_run (self->context, &columns, options, &result)) < 0)
      return res;
    take_outcomes (self, boxes, taken.count, &result);
  } while (taken.parts && box_parents_again (self->parents, boxes, self->fed_at, self->exclude));
  count_states (boxes, counts);
  counts->lower_ranked = taken.lower_ranked;
  counts->rewritten = changed_outputs (method) ? take_changes (self, boxes, &result) : 0;
  return 0;
}
