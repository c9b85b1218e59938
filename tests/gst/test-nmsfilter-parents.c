/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: boxes that are parts of other boxes (parent_id). A part and its parent do
 * not suppress each other; a part is removed with its parent, and then has no effect on
 * other boxes. If only the label drops the parent, the part stays.
 */
#include "gstrunner.h"

#include <math.h>
#include <string.h>

static void
part (GstBuffer *buffer, gint id, gint parent_id, const gchar *label, gint x, gint y, guint w,
    guint h, gdouble confidence)
{
  add_scored (buffer, id, label, x, y, w, h, confidence)->parent_id = parent_id;
}

static void
test_rows (void)
{
  static const FrameRow rows[] = {
    /* 2 is better than 1, but a part of it; 3 is a part of 2, and 1 is not its parent */
    { "no competition", "nmsfilter",
        "1 a 0,0,100,100 0.8; 2 a 0,0,100,90 0.9 in 1; 3 a 0,0,100,80 0.7 in 2", "1 2", NULL,
        NULL },
    { "no competition, all kept", "nmsfilter iou-threshold=0.8",
        "1 a 0,0,100,100 0.8; 2 a 0,0,100,90 0.9 in 1; 3 a 0,0,100,80 0.7 in 2", "1 2 3", NULL,
        NULL },
    /* 1 suppresses 2 */
    { "follows the whole", "nmsfilter",
        "1 car 0,0,100,100 0.9; 2 car 10,0,100,100 0.8; 3 wheel 0,80,20,20 0.99 in 2; "
        "4 bolt 0,80,2,2 0.99 in 3; 5 wheel 80,80,20,20 0.3 in 1",
        "1 5", NULL, "suppressed=3" },
  };

  expect_frames (rows, G_N_ELEMENTS (rows));
}

static GstBuffer *
all_fates (void)
{
  GstBuffer *buffer = frame_new (0);

  part (buffer, 1, 0, "car", 0, 0, 100, 100, 0.9);
  part (buffer, 2, 0, "car", 10, 0, 100, 100, 0.8);  /* suppressed */
  part (buffer, 3, 0, "car", 200, 0, 100, 100, 0.1); /* below-score */
  part (buffer, 4, 0, "car", 300, 0, 100, 100, NAN); /* invalid */
  part (buffer, 5, 0, "car", 400, 0, 100, 100, 0.7); /* over-cap */
  part (buffer, 6, 0, "car", 400, 200, 100, 100, 0.75);
  part (buffer, 12, 2, "x", 0, 200, 10, 10, 0.9);
  part (buffer, 13, 3, "y", 0, 200, 10, 10, 0.9);
  part (buffer, 14, 4, "z", 0, 200, 10, 10, 0.9);
  part (buffer, 15, 5, "w", 0, 200, 10, 10, 0.9);
  return buffer;
}

static void
test_fate_and_tags (void)
{
  g_autoptr (GstHarness)
      h = harness_new ("nmsfilter action=tag score-threshold=0.5 max-per-class=2");
  GstBuffer *out = through (h, all_fates ());

  assert_tags (out, "12=suppressed:0 13=below-score 14=invalid 15=over-cap");
  gst_buffer_unref (out);
  assert_stats (h->element, "suppressed=2 below-score=2 invalid=2 over-cap=2 boxes-out=2");
}

/* A part that is removed with its parent does not suppress other boxes. */
static void
test_leaves_no_trace (void)
{
  GstBuffer *buffer = frame_new (0);

  part (buffer, 1, 0, "car", 0, 0, 100, 100, 0.9);
  part (buffer, 2, 0, "car", 10, 0, 100, 100, 0.5);   /* suppressed by 1 */
  part (buffer, 3, 2, "wheel", 300, 80, 20, 20, 0.8); /* removed with 2 ... */
  part (buffer, 4, 0, "wheel", 301, 80, 20, 20, 0.7); /* ... so this is kept */
  part (buffer, 5, 0, "wheel", 302, 80, 20, 20, 0.6); /* and suppresses this */
  expect ("nmsfilter", gst_buffer_ref (buffer), "1 4");
  expect ("nmsfilter engine=sequential", buffer, "1 4");
}

