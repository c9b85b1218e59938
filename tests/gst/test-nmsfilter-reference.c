/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter, compared with its definition on random frames with random settings: the state of each
 * box and the box that suppresses it. The numbers that are read from metadata, the ranks of the
 * boxes and what becomes of parts are computed here from docs/nmsfilter.md, without code of the
 * plugin. The reference of the core then decides the boxes.
 */
#include "gstrunner.h"
#include "reference.h"

#include <math.h>
#include <stdlib.h>

#define MOST 300 /* boxes in a frame */
#define LABELS 6
static const gchar *const labels[LABELS] = { "person", "traffic light", "car", "bus", "dog", "" };

/* A way to group the classes. `group` and `rank` are those of each label. Those from the third on
 * have ranks. */
static const struct
{
  const gchar *text;
  gint group[LABELS], rank[LABELS];
} groupings[] = {
  { NULL, { 0, 1, 2, 3, 4, 5 }, { 0 } },
  { "person,traffic light;car,bus", { 0, 0, 2, 2, 4, 5 }, { 0 } },
  { "dog>person", { 0, 1, 2, 3, 0, 5 }, { 1 } },
  { "bus>traffic light,car;person>dog", { 0, 1, 1, 1, 0, 5 }, { 0, 1, 1, 0, 1, 0 } },
  { "dog>bus>car>traffic light>person", { 0, 0, 0, 0, 0, 5 }, { 4, 3, 2, 1, 0, 0 } },
};

/* What applies to boxes of the source left. Those from the second on have priorities. */
static const struct
{
  const gchar *text;
  gint priority;
  gfloat least; /* score */
} lefts[] = {
  { NULL, 0, -INFINITY },
  { "main,left:priority=1", 1, -INFINITY },
  { "main,left:priority=-1:score-threshold=0.5", -1, 0.5f },
};

typedef struct
{
  gdouble corners[4]; /* pixels, for the reference */
  gdouble score;
  gboolean scored, left, cut; /* left: of the source left */
  gint class_id;              /* 0 to LABELS - 1: a label; from LABELS on: a label id */
  gint parent;                /* index, or -1 */
} Truth;

typedef struct
{
  const gchar *name; /* as a tag; empty if the box takes no part */
  gint by;           /* index of the box that suppresses it, or -1 */
} State;

typedef struct
{
  guint count;
  gboolean ranked; /* the core cannot rank the boxes by their scores */
  Truth truth[MOST];
  State state[MOST];
  gboolean left_out[MOST]; /* parts that are dropped with their parents */
} Frame;

typedef struct
{
  gfloat iou, score;
  guint max, per_class, candidates, min_neighbors;
  gboolean inclusive, agnostic;
  gint engine, missing;
  gboolean select;      /* only person and car */
  gboolean special;     /* options of car */
  guint grouping, left; /* indices of `groupings` and `lefts` */
} Choice;

/* Random frames. */
typedef struct
{
  const gchar *name;
  guint32 seed;
  guint frames;
  gint unscored, parts, cut; /* per cent of the boxes */
  guint second;              /* frames, at least, that need a second pass */
} Draw;

/* ------------------------------------------------------------ a random frame */

static gboolean
chance (GRand *random, gint percent)
{
  return g_rand_int_range (random, 0, 100) < percent;
}

/* Returns whether doubles agree with an integer extent: clipped to the frame, start and length may
 * be off by a pixel. */
static gboolean
agrees (gdouble a, gdouble b, gint start, gint length, gint size)
{
  const gint first = CLAMP (start, 0, size), last = CLAMP (start + length, 0, size);
  const gdouble low = CLAMP (MIN (a, b), 0, size), high = CLAMP (MAX (a, b), 0, size);

  return isfinite (a) && isfinite (b) && fabs (low - first) <= 1
      && fabs ((high - low) - (last - first)) <= 1;
}

