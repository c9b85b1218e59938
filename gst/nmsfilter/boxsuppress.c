/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxsuppress: runs nmscore on the boxes of a frame. Expects frames of 30 to 300 boxes,
 * for which it makes a few passes over small arrays that are kept from frame to frame.
 * Nothing grows faster than n log n, because a frame may have 100,000 boxes.
 *
 * Each box that takes part has one key. drop_boxes writes the keys, rank_boxes sorts them, and
 * feed_boxes writes the columns of the core in their order. Most frames are not ranked here,
 * because each of their boxes has a confidence: the core ranks by it. When some boxes have none,
 * rank lower than their confidence says, or are of sources or classes with different ranks, they
 * go to the core in their final order and without scores, because the core then ranks them by
 * their position.
 */
#include "boxsuppress.h"

#include <math.h>
#include <string.h>

#include "boxparents.h"
#include "classlist.h"

#define COORDINATE_LIMIT 1e18f /* the core's limit: a box with a larger coordinate is invalid */

/* A box that takes part. */
typedef struct
{
  guint32 index; /* index of the box */
  gint32 class_id;
  /* only in ranked frames: */
  guint32 group; /* the lowest comes first, see group_of */
  gdouble value; /* confidence, neighbors or area; the highest comes first */
} BoxKey;

/* The bit of a group whose boxes have no confidence. */
#define GROUP_NO_SCORE 1u

/* What is known of the frame after drop_boxes. */
typedef struct
{
  guint count;        /* boxes that take part: elements of `keys` */
  guint lower_ranked; /* how many of these rank below all others because of BOX_CUT */
  guint cut;          /* the flag of boxes that rank below all others: BOX_CUT or 0 */
  gboolean unscored;  /* a box has no confidence */
  gboolean scored;    /* a box has a confidence */
  gboolean parts;     /* a box is a part of another */
  gboolean rotated;   /* a box is rotated */
  gboolean ranked;    /* rank_boxes is needed */
} Frame;

struct _BoxSuppress
{
  nms_context *context; /* owned by the caller */
  BoxParents *parents;
  gboolean has_added; /* the context has an added engine */

  guint capacity; /* elements of each array below */
  BoxKey *keys;
  gint32 *fed_at; /* for each box: its position among the keys, or -1; unused if no box is a part */

  /* columns of the core, one element for each key */
  gfloat *rows; /* x1 y1 x2 y2 */
  gfloat *angle;
  gfloat *score;
  gint32 *class_id;
  gint32 *source; /* filled if the run has sources */
  gint32 *parent; /* position of its parent among the keys, or -1 */
  guint8 *exclude;
  guint32 *neighbors;

  /* The label ids of boxes without a label get the class ids -1, -2, ... in order of appearance in
   * the frame. */
  GHashTable *id_classes;
};

BoxSuppress *
box_suppress_new (nms_context *context)
{
  BoxSuppress *self = g_new0 (BoxSuppress, 1);

  self->context = context;
  self->parents = box_parents_new ();
  self->id_classes = g_hash_table_new (NULL, NULL);
  return self;
}

void
box_suppress_free (BoxSuppress *self)
{
  if (self == NULL)
    return;
  box_parents_free (self->parents);
  g_free (self->fed_at);
  g_free (self->rows);
  g_free (self->angle);
  g_free (self->score);
  g_free (self->class_id);
  g_free (self->source);
  g_free (self->parent);
  g_free (self->exclude);
  g_free (self->neighbors);
  g_free (self->keys);
  g_hash_table_unref (self->id_classes);
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
  self->fed_at = g_renew (gint32, self->fed_at, capacity);
  self->rows = g_renew (gfloat, self->rows, (gsize) 4 * capacity);
  self->angle = g_renew (gfloat, self->angle, capacity);
  self->score = g_renew (gfloat, self->score, capacity);
  self->class_id = g_renew (gint32, self->class_id, capacity);
  self->source = g_renew (gint32, self->source, capacity);
  self->parent = g_renew (gint32, self->parent, capacity);
  self->exclude = g_renew (guint8, self->exclude, capacity);
  self->neighbors = g_renew (guint32, self->neighbors, capacity);
  self->keys = g_renew (BoxKey, self->keys, capacity);
  self->capacity = capacity;
}