/* A part that is removed with its parent does not count towards a cap. */
static void
test_leaves_its_place (void)
{
  GstBuffer *buffer = frame_new (0);

  part (buffer, 1, 0, "car", 0, 0, 100, 100, 0.9);
  part (buffer, 2, 0, "car", 10, 0, 100, 100, 0.5);
  part (buffer, 3, 2, "wheel", 300, 80, 20, 20, 0.8);
  part (buffer, 4, 0, "wheel", 400, 80, 20, 20, 0.2);
  expect ("nmsfilter max-detections=2", gst_buffer_ref (buffer), "1 4");
  expect ("nmsfilter max-per-class=1", buffer, "1 4");
}

/* A box that the second pass keeps may suppress others, whose parts are dropped with them. There is
 * no third pass: what these parts suppressed stays dropped. */
static void
test_no_third_pass (void)
{
  GstBuffer *buffer = frame_new (0);

  /* 13 is removed with 12, which 11 suppresses (.8). 14, which 13 suppressed, is then
   * kept and suppresses 15; its part 16, which suppressed 17, is removed with it */
  part (buffer, 11, 0, "a", 0, 0, 100, 100, 0.95);
  part (buffer, 12, 0, "a", 10, 0, 100, 100, 0.30);
  part (buffer, 13, 12, "b", 0, 0, 100, 100, 0.90);
  part (buffer, 14, 0, "b", 10, 0, 100, 100, 0.80);
  part (buffer, 15, 0, "b", 55, 0, 100, 100, 0.70); /* 55/145 with 14, 45/155 with 13 */
  part (buffer, 16, 15, "c", 0, 0, 100, 100, 0.85);
  part (buffer, 17, 0, "c", 1, 0, 100, 100, 0.60);
  expect ("nmsfilter iou-threshold=0.35", buffer, "11 14");
}

/* A frame without a consistent result: the part p of w suppresses d; if d were kept it
 * would suppress q; q suppresses w. The first pass drops w and therefore p; the second keeps d and
 * w. p stays dropped, no two kept boxes overlap, and every box is counted. */
static void
test_paradox (void)
{
  static const gchar *const engines[] = { "sequential", "sorted", "spatial" };

  for (guint i = 0; i < G_N_ELEMENTS (engines); i++) {
    g_autofree gchar *line = g_strdup_printf ("nmsfilter engine=%s iou-threshold=0.3", engines[i]);
    g_autoptr (GstHarness) h = harness_new (line);
    GstBuffer *buffer = frame_new (0);

    part (buffer, 1, 4, "a", 0, 0, 100, 100, 0.9);   /* p */
    part (buffer, 2, 0, "a", 40, 0, 100, 100, 0.8);  /* d: 60/140 with p */
    part (buffer, 3, 0, "a", 80, 0, 100, 100, 0.7);  /* q: 60/140 with d, 20/180 with p */
    part (buffer, 4, 0, "a", 120, 0, 100, 100, 0.6); /* w: 60/140 with q, 20/180 with d */
    expect_through (h, buffer, "2 4");
    g_assert_cmpuint (stat_of (h->element, "suppressed"), ==, 2);
  }
}

/* ---------------------------------------------------------- the definition */

#define MOST 14
#define THRESHOLD 0.3f
#define SCORES "score-threshold=0.2 max-detections=5"

/* A frame as the definition sees it. Positions are box numbers. */
typedef struct
{
  gint x[MOST], y[MOST]; /* all boxes have 100 x 100 pixels */
  gdouble score[MOST];
  gint label[MOST], parent[MOST]; /* -1: none */
  guint count;
} Scene;

static gint
pixels_shared (gint a, gint b)
{
  return MAX (0, 100 - ABS (a - b));
}

static gboolean
overlap (const Scene *scene, guint a, guint b)
{
  const gint shared = pixels_shared (scene->x[a], scene->x[b])
      * pixels_shared (scene->y[a], scene->y[b]);

  return (gfloat) shared / (gfloat) (20000 - shared) > THRESHOLD;
}