/* Adds normalized doubles to a box. They count if they agree with the integers. */
static void
random_doubles (GRand *random, GstStructure *detection, Truth *truth, Rect at)
{
  static const gchar *const names[4] = { "x_min", "y_min", "x_max", "y_max" };
  static const gdouble specials[] = { NAN, INFINITY, -INFINITY, 1e308 };
  const gint sizes[2] = { FRAME_WIDTH, FRAME_HEIGHT };
  gdouble corners[4];

  for (guint k = 0; k < 4; k++) {
    /* multiples of 1/4, so that the limits are met exactly now and then */
    const gdouble pixel = truth->corners[k]
        + (chance (random, 50) ? g_rand_int_range (random, -6, 7) / 4.0
                               : g_rand_double_range (random, -0.45, 0.45));
    const gint special = g_rand_int_range (random, 0, 200);

    corners[k] = special < 4 ? specials[special] : pixel / sizes[k % 2];
    gst_structure_set (detection, names[k], G_TYPE_DOUBLE, corners[k], NULL);
    corners[k] *= sizes[k % 2];
  }
  if (agrees (corners[0], corners[2], at.x, (gint) at.w, FRAME_WIDTH)
      && agrees (corners[1], corners[3], at.y, (gint) at.h, FRAME_HEIGHT))
    memcpy (truth->corners, corners, sizeof corners);
}

static void
random_box (GRand *random, const Draw *draw, GstBuffer *buffer, guint i, Truth *truth)
{
  const gint label = g_rand_int_range (random, 0, LABELS);
  const gint x = g_rand_int_range (random, -30, 30) + 260 * g_rand_int_range (random, 0, 3);
  const gint y = g_rand_int_range (random, -30, 30) + 190 * g_rand_int_range (random, 0, 3);
  const gint w = g_rand_int_range (random, 0, 8) ? g_rand_int_range (random, 40, 120) : 0;
  const gint h = g_rand_int_range (random, 40, 120);
  const Rect at = { x, y, (guint) w, (guint) h };
  GstVideoRegionOfInterestMeta *roi = add_region (buffer, (gint) i + 1, labels[label], at);
  GstStructure *detection = structure_on (roi, "detection");

  *truth = (Truth) { .corners = { x, y, x + w, y + h }, .class_id = label, .parent = -1 };
  if (g_rand_boolean (random))
    random_doubles (random, detection, truth, at);
  truth->scored = !chance (random, draw->unscored);
  if (truth->scored) {
    /* few values, so that scores are equal; sometimes no score */
    truth->score = g_rand_int_range (random, 0, 30) ? g_rand_int_range (random, -5, 20) / 20.0
                                                    : NAN;
    gst_structure_set (detection, "confidence", G_TYPE_DOUBLE, truth->score, NULL);
  }
  if (g_rand_boolean (random)) {
    gint label_id = g_rand_int_range (random, -1, 3);

    gst_structure_set (detection, "label_id", G_TYPE_INT, label_id, NULL);
    if (*labels[label] == '\0')
      truth->class_id = LABELS + 1 + label_id;
  }
  truth->left = g_rand_boolean (random);
  if (truth->left)
    gst_structure_set (structure_on (roi, "source"), "name", G_TYPE_STRING, "left", NULL);
  truth->cut = chance (random, draw->cut);
  if (truth->cut)
    gst_structure_set (structure_on (roi, "source"), "cut", G_TYPE_BOOLEAN, TRUE, NULL);
}

/* Makes boxes parts of others, without a ring. */
static void
random_parents (GRand *random, const Draw *draw, GstBuffer *buffer, Frame *frame)
{
  for (guint i = 0; i < frame->count; i++) {
    const gint parent = g_rand_int_range (random, 0, (gint) frame->count);
    gint up = parent;

    while (up >= 0 && up != (gint) i)
      up = frame->truth[up].parent;
    if (up == (gint) i || !chance (random, draw->parts))
      continue;
    frame->truth[i].parent = parent;
    gst_buffer_get_video_region_of_interest_meta_id (buffer, (gint) i + 1)->parent_id = parent + 1;
  }
}

