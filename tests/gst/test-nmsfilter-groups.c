/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: groups of classes that suppress each other, compared with their definition, written
 * here without code of the plugin, and with several nmsfilters in a row.
 */
#include "gstrunner.h"

/* An object that is found as four classes, and another one that is found as two. */
static GstBuffer *
street (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer,
      "1 car 0,0,100,100 0.9; 2 truck 5,0,100,100 0.8; 3 bus 10,0,100,100 0.3; "
      "4 person 0,5,100,100 0.5; 5 rider 300,0,50,100 0.7; 6 person 305,0,50,100 0.6");
  return buffer;
}

#define GROUPS "class-groups=bus>truck>car;person>rider "

static void
test_rows (void)
{
  static const struct
  {
    const gchar *rule, *ids;
  } rows[] = {
    { "", "1 2 3 4 5 6" },
    { "class-groups=NULL", "1 2 3 4 5 6" },
    { "class-groups=car,truck", "1 3 4 5 6" },
    { "class-groups=truck,car", "1 3 4 5 6" },
    { "class-groups=car,truck,bus;person,rider", "1 4 5" },
    { "class-groups=bus>truck>car", "3 4 5 6" },
    { "class-groups=\"  bus > truck , car ; person>rider;\"", "3 4 6" },
    { GROUPS, "3 4 6" },
    { "class-groups=bus>boat;car,truck", "1 3 4 5 6" },
    { "class-agnostic=true", "1 5" },
    /* the ranks hold for all classes, and classes of no group have the first one */
    { "class-agnostic=true class-groups=bus>truck>car", "4 5" },
    /* ranks count for limits, too: 4, 6 and 3 rank above 5 */
    { GROUPS "max-detections=2", "4 6" },
    { GROUPS "max-detections=3", "3 4 6" },
    { GROUPS "max-candidates=2", "4 6" },
    /* limits and thresholds are those of the class of a box */
    { GROUPS "max-per-class=1", "3 6" },
    { GROUPS "score-threshold=0.4", "2 4 6" },
    { GROUPS "class-options=o,bus=[o,score-threshold=0.4]", "2 4 6" },
    { GROUPS "class-options=o,truck=[o,iou-threshold=0.95],person=[o,max=0]", "2 3 4 6" },
    { GROUPS "class-options=o,car=[o,iou-threshold=0.95]", "1 3 4 6" },
    { GROUPS "classes=car,truck", "2 3 4 5 6" },
    { GROUPS "method=greedy-merge", "3 4 6" },
    { "class-groups=car,truck,bus method=weighted", "1 4 5 6" },
    { "class-groups=car,truck,bus method=soft-linear method-options=o,min-score=0.2", "1 4 5 6" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strconcat ("nmsfilter ", rows[i].rule, NULL);

    expect (line, street (), rows[i].ids);
  }
}

/* A box over the limit of its class suppresses nothing, also in a group. */
static void
test_over_limit (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer, "1 bus 200,0,100,100 0.9; 2 bus 0,0,100,100 0.8; 3 car 0,0,100,100 0.7");
  expect ("nmsfilter class-groups=bus>car class-options=o,bus=[o,max=1]", buffer, "1 3");
}

/* Boxes without a confidence rank by their class first. */
static void
test_unscored (void)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer, "1 car 0,0,100,100 0.9; 2 bus 10,0,100,100; 3 car 300,0,100,100");
  expect ("nmsfilter class-groups=bus,car", gst_buffer_ref (buffer), "1 3");
  expect ("nmsfilter class-groups=bus>car", gst_buffer_ref (buffer), "2 3");
  expect ("nmsfilter class-groups=bus,car min-neighbors=1", gst_buffer_ref (buffer), "1");
  expect ("nmsfilter class-groups=bus>car missing-score=drop", buffer, "1");
}