/* ------------------------------------------------------------------ classes */

static gint32
class_of_label_id (GHashTable *id_classes, gint label_id)
{
  gpointer class_id = g_hash_table_lookup (id_classes, GINT_TO_POINTER (label_id));

  if (class_id == NULL) {
    class_id = GINT_TO_POINTER (-1 - (gint) g_hash_table_size (id_classes));
    g_hash_table_insert (id_classes, GINT_TO_POINTER (label_id), class_id);
  }
  return GPOINTER_TO_INT (class_id);
}

/* Returns the class id of a box. */
static inline gint32
class_of_box (BoxSuppress *self, const Box *box)
{
  if (G_LIKELY (box->label != 0))
    return CLASS_ID_OF_LABEL (box->label);
  return box->flags & BOX_HAS_LABEL_ID ? class_of_label_id (self->id_classes, box->label_id) : 0;
}

/* --------------------------------------------------------------------- drop */

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

static const SourceOption *
source_of (const BoxSuppressRules *rules, const Box *box)
{
  return &g_array_index (rules->sources, SourceOption,
      source_options_find (rules->sources, box->source));
}

/* Returns the state of a box that a rule other than its confidence drops, or BOX_STATE_KEPT. */
static BoxState
state_before (const Box *box, const BoxSuppressRules *rules, const BoxSelectFrame *select)
{
  BoxState state = BOX_STATE_KEPT;

  if (box_select_is_state (box->state)
      || (rules->selection && !class_selection_has (rules->selection, box->label)))
    return BOX_STATE_NONE;
  if (select && is_valid (box))
    state = box_select_check (select, box);
  if (rules->has_score_thresholds && state == BOX_STATE_KEPT && is_valid (box)
      && (box->flags & BOX_HAS_CONFIDENCE)
      && (gfloat) box->confidence < source_of (rules, box)->score_threshold)
    state = BOX_STATE_BELOW_SCORE;
  if (rules->unscored_order == UNSCORED_ORDER_DROP && state == BOX_STATE_KEPT
      && !(box->flags & BOX_HAS_CONFIDENCE))
    state = is_valid (box) ? BOX_STATE_NO_SCORE : BOX_STATE_INVALID;
  return state;
}

/* Decides, in a ranked frame, the boxes that the core would drop in other frames: invalid ones and
 * those below their score threshold. With a method that computes with scores, also those without a
 * confidence if another box has one. */
static void
drop_before_ranking (BoxSuppress *self, GArray *boxes, const BoxSuppressRules *rules, Frame *frame)
{
  const gboolean drop_unscored = frame->scored
      && box_suppress_needs_scores ((nms_method) rules->core.method);
  guint k, kept = 0;

  for (k = 0; k < frame->count; k++) {
    const BoxKey key = self->keys[k];
    Box *box = &g_array_index (boxes, Box, key.index);
    const gboolean scored = (box->flags & BOX_HAS_CONFIDENCE) != 0;

    if (!is_valid (box))
      box->state = BOX_STATE_INVALID;
    else if (scored
        && (gfloat) box->confidence < class_options_score_threshold (rules->options, key.class_id,
               rules->core.score_threshold))
      box->state = BOX_STATE_BELOW_SCORE;
    else if (!scored && drop_unscored)
      box->state = BOX_STATE_NO_SCORE;
    else
      self->keys[kept++] = key;
  }
  frame->count = kept;
}