static void
random_choice (GRand *random, Choice *choice)
{
  static const gfloat ious[] = { 0.f, 0.1f, 0.3f, 0.5f, 0.7f, 1.f };

  choice->iou = ious[g_rand_int_range (random, 0, G_N_ELEMENTS (ious))];
  choice->score = g_rand_boolean (random) ? -INFINITY : 0.25f;
  choice->max = g_rand_boolean (random) ? 0 : (guint) g_rand_int_range (random, 1, 20);
  choice->per_class = g_rand_boolean (random) ? 0 : (guint) g_rand_int_range (random, 1, 8);
  choice->candidates = g_rand_boolean (random) ? 0 : (guint) g_rand_int_range (random, 1, 40);
  choice->min_neighbors = g_rand_boolean (random) ? 0 : (guint) g_rand_int_range (random, 1, 4);
  choice->inclusive = g_rand_boolean (random);
  choice->agnostic = g_rand_boolean (random);
  choice->engine = g_rand_int_range (random, 0, 4);
  choice->missing = g_rand_int_range (random, 0, 4);
  choice->select = g_rand_int_range (random, 0, 4) == 0;
  choice->special = g_rand_boolean (random);
  choice->grouping = (guint) g_rand_int_range (random, 0, G_N_ELEMENTS (groupings));
  choice->left = (guint) g_rand_int_range (random, 0, G_N_ELEMENTS (lefts));
}

static void
apply (GstElement *element, const Choice *choice)
{
  g_object_set (element, "iou-threshold", choice->iou, "score-threshold", choice->score,
      "max-detections", choice->max, "max-per-class", choice->per_class, "max-candidates",
      choice->candidates, "min-neighbors", choice->min_neighbors, "inclusive", choice->inclusive,
      "class-agnostic", choice->agnostic, "engine", choice->engine, "missing-score",
      choice->missing, "classes", choice->select ? "person,car" : NULL, "class-groups",
      groupings[choice->grouping].text, "sources", lefts[choice->left].text, NULL);
  gst_util_set_object_arg (G_OBJECT (element), "class-options",
      choice->special ? "o,car=[o,iou-threshold=0.4,score-threshold=0.6,max=2]" : "o");
}

/* -------------------------------------------------------- what must come out */

/* Boxes as the core takes them: with scores, or without in the order of their ranks. */
typedef struct
{
  nms_boxes boxes;
  gfloat rows[4 * MOST], score[MOST];
  gint32 class_id[MOST], parent[MOST];
  guint8 exclude[MOST];
} Columns;

static void
columns_fill (Columns *c, const Frame *frame, const guint32 *which, guint count)
{
  gint32 at[MOST];

  c->boxes = (nms_boxes) { .size = sizeof c->boxes,
    .count = count,
    .x1 = { c->rows, 16 },
    .y1 = { c->rows + 1, 16 },
    .x2 = { c->rows + 2, 16 },
    .y2 = { c->rows + 3, 16 },
    .class_id.data = c->class_id,
    .parent.data = c->parent,
    .exclude.data = c->exclude };
  if (!frame->ranked)
    c->boxes.score.data = c->score;
  memset (at, -1, sizeof at);
  for (guint k = 0; k < count; k++)
    at[which[k]] = (gint32) k;
  for (guint k = 0; k < count; k++) {
    const Truth *truth = &frame->truth[which[k]];

    for (guint j = 0; j < 4; j++)
      c->rows[4 * k + j] = (gfloat) truth->corners[j];
    c->score[k] = (gfloat) truth->score;
    c->class_id[k] = truth->class_id;
    c->parent[k] = truth->parent < 0 ? -1 : at[truth->parent];
    c->exclude[k] = frame->left_out[which[k]] != FALSE;
  }
}