/* Priorities of sources count before the ranks of classes. */
static void
test_sources (void)
{
  GstBuffer *buffer = frame_new (0);
  GstVideoRegionOfInterestMeta *roi;

  add_boxes (buffer, "1 car 0,0,100,100 0.2");
  roi = add_scored (buffer, 2, "bus", 0, 0, 100, 100, 0.9);
  add_structure (roi, "source, name=(string)far;");
  expect ("nmsfilter class-groups=bus>car sources=main,far", gst_buffer_ref (buffer), "2");
  expect ("nmsfilter class-groups=bus>car sources=main:priority=1,far", buffer, "1");
}

static void
test_tags_and_stats (void)
{
  GstHarness *h = harness_new ("nmsfilter action=tag " GROUPS);
  GstBuffer *buffer = street (), *out;

  add_boxes (buffer, "7 bus 12,0,100,100 0.2");
  out = through (h, buffer);
  assert_tags (out,
      "1=suppressed:2 2=suppressed:2 3=kept 4=kept 5=suppressed:5 6=kept 7=suppressed:2");
  gst_buffer_unref (out);
  assert_stats (h->element, "suppressed=4 suppressed-by-other-class=3");
  gst_harness_teardown (h);
  h = harness_new ("nmsfilter class-agnostic=true");
  gst_buffer_unref (through (h, street ()));
  assert_stats (h->element, "suppressed=4 suppressed-by-other-class=4");
  gst_harness_teardown (h);
}

/* A part that is dropped with its parent counts as its parent does. */
static void
test_parts (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter class-groups=bus>car");
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer,
      "1 car 0,0,100,100 0.9; 2 plate 0,0,10,10 0.9 in 1; 3 car 5,0,100,100 0.8; "
      "4 car 300,0,100,100 0.9; 5 car 305,0,100,100 0.8; 6 plate 305,0,10,10 0.8 in 5; "
      "7 bus 0,5,100,100 0.1");
  expect_through (h, buffer, "4 7");
  assert_stats (h->element, "suppressed=5 suppressed-by-other-class=3");
}

static void
test_refusals (void)
{
  static const gchar *const refused[][2] = {
    { "nmsfilter class-groups=car",
        "Cannot use class-groups: the group \"car\" has only one class" },
    { "nmsfilter class-groups=a,b;car,", "a class of the group \"car,\" has no name" },
    { "nmsfilter class-groups=a>>b", "a class of the group \"a>>b\" has no name" },
    { "nmsfilter class-groups=>b", "a class of the group \">b\" has no name" },
    { "nmsfilter class-groups=a,b;c>a", "class \"a\" is listed twice" },
    { "nmsfilter class-groups=a>b method=weighted",
        "method=weighted with \">\" in class-groups: the method ranks boxes by their scores only" },
  };
  GstHarness *h = harness_new ("nmsfilter method=soft-linear");
  GstBus *bus = harness_bus (h);
  g_autoptr (GString) many = g_string_new ("c0");
  g_autoptr (GstElement) element = NULL;

  g_object_set (h->element, "class-groups", "a>b", NULL);
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "\">\" in class-groups");
  assert_values (h->element, "class-groups", "NULL");
  g_object_set (h->element, "class-groups", "a,b", NULL);
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
  harness_free (h);
  expect_no_starts (refused, G_N_ELEMENTS (refused));

  for (guint i = 1; i < 1000; i++)
    g_string_append_printf (many, ">c%u", i);
  element = element_new ("nmsfilter");
  g_object_set (element, "class-groups", many->str, NULL);
  expect_start (element);
  g_string_append (many, ">c");
  g_object_set (element, "class-groups", many->str, NULL);
  expect_no_start (element, "has more than 1000 ranks");
  gst_element_set_state (element, GST_STATE_NULL);
}

/* ------------------------------------------------------------- random frames */

#define CLASSES 6
#define BOXES 80

/* A way to group the six classes. `group` and `rank` are those of each class. */
typedef struct
{
  const gchar *text;
  gint group[CLASSES], rank[CLASSES];
} Grouping;

