/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter, compared with the reference on random frames with random settings: the
 * state of each box and the box that suppresses it. The numbers that are read from
 * metadata, and the order of boxes without a confidence, are computed here from their
 * definition, without code of the plugin.
 */
#include "gstrunner.h"
#include "reference.h"

#include <math.h>
#include <stdlib.h>

#define LABELS 4
static const gchar *const labels[LABELS] = { "person", "traffic light", "car", "" };

typedef struct
{
  gdouble corners[4]; /* pixels, for the reference */
  gdouble score;
  gboolean scored;
  gint class_id; /* 0 to LABELS - 1: a label; from LABELS on: a label id */
} Truth;

typedef struct
{
  gfloat iou, score;
  guint max, per_class, candidates, min_neighbors;
  gboolean inclusive, agnostic;
  gint engine, missing;
  gboolean select;  /* only person and car */
  gboolean special; /* options of car */
} Choice;

typedef struct
{
  guint32 index;
  gdouble value;
  gboolean unscored;
  const Truth *truth;
} Rank;

/* ------------------------------------------------------------ a random frame */

static void
random_box (GRand *random, GstBuffer *buffer, guint i, gint unscored_percent, Truth *truth)
{
  gint label = g_rand_int_range (random, 0, LABELS);
  gint x = g_rand_int_range (random, -30, 30) + 200 * g_rand_int_range (random, 0, 3);
  gint y = g_rand_int_range (random, -30, 30) + 150 * g_rand_int_range (random, 0, 3);
  gint w = g_rand_int_range (random, 0, 8) ? g_rand_int_range (random, 40, 120) : 0;
  gint h = g_rand_int_range (random, 40, 120);
  GstVideoRegionOfInterestMeta *roi = add_region (buffer, (gint) i + 1, labels[label],
      (Rect) { x, y, w, h });
  GstStructure *detection = gst_structure_new_empty ("detection");

  *truth = (Truth) { .corners = { x, y, x + w, y + h }, .class_id = label };
  if (g_rand_boolean (random)) {
    static const gchar *const names[4] = { "x_min", "y_min", "x_max", "y_max" };

    for (guint k = 0; k < 4; k++) {
      gdouble pixel = truth->corners[k] + g_rand_double_range (random, -0.45, 0.45);
      gdouble size = k % 2 ? FRAME_HEIGHT : FRAME_WIDTH;

      gst_structure_set (detection, names[k], G_TYPE_DOUBLE, pixel / size, NULL);
      truth->corners[k] = pixel / size * size;
    }
  }
  truth->scored = g_rand_int_range (random, 0, 100) >= unscored_percent;
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
  gst_video_region_of_interest_meta_add_param (roi, detection);
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
  choice->engine = g_rand_int_range (random, 0, 3);
  choice->missing = g_rand_int_range (random, 0, 4);
  choice->select = g_rand_int_range (random, 0, 4) == 0;
  choice->special = g_rand_boolean (random);
}

static void
apply (GstElement *element, const Choice *choice)
{
  g_object_set (element, "iou-threshold", choice->iou, "score-threshold", choice->score,
      "max-detections", choice->max, "max-per-class", choice->per_class, "max-candidates",
      choice->candidates, "min-neighbors", choice->min_neighbors, "inclusive", choice->inclusive,
      "class-agnostic", choice->agnostic, "engine", choice->engine, "missing-score",
      choice->missing, "classes", choice->select ? "person,car" : NULL, NULL);
  gst_util_set_object_arg (G_OBJECT (element), "class-options",
      choice->special ? "o,car=[o,iou-threshold=0.4,score-threshold=0.6,max=2]" : "o");
}

/* -------------------------------------------------------- what must come out */

typedef struct
{
  guint count;
  gfloat *rows;
  gfloat *score;
  gint32 *class_id;
  nms_boxes boxes;
} Columns;