/* Returns the state of a box that a rule other than its rank decides; kept if it takes part. */
static const gchar *
state_before (const Truth *truth, const Choice *choice)
{
  if (choice->select && truth->class_id != 0 && truth->class_id != 2)
    return "";
  if (!truth->scored)
    return choice->missing == 3 ? "no-score" : "kept";
  return truth->left && (gfloat) truth->score < lefts[choice->left].least ? "below-score" : "kept";
}

/* Boxes are ranked by these keys, then by their index; the lowest comes first. */
typedef struct
{
  guint32 index;
  gdouble keys[9];
} Rank;

static gint
compare_ranks (const void *a, const void *b)
{
  const Rank *l = a, *r = b;

  for (guint k = 0; k < G_N_ELEMENTS (l->keys); k++)
    if (l->keys[k] != r->keys[k])
      return l->keys[k] < r->keys[k] ? -1 : 1;
  return l->index < r->index ? -1 : 1;
}

static Rank
rank_of (const Truth *truth, const Choice *choice, guint32 index, guint32 neighbors)
{
  const gdouble *at = truth->corners;
  const gdouble unscored[] = { neighbors, fabs (at[2] - at[0]) * fabs (at[3] - at[1]),
    -(gdouble) index };
  Rank rank = { index,
    { truth->cut, truth->left ? -lefts[choice->left].priority : 0,
        truth->class_id < LABELS ? groupings[choice->grouping].rank[truth->class_id] : 0,
        !truth->scored, -(truth->scored ? (gfloat) truth->score : unscored[choice->missing]) } };

  if (!truth->scored)
    memcpy (rank.keys + 5, at, sizeof truth->corners);
  return rank;
}

/* Sorts the boxes of a ranked frame. Sets the state of those that are dropped for another reason
 * than overlap. Returns how many are left. */
static guint
put_in_order (Frame *frame, const Choice *choice, const nms_options *options, guint32 *which,
    guint count)
{
  guint32 neighbors[MOST];
  Rank ranks[MOST];
  guint left = 0;
  Columns c;

  for (guint k = 0; k < count; k++) {
    const Truth *truth = &frame->truth[which[k]];
    const gfloat least = choice->special && truth->class_id == 2 ? 0.6f : choice->score;

    if (truth->scored && isnan (truth->score))
      frame->state[which[k]].name = "invalid";
    else if (truth->scored && (gfloat) truth->score < least)
      frame->state[which[k]].name = "below-score";
    else
      which[left++] = which[k];
  }
  count = left;
  columns_fill (&c, frame, which, count);
  ref_count_neighbors (&c.boxes, options, neighbors);
  for (guint k = left = 0; k < count; k++) {
    const Truth *truth = &frame->truth[which[k]];

    if (!truth->scored && neighbors[k] < choice->min_neighbors)
      frame->state[which[k]].name = "too-few-neighbors";
    else
      ranks[left++] = rank_of (truth, choice, which[k], neighbors[k]);
  }
  qsort (ranks, left, sizeof *ranks, compare_ranks);
  for (guint k = 0; k < left; k++)
    which[k] = ranks[k].index;
  return left;
}

/* Decides the boxes that are not left out. An invalid one is invalid in any case. */
static void
run_pass (Frame *frame, const nms_options *options, const guint32 *which, guint count)
{
  static const gchar *const names[] = { "kept", "suppressed", "over-cap", "not-candidate",
    "below-score", "invalid" };
  RefResult result;
  Columns c;

  columns_fill (&c, frame, which, count);
  ref_run (&c.boxes, options, &result);
  for (guint k = 0; k < count; k++)
    frame->left_out[which[k]] &= result.outcome[k] != NMS_OUTCOME_INVALID;
  for (guint k = 0; k < count; k++)
    if (!frame->left_out[which[k]])
      frame->state[which[k]] = (State) { names[result.outcome[k]],
        result.suppressed_by[k] < 0 ? -1 : (gint) which[result.suppressed_by[k]] };
  ref_result_clear (&result);
}