static const gchar *const names[CLASSES] = { "a", "b", "c", "d", "e", "" };

static const Grouping groupings[] = {
  { "a,b;c,d", { 0, 0, 2, 2, 4, 5 }, { 0 } },
  { "e>a", { 0, 1, 2, 3, 0, 5 }, { 1 } },
  { "d>b,c;a>e", { 0, 1, 1, 1, 0, 5 }, { 0, 1, 1, 0, 1, 0 } },
  { "e>d>c>b>a", { 0, 0, 0, 0, 0, 5 }, { 4, 3, 2, 1, 0, 0 } },
};

typedef struct
{
  gint class, x, y, w, h;
  gdouble score;
} Drawn;

static void
draw_frame (GRand *random, Drawn *drawn)
{
  for (guint i = 0; i < BOXES; i++)
    drawn[i] = (Drawn) { g_rand_int_range (random, 0, CLASSES), g_rand_int_range (random, 0, 250),
      g_rand_int_range (random, 0, 150), g_rand_int_range (random, 30, 120),
      g_rand_int_range (random, 30, 120), g_rand_int_range (random, 0, 40) / 40.0 };
}

static GstBuffer *
buffer_of (const Drawn *drawn)
{
  GstBuffer *buffer = frame_new (0);

  for (guint i = 0; i < BOXES; i++)
    add_scored (buffer, (gint) i, names[drawn[i].class], drawn[i].x, drawn[i].y, (guint) drawn[i].w,
        (guint) drawn[i].h, drawn[i].score);
  return buffer;
}

static gfloat
overlap (const Drawn *a, const Drawn *b)
{
  const gint w = MIN (a->x + a->w, b->x + b->w) - MAX (a->x, b->x);
  const gint h = MIN (a->y + a->h, b->y + b->h) - MAX (a->y, b->y);
  const gint inter = w > 0 && h > 0 ? w * h : 0;

  return (gfloat) inter / (gfloat) (a->w * a->h + b->w * b->h - inter);
}

/* Returns whether box i ranks above box j. */
static gboolean
is_above (const Drawn *drawn, const Grouping *g, guint i, guint j)
{
  const gint ranks[] = { g->rank[drawn[i].class], g->rank[drawn[j].class] };

  if (ranks[0] != ranks[1])
    return ranks[0] < ranks[1];
  if (drawn[i].score != drawn[j].score)
    return drawn[i].score > drawn[j].score;
  return i < j;
}

/* Decides a frame from the definition, with the options in LIMITS. Returns the ids of the kept
 * boxes, to be freed, and adds the boxes that lost to another class to *other. */
#define LIMITS \
  "iou-threshold=0.3 score-threshold=0.1 max-detections=30 max-per-class=5 max-candidates=60 " \
  "class-options=o,b=[o,iou-threshold=0.6,max=9],c=[o,score-threshold=0.5]"

static gchar *
decide (const Drawn *drawn, const Grouping *g, guint64 *other)
{
  guint order[BOXES], kept[BOXES], of_class[CLASSES] = { 0 }, count = 0, kept_count = 0;
  gboolean keeps[BOXES] = { FALSE };
  GString *ids = g_string_new (NULL);

  for (guint i = 0; i < BOXES; i++) {
    guint k = count;

    if ((gfloat) drawn[i].score < (drawn[i].class == 2 ? 0.5f : 0.1f))
      continue;
    for (; k > 0 && is_above (drawn, g, i, order[k - 1]); k--)
      order[k] = order[k - 1];
    order[k] = i;
    count++;
  }
  for (guint k = 0; k < MIN (count, 60) && kept_count < 30; k++) {
    const Drawn *box = &drawn[order[k]];
    guint n = 0;

    if (of_class[box->class] >= (box->class == 1 ? 9 : 5))
      continue;
    while (n < kept_count
        && (g->group[drawn[kept[n]].class] != g->group[box->class]
            || overlap (&drawn[kept[n]], box) <= (box->class == 1 ? 0.6f : 0.3f)))
      n++;
    if (n < kept_count) {
      *other += drawn[kept[n]].class != box->class;
      continue;
    }
    kept[kept_count++] = order[k];
    keeps[order[k]] = TRUE;
    of_class[box->class]++;
  }
  for (guint i = 0; i < BOXES; i++)
    if (keeps[i])
      g_string_append_printf (ids, "%s%u", ids->len ? " " : "", i);
  return g_string_free (ids, FALSE);
}