/* Decides the boxes that do not go to the core, and writes a key for each of the others. */
static Frame
drop_boxes (BoxSuppress *self, GArray *boxes, const BoxSuppressRules *rules,
    const BoxSelectFrame *select)
{
  const gboolean needs_scores = box_suppress_needs_scores ((nms_method) rules->core.method);
  const gboolean any_rule = rules->selection || select || rules->has_score_thresholds
      || rules->unscored_order == UNSCORED_ORDER_DROP;
  Box *box = (Box *) boxes->data;
  const guint len = boxes->len;
  guint any = 0, every = G_MAXUINT; /* the flags of the boxes that take part */
  BoxKey *key = self->keys;
  Frame frame = { .cut = needs_scores ? 0 : BOX_CUT };

  if (g_hash_table_size (self->id_classes) > 0) /* emptying an empty table takes time, too */
    g_hash_table_remove_all (self->id_classes);
  for (guint i = 0; i < len; i++, box++) {
    box->suppressed_by = -1;
    frame.parts |= box->parent >= 0;
    frame.rotated |= box->rotation != 0;
    if (G_UNLIKELY (any_rule || box_select_is_state (box->state))) {
      box->state = state_before (box, rules, select);
      if (box->state != BOX_STATE_KEPT)
        continue;
    }
    box->state = BOX_STATE_KEPT;
    any |= box->flags;
    every &= box->flags;
    key->index = i;
    key->class_id = class_of_box (self, box);
    key++;
  }
  frame.count = (guint) (key - self->keys);
  frame.scored = frame.count > 0 && (any & BOX_HAS_CONFIDENCE);
  frame.unscored = frame.count > 0 && !(every & BOX_HAS_CONFIDENCE);
  for (guint k = 0; (any & frame.cut) && k < frame.count; k++)
    frame.lower_ranked += (g_array_index (boxes, Box, self->keys[k].index).flags & frame.cut) != 0;
  frame.ranked = frame.unscored || frame.lower_ranked > 0 || rules->has_priorities
      || rules->class_ranks;
  if (frame.ranked)
    drop_before_ranking (self, boxes, rules, &frame);
  return frame;
}

/* --------------------------------------------------------------------- feed */

/* Writes the positions of the parents. */
static void
feed_parents (BoxSuppress *self, const GArray *boxes, guint count)
{
  for (guint i = 0; i < boxes->len; i++)
    self->fed_at[i] = -1;
  for (guint k = 0; k < count; k++)
    self->fed_at[self->keys[k].index] = (gint32) k;
  for (guint k = 0; k < count; k++) {
    const gint parent = g_array_index (boxes, Box, self->keys[k].index).parent;

    self->parent[k] = parent >= 0 ? self->fed_at[parent] : -1;
  }
}

/* Writes the columns of the core in the order of the keys. */
static void
feed_boxes (BoxSuppress *self, const GArray *boxes, const Frame *frame, nms_boxes *columns)
{
  const ptrdiff_t stride = 4 * sizeof (gfloat);
  gfloat *row = self->rows;

  for (guint k = 0; k < frame->count; k++, row += 4) {
    const BoxKey *key = &self->keys[k];
    const Box *box = &g_array_index (boxes, Box, key->index);

    row[0] = (gfloat) box->x1;
    row[1] = (gfloat) box->y1;
    row[2] = (gfloat) box->x2;
    row[3] = (gfloat) box->y2;
    self->score[k] = (gfloat) box->confidence;
    self->class_id[k] = key->class_id;
  }
  *columns = (nms_boxes) {
    .size = sizeof *columns,
    .count = frame->count,
    .x1 = { self->rows, stride },
    .y1 = { self->rows + 1, stride },
    .x2 = { self->rows + 2, stride },
    .y2 = { self->rows + 3, stride },
    .class_id = { self->class_id, 0 },
  };
  if (frame->rotated) {
    for (guint k = 0; k < frame->count; k++)
      self->angle[k] = (gfloat) g_array_index (boxes, Box, self->keys[k].index).rotation;
    columns->angle.data = self->angle;
  }
  if (frame->parts) {
    feed_parents (self, boxes, frame->count);
    columns->parent.data = self->parent;
  }
}