static gboolean
is_dropped (State state)
{
  return *state.name && strcmp (state.name, "kept") != 0;
}

/* Drops a part with its parent, of which the same is done before. A part that was left out and
 * whose parent is kept now has the state in `first`, and no suppressor. */
static void
follow (Frame *frame, guint i, const State *first, gboolean *seen)
{
  const gint parent = frame->truth[i].parent;

  if (parent < 0 || seen[i])
    return;
  seen[i] = TRUE;
  follow (frame, (guint) parent, first, seen);
  if (is_dropped (frame->state[parent]) && (frame->left_out[i] || !is_dropped (frame->state[i]))) {
    frame->state[i] = frame->state[parent];
    frame->left_out[i] = TRUE;
  } else if (frame->left_out[i]) {
    frame->state[i] = (State) { first[i].name, -1 };
  }
}

/* Returns how many parts are left out. */
static guint
follow_all (Frame *frame, const State *first)
{
  gboolean seen[MOST] = { FALSE };
  guint left_out = 0;

  for (guint i = 0; i < frame->count; i++)
    follow (frame, i, first, seen);
  for (guint i = 0; i < frame->count; i++)
    left_out += frame->left_out[i] != FALSE;
  return left_out;
}

/* Decides the boxes in two passes. The second one has no effect if the first one leaves no part
 * out. Returns whether it does. */
static gboolean
run_passes (Frame *frame, const nms_options *options, const guint32 *which, guint count)
{
  State first[MOST];
  guint before;

  memcpy (first, frame->state, sizeof first);
  before = follow_all (frame, first);
  run_pass (frame, options, which, count);
  if (follow_all (frame, first) == before)
    return FALSE;
  for (guint k = 0; k < count; k++)
    first[which[k]] = frame->state[which[k]];
  run_pass (frame, options, which, count);
  follow_all (frame, first);
  return TRUE;
}

/* Writes the states of all boxes. Returns whether a second pass was needed. */
static gboolean
decide (Frame *frame, const Choice *choice)
{
  nms_class_options of_class[LABELS];
  nms_options options = { .size = sizeof options,
    .iou_threshold = choice->iou,
    .score_threshold = -INFINITY,
    .max_detections = choice->max,
    .max_per_class = choice->per_class,
    .inclusive = choice->inclusive != 0,
    .class_agnostic = choice->agnostic != 0,
    .outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY,
    .class_options = of_class,
    .class_option_count = LABELS };
  guint32 which[MOST];
  guint count = 0;

  for (gint i = 0; i < LABELS; i++)
    of_class[i] = (nms_class_options) { .size = sizeof of_class[i],
      .class_id = i,
      .set = NMS_CLASS_GROUP,
      .group = groupings[choice->grouping].group[i],
      .iou_threshold = 0.4f,
      .score_threshold = 0.6f,
      .max_detections = 2 };
  if (choice->special)
    of_class[2].set |= NMS_CLASS_IOU_THRESHOLD | NMS_CLASS_MAX_DETECTIONS;
  frame->ranked = choice->left > 0 || choice->grouping > 1;
  for (guint i = 0; i < frame->count; i++) {
    const Truth *truth = &frame->truth[i];

    frame->left_out[i] = FALSE;
    frame->state[i] = (State) { state_before (truth, choice), -1 };
    if (!g_str_equal (frame->state[i].name, "kept"))
      continue;
    which[count++] = i;
    frame->ranked |= truth->cut || !truth->scored;
  }
  if (frame->ranked) {
    count = put_in_order (frame, choice, &options, which, count);
  } else {
    options.score_threshold = choice->score;
    of_class[2].set |= choice->special ? NMS_CLASS_SCORE_THRESHOLD : 0;
  }
  options.max_candidates = choice->candidates;
  return run_passes (frame, &options, which, count);
}