static void
columns_fill (Columns *c, const Truth *truth, const guint32 *which, guint count, gboolean scores)
{
  c->boxes = (nms_boxes) { .size = sizeof c->boxes, .count = count };
  c->rows = g_new (gfloat, 4 * count + 1);
  c->score = g_new (gfloat, count + 1);
  c->class_id = g_new (gint32, count + 1);
  for (guint k = 0; k < count; k++) {
    for (guint j = 0; j < 4; j++)
      c->rows[4 * k + j] = (gfloat) truth[which[k]].corners[j];
    c->score[k] = (gfloat) truth[which[k]].score;
    c->class_id[k] = truth[which[k]].class_id;
  }
  c->boxes.x1 = (nms_column) { c->rows, 16 };
  c->boxes.y1 = (nms_column) { c->rows + 1, 16 };
  c->boxes.x2 = (nms_column) { c->rows + 2, 16 };
  c->boxes.y2 = (nms_column) { c->rows + 3, 16 };
  c->boxes.class_id.data = c->class_id;
  if (scores)
    c->boxes.score.data = c->score;
}

static void
columns_clear (Columns *c)
{
  g_free (c->rows);
  g_free (c->score);
  g_free (c->class_id);
}

static gint
compare_ranks (const void *a, const void *b)
{
  const Rank *l = a, *r = b;

  if (l->unscored != r->unscored)
    return l->unscored ? 1 : -1;
  if (l->value != r->value)
    return l->value > r->value ? -1 : 1;
  for (guint k = 0; l->unscored && k < 4; k++)
    if (l->truth->corners[k] != r->truth->corners[k])
      return l->truth->corners[k] < r->truth->corners[k] ? -1 : 1;
  return l->index < r->index ? -1 : 1;
}

static void
say (gchar **expected, guint i, const gchar *state)
{
  g_free (expected[i]);
  expected[i] = g_strdup (state);
}

static void
say_outcomes (gchar **expected, const Columns *c, const nms_options *options, const guint32 *which)
{
  static const gchar *const names[] = { "kept", "suppressed", "over-cap", "not-candidate",
    "below-score", "invalid" };
  RefResult result;

  ref_run (&c->boxes, options, &result);
  for (gsize k = 0; k < result.count; k++) {
    g_free (expected[which[k]]);
    expected[which[k]] = result.suppressed_by[k] < 0
        ? g_strdup (names[result.outcome[k]])
        : g_strdup_printf ("%s:%u", names[result.outcome[k]], which[result.suppressed_by[k]]);
  }
  ref_result_clear (&result);
}

/* Sorts boxes of which some have no score. Sets the state of those that are removed for
 * another reason than overlap. Returns how many are left. */
static guint
put_in_order (const Truth *truth, const Choice *choice, const nms_options *options, guint32 *which,
    guint count, gchar **expected)
{
  guint32 *neighbors = g_new0 (guint32, count + 1);
  Rank *ranks = g_new0 (Rank, count + 1);
  guint left = 0;
  Columns c;

  for (guint k = 0; k < count; k++) {
    const Truth *t = &truth[which[k]];
    gfloat least = choice->special && t->class_id == 2 ? 0.6f : choice->score;

    if (t->scored && isnan (t->score))
      say (expected, which[k], "invalid");
    else if (t->scored && (gfloat) t->score < least)
      say (expected, which[k], "below-score");
    else
      which[left++] = which[k];
  }
  count = left;
  columns_fill (&c, truth, which, count, FALSE);
  ref_count_neighbors (&c.boxes, options, neighbors);
  columns_clear (&c);
  for (guint k = left = 0; k < count; k++) {
    const Truth *t = &truth[which[k]];
    gdouble value = t->score;

    if (!t->scored) {
      if (neighbors[k] < choice->min_neighbors) {
        say (expected, which[k], "too-few-neighbors");
        continue;
      }
      value = choice->missing == 0 ? neighbors[k]
          : choice->missing == 2
          ? -(gdouble) which[k]
          : fabs (t->corners[2] - t->corners[0]) * fabs (t->corners[3] - t->corners[1]);
    }
    ranks[left++] = (Rank) { which[k], t->scored ? (gfloat) value : value, !t->scored, t };
  }
  qsort (ranks, left, sizeof *ranks, compare_ranks);
  for (guint k = 0; k < left; k++)
    which[k] = ranks[k].index;
  g_free (ranks);
  g_free (neighbors);
  return left;
}