/* Decides all boxes that are not left out, in order of score. */
static void
decide_once (const Scene *scene, const gboolean *left_out, const gchar **states)
{
  gboolean done[MOST] = { FALSE };
  guint kept = 0;

  for (guint round = 0; round < scene->count; round++) {
    guint best = MOST;

    for (guint i = 0; i < scene->count; i++)
      if (!done[i] && (best == MOST || scene->score[i] > scene->score[best]))
        best = i;
    done[best] = TRUE;
    if (left_out[best])
      continue;
    states[best] = (gfloat) scene->score[best] < 0.2f ? "below-score"
        : kept == 5                                   ? "over-cap"
                                                      : "kept";
    for (guint i = 0; i < scene->count && states[best][0] == 'k'; i++)
      if (i != best && done[i] && !left_out[i] && states[i][0] == 'k'
          && scene->label[i] == scene->label[best] && overlap (scene, i, best)
          && scene->parent[i] != (gint) best && scene->parent[best] != (gint) i)
        states[best] = "suppressed";
    kept += states[best][0] == 'k';
  }
}

static gboolean
is_kept (const gchar *state)
{
  return strcmp (state, "kept") == 0;
}

/* Writes the state of box i after a pass, that of its parent first. A box that was left out has the
 * state of its dropped parent, or else the one in `first`. Leaves out a box that was kept and whose
 * parent was dropped. */
static void
follow (const Scene *scene, guint i, const gchar **states, const gchar **first, gboolean *seen,
    gboolean *left_out)
{
  const gint parent = scene->parent[i];

  if (seen[i])
    return;
  seen[i] = TRUE;
  if (parent >= 0)
    follow (scene, (guint) parent, states, first, seen, left_out);
  if (parent >= 0 && !is_kept (states[parent]) && (left_out[i] || is_kept (states[i]))) {
    states[i] = states[parent];
    left_out[i] = TRUE;
  } else if (left_out[i]) {
    states[i] = first[i];
  }
}

static void
follow_all (const Scene *scene, const gchar **states, const gchar **first, gboolean *left_out)
{
  gboolean seen[MOST] = { FALSE };

  for (guint i = 0; i < scene->count; i++)
    follow (scene, i, states, first, seen, left_out);
}

/* The definition of docs/nmsfilter.md, step by step. Returns whether there was a second pass. */
static gboolean
decide_slowly (const Scene *scene, const gchar **states)
{
  gboolean left_out[MOST] = { FALSE }, again = FALSE;
  const gchar *first[MOST];

  decide_once (scene, left_out, states);
  follow_all (scene, states, NULL, left_out);
  memcpy (first, states, sizeof first);
  for (guint i = 0; i < scene->count; i++)
    again |= left_out[i];
  if (again) {
    decide_once (scene, left_out, states);
    follow_all (scene, states, first, left_out);
  }
  return again;
}

static gboolean
reaches (const Scene *scene, gint from, gint to)
{
  while (from >= 0 && from != to)
    from = scene->parent[from];
  return from == to;
}

static void
random_scene (GRand *rand, Scene *scene)
{
  scene->count = (guint) g_rand_int_range (rand, 3, MOST + 1);
  for (guint i = 0; i < scene->count; i++) {
    scene->x[i] = g_rand_int_range (rand, 0, 250);
    scene->y[i] = g_rand_int_range (rand, 0, 60);
    scene->score[i] = (10 + g_rand_int_range (rand, 0, 89) + i * 0.01) / 100;
    scene->label[i] = g_rand_int_range (rand, 0, 2);
    scene->parent[i] = -1;
  }
  for (guint i = 0; i < scene->count; i++) {
    const gint parent = g_rand_int_range (rand, 0, (gint) scene->count);

    if (g_rand_boolean (rand) && !reaches (scene, parent, (gint) i))
      scene->parent[i] = parent;
  }
}