/* ------------------------------------------------------------------ the runs */

/* Fails unless the boxes have the tags of the frame, and the confidences that they had, if any.
 * Returns the ids of those that are not dropped, to be freed, and counts the boxes that a box of
 * another class suppresses. */
static gchar *
check_tags (const Frame *frame, GstBuffer *out, guint number, guint64 *other)
{
  GString *left = g_string_new (NULL);

  for (guint i = 0; i < frame->count; i++) {
    const State *state = &frame->state[i];
    GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (out,
        (gint) i + 1);
    gdouble score = 0;
    g_autofree gchar *tag = tag_of (out, (gint) i + 1);
    g_autofree gchar *expected = state->by < 0 ? g_strdup (state->name)
                                               : g_strdup_printf ("%s:%d", state->name, state->by);

    if (g_strcmp0 (tag, expected) != 0)
      g_error ("frame %u, box %u of %u: %s, not %s", number, i, frame->count, tag, expected);
    g_assert_true (frame->truth[i].scored
        == gst_structure_get_double (structure_on (roi, "detection"), "confidence", &score));
    g_assert_true (score == frame->truth[i].score || isnan (score));
    if (!is_dropped (*state))
      g_string_append_printf (left, "%s%u", left->len ? " " : "", i + 1);
    *other += state->by >= 0 && frame->truth[state->by].class_id != frame->truth[i].class_id;
  }
  return g_string_free (left, FALSE);
}

static void
compare_frames (gconstpointer row)
{
  const Draw *draw = row;
  g_autoptr (GRand) random = g_rand_new_with_seed (draw->seed);
  g_autoptr (GstHarness) h = harness_new ("nmsfilter action=tag");
  g_autoptr (GstHarness) removing = harness_new ("nmsfilter");
  guint64 other = 0, groups = 0;
  guint second = 0;

  for (guint n = 0; n < draw->frames; n++) {
    GstBuffer *buffer = frame_new (0), *out;
    g_autofree gchar *left = NULL;
    Frame frame = { .count = (guint) g_rand_int_range (random, 0, n % 10 ? 40 : MOST) };
    Choice choice;

    for (guint i = 0; i < frame.count; i++)
      random_box (random, draw, buffer, i, &frame.truth[i]);
    random_parents (random, draw, buffer, &frame);
    random_choice (random, &choice);
    apply (h->element, &choice);
    apply (removing->element, &choice);
    second += decide (&frame, &choice);

    out = through (h, gst_buffer_ref (buffer));
    left = check_tags (&frame, out, n, &other);
    expect_through (removing, gst_buffer_ref (n % 2 ? out : buffer), left); /* tagged, or not */
    gst_buffer_unref (out);
    gst_buffer_unref (buffer);
  }
  g_assert_cmpuint (second, >=, draw->second);
  groups = stat_of (h->element, "suppressed-by-other-class");
  g_assert_cmpuint (groups, >, 100);
  if (draw->parts == 0) /* a part counts as its parent does */
    g_assert_cmpuint (groups, ==, other);
}

static const Draw draws[] = {
  { "scored", 1, 400, 0, 0, 0, 0 },
  { "unscored", 2, 400, 100, 0, 0, 0 },
  { "mixed", 3, 300, 50, 0, 10, 0 },
  { "nearly-scored", 4, 200, 3, 0, 0, 0 },
  { "cut", 5, 200, 0, 0, 33, 0 },
  { "parts", 6, 1000, 0, 40, 0, 300 },
  { "partly-scored-parts", 7, 500, 10, 40, 0, 100 },
  { "all", 8, 500, 20, 40, 10, 100 },
  { NULL },
};

static const TestCase cases[] = { TEST_ROWS ("/%s", compare_frames, draws), { NULL } };

GST_TEST_PROGRAM (cases);