static void
feed_sources (BoxSuppress *self, const GArray *boxes, const GArray *sources, nms_boxes *columns)
{
  for (guint k = 0; k < columns->count; k++)
    self->source[k] = (gint32) source_options_find (sources,
        g_array_index (boxes, Box, self->keys[k].index).source);
  columns->source.data = self->source;
}

/* --------------------------------------------------------------------- rank */

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Compares two keys, the better one first. Every tie is broken, so the result does not depend on
 * the algorithm. Boxes without a confidence and with equal values are compared by geometry,
 * because cascade detectors report the same boxes in another order from run to run. */
static gint
compare_keys (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const BoxKey *left = a, *right = b;
  const Box *boxes = user_data;
  gint order = COMPARE (left->group, right->group);

  if (order == 0)
    order = COMPARE (right->value, left->value);
  if (order == 0 && (left->group & GROUP_NO_SCORE)) {
    const Box *l = &boxes[left->index], *r = &boxes[right->index];

    order = COMPARE (l->x1, r->x1);
    if (order == 0)
      order = COMPARE (l->y1, r->y1);
    if (order == 0)
      order = COMPARE (l->x2, r->x2); /* the width, as x1 is equal */
    if (order == 0)
      order = COMPARE (l->y2, r->y2);
  }
  return order ? order : COMPARE (left->index, right->index);
}

/* Returns the group of a box: cut boxes after all others, then by the priority of the source, then
 * by the rank of the class, then boxes without a confidence after those with one. */
static guint32
group_of (const Box *box, const BoxSuppressRules *rules, guint cut)
{
  const gint priority = rules->has_priorities ? source_of (rules, box)->priority : 0;
  const ClassGroup *class = rules->class_ranks ? class_list_find (rules->class_ranks, box->label)
                                               : NULL;

  G_STATIC_ASSERT (2 * SOURCE_OPTIONS_MOST_PRIORITY < 1 << 11);
  G_STATIC_ASSERT (CLASS_GROUPS_MOST_RANKS < 1 << 19);
  return (guint32) ((box->flags & cut) != 0) << 31
      | (guint32) (SOURCE_OPTIONS_MOST_PRIORITY - priority) << 20
      | (guint32) (class ? class->rank : 0) << 1
      | (box->flags & BOX_HAS_CONFIDENCE ? 0 : GROUP_NO_SCORE);
}

/* Returns the value by which boxes of one group are ranked. */
static gdouble
value_of (const Box *box, UnscoredOrder order, guint index, guint neighbors)
{
  if (box->flags & BOX_HAS_CONFIDENCE)
    return (gfloat) box->confidence;
  if (order == UNSCORED_ORDER_NEIGHBORS)
    return neighbors;
  if (order == UNSCORED_ORDER_AREA)
    return fabs (box->x2 - box->x1) * fabs (box->y2 - box->y1);
  return -(gdouble) index;
}

static gint
count_neighbors (BoxSuppress *self, const GArray *boxes, const nms_options *options,
    const Frame *frame)
{
  nms_options counting = *options;
  nms_boxes columns;

  counting.max_candidates = 0; /* because neighbors decide which boxes are best */
  counting.method = NMS_METHOD_HARD;
  counting.metric = NMS_METRIC_IOU;
  counting.outputs = 0;
  feed_boxes (self, boxes, frame, &columns);
  return nms_count_neighbors (self->context, &columns, &counting, self->neighbors);
}

/* Sorts the keys of a ranked frame, the best one first. Drops boxes without a confidence that have
 * too few neighbors. Returns 0 or an error. */