static void
test_definition (void)
{
  static const gchar *const engines[] = { "sequential", "sorted", "spatial" };
  g_autoptr (GstHarness) h = harness_new ("nmsfilter action=tag iou-threshold=0.3 " SCORES);
  g_autoptr (GRand) rand = g_rand_new_with_seed (17);
  guint second = 0;

  for (guint round = 0; round < 3000; round++) {
    const gchar *states[MOST] = { NULL };
    g_autoptr (GstBuffer) buffer = frame_new (0);
    Scene scene;

    random_scene (rand, &scene);
    second += decide_slowly (&scene, states);
    for (guint i = 0; i < scene.count; i++)
      part (buffer, (gint) i + 1, scene.parent[i] + 1, scene.label[i] ? "a" : "b", scene.x[i],
          scene.y[i], 100, 100, scene.score[i]);
    gst_util_set_object_arg (G_OBJECT (h->element), "engine", engines[round % 3]);
    buffer = through (h, buffer);
    for (guint i = 0; i < scene.count; i++) {
      g_autofree gchar *tag = tag_of (buffer, (gint) i + 1);

      if (!g_str_has_prefix (tag, states[i]))
        g_error ("round %u, box %u: %s, must be %s", round, i + 1, tag, states[i]);
    }
  }
  g_assert_cmpuint (second, >, 1000);
}

static void
test_no_parents (void)
{
  GstBuffer *buffer = frame_new (0);

  part (buffer, 0, 0, "a", 0, 0, 100, 100, 0.9); /* an id of 0 means no id */
  part (buffer, 0, 0, "a", 1, 0, 100, 100, 0.8);
  part (buffer, 5, 5, "b", 0, 0, 100, 100, 0.7);  /* its own parent */
  part (buffer, 6, 77, "c", 0, 0, 100, 100, 0.6); /* an unknown parent */
  part (buffer, 7, 8, "d", 0, 0, 100, 100, 0.9);  /* parents of each other */
  part (buffer, 8, 7, "d", 1, 0, 100, 100, 0.8);
  expect ("nmsfilter", buffer, "0 5 6 7");
}

/* Three boxes that are parts of each other in a ring, and a part of one of them. */
static void
test_ring (void)
{
  GstBuffer *buffer = frame_new (0);

  part (buffer, 4, 3, "e", 300, 0, 100, 100, 0.9);
  part (buffer, 1, 2, "a", 0, 0, 100, 100, 0.9);
  part (buffer, 2, 3, "b", 0, 0, 100, 100, 0.9);
  part (buffer, 3, 1, "c", 0, 0, 100, 100, 0.1);
  expect ("nmsfilter score-threshold=0.5", buffer, "1 2");
}

static void
test_not_selected (void)
{
  GstBuffer *buffer = frame_new (0);

  part (buffer, 1, 0, "car", 0, 0, 100, 100, 0.9);
  part (buffer, 2, 0, "car", 10, 0, 100, 100, 0.8); /* suppressed */
  part (buffer, 3, 2, "wheel", 0, 80, 20, 20, 0.9); /* not selected, part of 2 */
  part (buffer, 4, 0, "bus", 0, 0, 100, 100, 0.1);  /* not selected: kept */
  part (buffer, 5, 4, "car", 300, 0, 100, 100, 0.9);
  expect ("nmsfilter classes=car score-threshold=0.5", buffer, "1 4 5");
}

static gint
parent_id_of (GstBuffer *buffer, gint id)
{
  return gst_buffer_get_video_region_of_interest_meta_id (buffer, id)->parent_id;
}

/* A vehicle with people inside, as DL Streamer's inference-region=roi-list nests them, an
 * encoder hint, and a car with a plate. */
static GstBuffer *
nested (void)
{
  GstBuffer *buffer = frame_new (0);

  part (buffer, 3, 1, "person", 10, 10, 30, 60, 0.9);
  add_structure (add_region (buffer, 9, "", 0, 0, 10, 10), "roi/x264enc;");
  part (buffer, 1, 0, "vehicle", 0, 0, 300, 200, 0.8);
  part (buffer, 2, 1, "person", 100, 10, 30, 60, 0.7);
  part (buffer, 4, 3, "face", 15, 10, 10, 10, 0.9);
  part (buffer, 5, 0, "car", 400, 0, 100, 50, 0.9);
  part (buffer, 6, 5, "plate", 420, 30, 20, 8, 0.6);
  part (buffer, 7, 5, "car", 0, 300, 2, 2, 0.6);
  return buffer;
}