static void
expect_states (const Truth *truth, guint count, const Choice *choice, gchar **expected)
{
  nms_class_options special = { .size = sizeof special,
    .class_id = 2,
    .set = NMS_CLASS_IOU_THRESHOLD | NMS_CLASS_SCORE_THRESHOLD | NMS_CLASS_MAX_DETECTIONS,
    .iou_threshold = 0.4f,
    .score_threshold = 0.6f,
    .max_detections = 2 };
  nms_options options = { .size = sizeof options,
    .iou_threshold = choice->iou,
    .score_threshold = choice->score,
    .max_detections = choice->max,
    .max_per_class = choice->per_class,
    .inclusive = choice->inclusive != 0,
    .class_agnostic = choice->agnostic != 0,
    .outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY };
  guint32 *which = g_new (guint32, count + 1);
  gboolean unscored = FALSE;
  guint left = 0;
  Columns c;

  if (choice->special) {
    options.class_options = &special;
    options.class_option_count = 1;
  }
  for (guint i = 0; i < count; i++) {
    expected[i] = g_strdup ("");
    if (choice->select && truth[i].class_id != 0 && truth[i].class_id != 2)
      continue;
    if (!truth[i].scored && choice->missing == 3) {
      say (expected, i, "no-score");
      continue;
    }
    unscored |= !truth[i].scored;
    which[left++] = i;
  }
  if (unscored) {
    options.score_threshold = -INFINITY;
    special.set &= ~(guint) NMS_CLASS_SCORE_THRESHOLD;
    left = put_in_order (truth, choice, &options, which, left, expected);
  }
  options.max_candidates = choice->candidates;
  columns_fill (&c, truth, which, left, !unscored);
  say_outcomes (expected, &c, &options, which);
  columns_clear (&c);
  g_free (which);
}

/* ------------------------------------------------------------------ the runs */

static void
compare_frames (guint32 seed, guint frames, gint unscored_percent)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  g_autoptr (GstHarness) h = harness_new ("nmsfilter action=tag");
  g_autoptr (GstHarness) removing = harness_new ("nmsfilter");

  for (guint frame = 0; frame < frames; frame++) {
    guint count = (guint) g_rand_int_range (random, 0, frame % 10 ? 40 : 300);
    Truth *truth = g_new0 (Truth, count + 1);
    gchar **expected = g_new0 (gchar *, count + 1);
    GstBuffer *buffer = frame_new (0), *out;
    g_autoptr (GString) left = g_string_new (NULL);
    Choice choice;

    for (guint i = 0; i < count; i++)
      random_box (random, buffer, i, unscored_percent, &truth[i]);
    random_choice (random, &choice);
    apply (h->element, &choice);
    apply (removing->element, &choice);
    expect_states (truth, count, &choice, expected);

    out = through (h, gst_buffer_ref (buffer));
    for (guint i = 0; i < count; i++) {
      g_autofree gchar *tag = tag_of (out, (gint) i + 1);

      if (g_strcmp0 (tag, expected[i]) != 0)
        g_error ("seed %u frame %u box %u of %u is %s, not %s (iou %g score %g max %u per class "
                 "%u candidates %u inclusive %d agnostic %d engine %d missing %d min neighbors %u "
                 "select %d special %d)",
            seed, frame, i, count, tag, expected[i], choice.iou, choice.score, choice.max,
            choice.per_class, choice.candidates, choice.inclusive, choice.agnostic, choice.engine,
            choice.missing, choice.min_neighbors, choice.select, choice.special);
      if (*tag == '\0' || g_str_equal (tag, "kept"))
        g_string_append_printf (left, "%s%u", left->len ? " " : "", i + 1);
    }
    gst_buffer_unref (out);
    expect_through (removing, buffer, left->str);
    g_strfreev (expected);
    g_free (truth);
  }
}

static void
test_scored (void)
{
  compare_frames (1, 400, 0);
}

static void
test_unscored (void)
{
  compare_frames (2, 400, 100);
}

static void
test_mixed (void)
{
  compare_frames (3, 300, 50);
  compare_frames (4, 200, 3);
}

static const TestCase cases[] = { CASE (test_scored), CASE (test_unscored), CASE (test_mixed),
  { NULL } };

GST_TEST_PROGRAM (cases);