static gint
rank_boxes (BoxSuppress *self, GArray *boxes, const BoxSuppressRules *rules,
    const nms_options *options, Frame *frame)
{
  const UnscoredOrder order = rules->unscored_order;
  const gboolean dropped = frame->scored
      && box_suppress_needs_scores ((nms_method) rules->core.method);
  const gboolean counted = frame->unscored && !dropped
      && (order == UNSCORED_ORDER_NEIGHBORS || rules->min_neighbors > 0);
  guint k, kept = 0;
  gint res;

  if (counted && (res = count_neighbors (self, boxes, options, frame)) < 0)
    return res;
  for (k = 0; k < frame->count; k++) {
    BoxKey key = self->keys[k];
    Box *box = &g_array_index (boxes, Box, key.index);
    const guint neighbors = counted ? self->neighbors[k] : 0;

    if (!(box->flags & BOX_HAS_CONFIDENCE) && neighbors < rules->min_neighbors) {
      box->state = BOX_STATE_TOO_FEW_NEIGHBORS;
      continue;
    }
    key.group = group_of (box, rules, frame->cut);
    key.value = value_of (box, order, key.index, neighbors);
    self->keys[kept++] = key;
  }
  frame->count = kept;
  g_qsort_with_data (self->keys, (gint) kept, sizeof *self->keys, compare_keys, boxes->data);
  return 0;
}

/* ------------------------------------------------------------------ the run */

/* Writes the states of all boxes except those that were excluded from the run. */
static void
take_outcomes (BoxSuppress *self, GArray *boxes, guint count, const nms_result *result,
    const guint8 *exclude)
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
    Box *box = &g_array_index (boxes, Box, self->keys[k].index);

    if (exclude && exclude[k] && result->outcome[k] != NMS_OUTCOME_INVALID)
      continue;
    box->state = (BoxState) states[result->outcome[k]];
    if (result->suppressed_by)
      box->suppressed_by = result->suppressed_by[k] < 0
          ? -1
          : (gint) self->keys[result->suppressed_by[k]].index;
  }
}

/* Counts the boxes that a box of another class suppressed. A part that is dropped with its parent
 * has no suppressor of its own: the classes of the parent and its suppressor are compared. */
static guint
count_other_class (BoxSuppress *self, const GArray *boxes)
{
  const Box *all = (const Box *) boxes->data;
  guint count = 0;

  for (guint i = 0; i < boxes->len; i++) {
    const Box *box = &all[i];

    if (box->state != BOX_STATE_SUPPRESSED || box->suppressed_by < 0)
      continue;
    while (box->parent >= 0 && all[box->parent].state == BOX_STATE_SUPPRESSED
        && all[box->parent].suppressed_by == box->suppressed_by)
      box = &all[box->parent];
    count += class_of_box (self, box) != class_of_box (self, &all[box->suppressed_by]);
  }
  return count;
}

/* Returns the outputs of the core that change kept boxes. */
static guint
changed_outputs (nms_method method)
{
#define CHANGES(constant, number, family, by_score, changes, name, text) [number] = changes,
  static const guint8 changed[] = { NMS_METHOD_LIST (CHANGES) };

  return changed[method];
}

/* Moves a box from `row`, as it was fed, to `corners`. Its rotation stays. */
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
    Box *box = &g_array_index (boxes, Box, self->keys[at].index);

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
rules_clear (gpointer data)
{
  BoxSuppressRules *rules = data;

  g_clear_pointer (&rules->options, g_array_unref);
  g_clear_pointer (&rules->unscored, g_array_unref);
  g_clear_pointer (&rules->class_ranks, g_array_unref);
  g_clear_pointer (&rules->selection, g_array_unref);
  g_clear_pointer (&rules->sources, g_array_unref);
  g_clear_pointer (&rules->weights, g_array_unref);
}

void
box_suppress_rules_unref (BoxSuppressRules *rules)
{
  g_atomic_rc_box_release_full (rules, rules_clear);
}

void
box_suppress_use_added (BoxSuppress *self)
{
  self->has_added = TRUE;
}