static void
test_definition (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (34);
  Drawn drawn[BOXES];

  for (guint k = 0; k < G_N_ELEMENTS (groupings); k++) {
    g_autoptr (GstHarness) h = harness_new ("nmsfilter " LIMITS);
    guint64 other = 0;

    g_object_set (h->element, "class-groups", groupings[k].text, NULL);
    for (guint frame = 0; frame < 200; frame++) {
      g_autofree gchar *ids = NULL;

      draw_frame (random, drawn);
      ids = decide (drawn, &groupings[k], &other);
      gst_util_set_object_arg (G_OBJECT (h->element), "engine",
          frame % 4 == 0       ? "auto"
              : frame % 4 == 1 ? "sequential"
              : frame % 4 == 2 ? "sorted"
                               : "spatial");
      expect_through (h, buffer_of (drawn), ids);
    }
    g_assert_cmpuint (other, >, 100);
    g_assert_cmpuint (stat_of (h->element, "suppressed-by-other-class"), ==, other);
  }
}

/* Groups equal a filter for each group that lets its classes suppress each other, with every
 * method, as long as no limit counts boxes of all groups. */
static void
test_filters_in_a_row (void)
{
  static const gchar *const methods[] = { "hard", "soft-gaussian", "matrix-linear", "weighted",
    "merge", "greedy-merge", "average" };
  g_autoptr (GRand) random = g_rand_new_with_seed (35);
  Drawn drawn[BOXES];

  for (guint m = 0; m < G_N_ELEMENTS (methods); m++) {
    gchar *lines[] = {
      g_strdup_printf ("nmsfilter method=%s class-groups=a,b;c,d", methods[m]),
      g_strdup_printf ("nmsfilter method=%s classes=a,b class-agnostic=true", methods[m]),
      g_strdup_printf ("nmsfilter method=%s classes=c,d class-agnostic=true", methods[m]),
      g_strdup_printf ("nmsfilter method=%s classes=e", methods[m]),
    };
    GstHarness *h[G_N_ELEMENTS (lines)];

    for (guint k = 0; k < G_N_ELEMENTS (lines); k++)
      h[k] = harness_new (lines[k]);
    for (guint frame = 0; frame < 50; frame++) {
      g_autoptr (GstBuffer) one = NULL, row = NULL;
      g_autofree gchar *boxes = NULL, *ids = NULL;

      draw_frame (random, drawn);
      for (guint i = 0; i < BOXES; i++) /* a box without a label has a class of its own */
        drawn[i].class = MIN (drawn[i].class, CLASSES - 2);
      one = through (h[0], buffer_of (drawn));
      row = buffer_of (drawn);
      for (guint k = 1; k < G_N_ELEMENTS (lines); k++)
        row = through (h[k], row);
      ids = g_strdup (ids_on (row));
      boxes = g_strdup (boxes_on (row));
      assert_ids (one, ids);
      g_assert_cmpstr (boxes_on (one), ==, boxes);
    }
    for (guint k = 0; k < G_N_ELEMENTS (lines); k++) {
      gst_harness_teardown (h[k]);
      g_free (lines[k]);
    }
  }
}

static const TestCase cases[] = { CASE (test_rows), CASE (test_over_limit), CASE (test_unscored),
  CASE (test_sources), CASE (test_tags_and_stats), CASE (test_parts), CASE (test_refusals),
  CASE (test_definition), CASE (test_filters_in_a_row), { NULL } };

GST_TEST_PROGRAM (cases);