/* A selection by label looks at each box alone: parts stay if their labels do. Their parents are
 * gone, so they name none; the ids of other parents stay. */
static void
test_dropped_class (void)
{
  GstBuffer *buffer = nested (), *out;

  out = filtered ("boxselect keep-classes=person", gst_buffer_ref (buffer));
  assert_ids (out, "3 9 2");
  g_assert_cmpint (parent_id_of (out, 3), ==, 0);
  g_assert_cmpint (parent_id_of (out, 2), ==, 0);
  gst_buffer_unref (out);
  out = filtered ("boxselect keep-classes=person,face", gst_buffer_ref (buffer));
  assert_ids (out, "3 9 2 4");
  g_assert_cmpint (parent_id_of (out, 3), ==, 0);
  g_assert_cmpint (parent_id_of (out, 4), ==, 3);
  gst_buffer_unref (out);
  out = filtered ("boxselect drop-classes=vehicle,car", nested ()); /* (in place) */
  assert_ids (out, "3 9 2 4 6");
  g_assert_cmpint (parent_id_of (out, 2), ==, 0);
  g_assert_cmpint (parent_id_of (out, 4), ==, 3);
  g_assert_cmpint (parent_id_of (out, 6), ==, 0);
  gst_buffer_unref (out);
  out = filtered ("boxselect action=tag keep-classes=person", gst_buffer_ref (buffer));
  assert_tags (out, "1=dropped-class 2=kept");
  g_assert_cmpint (parent_id_of (out, 2), ==, 1);
  gst_buffer_unref (out);
  g_assert_cmpint (parent_id_of (buffer, 3), ==, 1);
  /* dropped for another reason, a part takes its own parts with it */
  expect ("boxselect drop-classes=vehicle max-height=50", buffer, "9 5 6 7");
}

static void
test_unscored_parts (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer, "1 car 0,0,100,100; 2 car 10,0,100,100 in 1; 3 car 20,0,100,100");
  /* 1 and 2 are not neighbors of each other: each has one neighbor, 3 has two */
  expect ("nmsfilter", gst_buffer_ref (buffer), "3");
  expect ("nmsfilter missing-score=order", gst_buffer_ref (buffer), "1 2");
  expect ("nmsfilter min-neighbors=2", buffer, "3");
}

static void
test_unscored_part_of_dropped (void)
{
  GstBuffer *buffer = frame_new (0);

  part (buffer, 1, 0, "car", 0, 0, 100, 100, 0.2);
  add_boxes (buffer, "2 wheel 0,80,20,20 in 1; 3 wheel 1,80,20,20");
  expect ("nmsfilter score-threshold=0.5", gst_buffer_ref (buffer), "3");
  expect ("nmsfilter score-threshold=0.5 missing-score=drop", buffer, "");
}

/* A chain of 20,000 parts, last part first: it needs no recursion and no quadratic time. */
static void
test_long_chain (void)
{
  g_autoptr (GstBuffer) buffer = frame_new (0);

  for (gint i = 20000; i >= 1; i--) {
    gchar label[16];

    g_snprintf (label, sizeof label, "l%d", i % 50);
    part (buffer, i, i - 1, label, 20 * (i % 1000), 20 * (i / 1000), 10, 10, i == 1 ? 0.1 : 0.9);
  }
  expect ("nmsfilter score-threshold=0.5", gst_buffer_ref (buffer), "");
  buffer = gst_buffer_make_writable (buffer);
  g_assert_cmpuint (count_on (buffer), ==, 20000);
  buffer = filtered ("nmsfilter", buffer);
  g_assert_cmpuint (count_on (buffer), ==, 20000);
}

static const TestCase cases[] = { CASE (test_rows), CASE (test_fate_and_tags),
  CASE (test_leaves_no_trace), CASE (test_leaves_its_place), CASE (test_no_third_pass),
  CASE (test_paradox), CASE (test_definition), CASE (test_no_parents), CASE (test_ring),
  CASE (test_not_selected), CASE (test_dropped_class), CASE (test_unscored_parts),
  CASE (test_unscored_part_of_dropped), CASE (test_long_chain), { NULL } };

GST_TEST_PROGRAM (cases);