gboolean
box_suppress_needs_scores (nms_method method)
{
#define BY_SCORE(constant, number, family, by_score, changes, name, text) [number] = by_score,
  static const guint8 needs[] = { NMS_METHOD_LIST (BY_SCORE) };

  return needs[method];
}

/* Fills in the options of nms_run. */
static void
set_options (const BoxSuppress *self, const BoxSuppressRules *rules, const Frame *frame,
    gboolean want_suppressors, nms_options *options)
{
  *options = rules->core;
  if (rules->added_engine && self->has_added)
    options->engine = NMS_ENGINE_ADDED;
  options->outputs = NMS_OUTPUT_OUTCOME | (want_suppressors ? NMS_OUTPUT_SUPPRESSED_BY : 0)
      | changed_outputs ((nms_method) rules->core.method);
  if (frame->ranked) { /* drop_before_ranking has applied the score thresholds */
    if (rules->unscored)
      options->class_options = (const nms_class_options *) rules->unscored->data;
    options->score_threshold = -INFINITY;
    options->score_strict = 0;
  }
}

/* Runs a frame in which a box is a part of another. Runs it a second time if the first pass dropped
 * parents of boxes that took part. */
static gint
run_with_parts (BoxSuppress *self, GArray *boxes, nms_boxes *columns, const nms_options *options,
    nms_result *result)
{
  const guint count = (guint) columns->count;
  gboolean again;
  gint res;

  columns->exclude.data = self->exclude;
  memset (self->exclude, 0, count);
  box_parents_begin (self->parents, boxes);
  box_parents_exclude (self->parents, boxes, self->fed_at, self->exclude);
  if ((res = nms_run (self->context, columns, options, result)) < 0)
    return res;
  take_outcomes (self, boxes, count, result, self->exclude);
  again = box_parents_exclude (self->parents, boxes, self->fed_at, self->exclude);
  if (again && (res = nms_run (self->context, columns, options, result)) < 0)
    return res;
  if (again)
    take_outcomes (self, boxes, count, result, self->exclude);
  box_parents_end (self->parents, boxes, self->fed_at, self->exclude);
  return 0;
}

gint
box_suppress_run (BoxSuppress *self, GArray *boxes, const BoxSuppressRules *rules,
    const BoxSelectFrame *select, gboolean want_suppressors, BoxCounts *counts)
{
  const nms_method method = (nms_method) rules->core.method;
  nms_result result = { .size = sizeof result };
  nms_options options;
  nms_boxes columns;
  Frame frame;
  gint res;

  reserve (self, boxes->len);
  frame = drop_boxes (self, boxes, rules, select);
  set_options (self, rules, &frame, want_suppressors || rules->crosses_classes, &options);
  if (frame.ranked && (res = rank_boxes (self, boxes, rules, &options, &frame)) < 0)
    return res;
  feed_boxes (self, boxes, &frame, &columns);
  if (!frame.ranked || box_suppress_needs_scores (method))
    columns.score.data = self->score;
  for (guint k = 0; !frame.scored && k < frame.count; k++)
    self->score[k] = 1;
  if (rules->weights)
    feed_sources (self, boxes, rules->sources, &columns);

  if (frame.parts) {
    res = run_with_parts (self, boxes, &columns, &options, &result);
  } else {
    res = nms_run (self->context, &columns, &options, &result);
    if (res == 0)
      take_outcomes (self, boxes, frame.count, &result, NULL);
  }
  if (res < 0)
    return res;
  *counts = box_counts_of (boxes);
  counts->lower_ranked = frame.lower_ranked;
  if (rules->crosses_classes && counts->by_state[BOX_STATE_SUPPRESSED] > 0)
    counts->by_other_class = count_other_class (self, boxes);
  counts->rewritten = changed_outputs (method) ? take_changes (self, boxes, &result) : 0;
  return 0;
}
