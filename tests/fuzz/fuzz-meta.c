/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz-meta: sends regions made of the bytes through nmsfilter with action=remove and with
 * action=tag, and the result through boxsteady, boxtransform and box_append. Both nmsfilters must
 * make the same decisions; all counters, and the regions that may not change, are checked.
 */
#include <gst/check/gstharness.h>

#include "fuzzbytes.h"
#include "fuzzregions.h"
#include "meta/boxappend.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

GST_PLUGIN_STATIC_DECLARE (nms);

#define CAPS(width, height) \
  "video/x-raw,format=GRAY8,framerate=10/1,width=" #width ",height=" #height
static const gchar *const all_caps[] = { CAPS (64, 64), CAPS (64, 64), CAPS (1, 1),
  CAPS (32767, 32767), "application/x-no-size" };

/* Properties and values; NULL ends the values of one. */
typedef struct {
  const gchar *name;
  const gchar *values[10];
} Choices;

static const Choices filter_choices[] = {
  { "method",
      { "hard", "soft-linear", "soft-gaussian", "matrix-linear", "matrix-gaussian", "weighted",
          "merge", "greedy-merge", "average" } },
  { "metric", { "iou", "ios", "diou", "giou", "probiou" } },
  { "iou-threshold", { "0.5", "0", "1", "0.25", "0.3333333" } },
  { "score-threshold", { "0.5", "0", "-1", "1e300" } },
  { "max-detections", { "0", "1", "7", "4294967295" } },
  { "max-per-class", { "0", "1", "3" } },
  { "max-candidates", { "0", "1", "5" } },
  { "class-agnostic", { "true", "false" } },
  { "inclusive", { "true", "false" } },
  { "classes", { "person", "car,face", "x", "" } },
  { "class-options",
      { "o,person=[o,iou-threshold=0.2]", "o,car=[o,max=1],face=[o,iou-threshold=0]",
          "o,person=[o,score-threshold=0.7]", "" } },
  { "missing-score", { "neighbors", "area", "order", "drop" } },
  { "min-neighbors", { "0", "1", "3" } },
  { "method-options",
      { "o,sigma=1e-9,min-score=0", "o,sigma=2,min-score=1", "o,sigma=1e9,min-score=0.3",
          "o,fused-score=max", "o,fused-score=box-and-model-avg",
          "o,fused-score=absent-model-aware-avg" } },
  { "sources", { "main=2:priority=1,left", "main,left=0.5:score-threshold=0.3", "" } },
  { "engine", { "sequential", "sorted", "spatial", "auto" } },
  { "class-groups", { "person>car;face,x", "car,person,face", "" } },
  { "min-size-ratio", { "0", "0.05", "0.5", "1" } },
};

static const Choices select_choices[] = {
  { "min-width", { "4", "0", "1e9" } },
  { "max-height", { "9", "0", "0.1" } },
  { "max-area", { "50", "0" } },
  { "min-aspect-ratio", { "0.5", "0" } },
  { "roi", { "0,0,20,20", "25%,0,50%,100%", "-9,-9,1000,1000", "" } },
  { "keep-classes", { "person,face", "" } },
  { "drop-classes", { "car", "" } },
  { "class-limits", { "o,person=[o,min-height=9]", "o,car=[o,max-area=0],face=[o,max-width=4]" } },
  { "drop-cut", { "true" } },
  { "action", { "tag" } },
};

static const Choices transform_choices[] = {
  { "top", { "5", "-5", "-2147483648", "2147483647" } },
  { "left", { "9", "-9", "-2147483648", "2147483647" } },
  { "right", { "3", "-2147483648" } },
  { "width", { "32", "1", "2147483647" } },
  { "height", { "32", "1", "2147483647" } },
  { "video-direction", { "90r", "180", "horiz", "ul-lr" } },
  { "stretched", { "true" } },
  { "clip", { "false" } },
};

static GstHarness *
harness_new (const gchar *factory, const gchar *caps)
{
  GstElement *element = gst_element_factory_make (factory, NULL);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");

  gst_object_unref (element);
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

/* Sets properties. Values that are refused together cause a warning and do not apply. */
static void
choose (GstHarness *h, const Choices *choices, guint count, FuzzBytes *bytes)
{
  guint sets = fuzz_take_byte (bytes) % 7;

  for (guint i = 0; i < sets; i++) {
    const Choices *c = &choices[fuzz_take_byte (bytes) % count];
    guint values = 0;

    while (values < G_N_ELEMENTS (c->values) && c->values[values] != NULL)
      values++;
    gst_util_set_object_arg (G_OBJECT (h->element), c->name,
        c->values[fuzz_take_byte (bytes) % values]);
  }
}

static guint64
counter (const GstStructure *stats, const gchar *name)
{
  guint64 value = 0;

  g_assert (gst_structure_get_uint64 (stats, name, &value));
  return value;
}

static GstStructure *
stats_of (GstHarness *h)
{
  GstStructure *stats;

  g_object_get (h->element, "stats", &stats, NULL);
  return stats;
}

static guint
count_detections (GPtrArray *regions)
{
  guint count = 0;

  for (guint i = 0; i < regions->len; i++)
    count += fuzz_regions_is_detection (regions->pdata[i]);
  return count;
}

/* Checks the counters of an element that got one frame with `in` boxes. Returns the number that it
 * dropped, the sum of the counters `drops`, which NULL ends. */
static guint64
check_stats (GstHarness *h, guint64 in, const gchar *const *drops)
{
  g_autoptr (GstStructure) stats = stats_of (h);
  guint64 sum = 0;

  for (; *drops != NULL; drops++)
    sum += counter (stats, *drops);
  g_assert_cmpuint (counter (stats, "frames"), ==, 1);
  g_assert_cmpuint (counter (stats, "boxes-in"), ==, in);
  g_assert_cmpuint (counter (stats, "boxes-out") + sum, ==, in);
  return sum;
}

/* Returns whether the parent of a region is dropped for its label only, so that the region may be
 * kept without it. */
static gboolean
may_lose_parent (GPtrArray *tagged, const GstVideoRegionOfInterestMeta *region)
{
  gint by;

  for (guint i = 0; i < tagged->len && region->parent_id != 0; i++) {
    const GstVideoRegionOfInterestMeta *parent = tagged->pdata[i];

    if (parent->id == region->parent_id && fuzz_regions_is_detection (parent))
      return g_strcmp0 (fuzz_regions_state (parent, &by), "dropped-class") == 0;
  }
  return FALSE;
}

/* Checks that a region is left unchanged, but for the id of a parent that is not left. */
static void
check_left (GPtrArray *tagged, guint i, const GstVideoRegionOfInterestMeta *left)
{
  GstVideoRegionOfInterestMeta expected = *(GstVideoRegionOfInterestMeta *) tagged->pdata[i];

  if (left->parent_id == 0 && may_lose_parent (tagged, &expected))
    expected.parent_id = 0;
  g_assert (fuzz_regions_equal (&expected, left, TRUE));
}

/* Checks the decisions that were tagged against the regions before and those that the other filter
 * did not remove. */
static void
check_decisions (GPtrArray *before, GPtrArray *tagged, GPtrArray *left, gboolean changes_kept)
{
  const guint detections = count_detections (before);
  guint next = 0;
  gint by;

  g_assert_cmpuint (tagged->len, ==, before->len);
  for (guint i = 0; i < before->len; i++) {
    const gchar *state = fuzz_regions_state (tagged->pdata[i], &by);
    gboolean stays = state == NULL || g_str_equal (state, "kept");

    g_assert (state == NULL || fuzz_regions_is_detection (before->pdata[i]));
    g_assert_cmpint (by, >=, -1);
    g_assert_cmpint (by, <, (gint) detections);
    if (!stays || !changes_kept || state == NULL)
      g_assert (fuzz_regions_equal (before->pdata[i], tagged->pdata[i], TRUE));
    if (stays) {
      g_assert_cmpuint (next, <, left->len);
      check_left (tagged, i, left->pdata[next]);
      next++;
    }
  }
  g_assert_cmpuint (next, ==, left->len);
}

/* Appends the boxes of one buffer to those of another one, which gives ids that are not in use. */
static GstBuffer *
check_append (GstBuffer *target, GstBuffer *source)
{
  BoxMetaReading *reading = box_meta_reading_new ();
  guint count;

  target = gst_buffer_make_writable (target);
  g_autoptr (GPtrArray) before = fuzz_regions_of (target);
  box_meta_reading_take (reading, source, 64, 64, BOX_READ_CUT);
  count = box_append (target, source, reading, 64, 64, "left", FALSE);
  g_autoptr (GPtrArray) after = fuzz_regions_of (target);
  g_assert_cmpuint (after->len, ==, before->len + count);
  for (guint i = before->len; i < after->len; i++) {
    const GstVideoRegionOfInterestMeta *a = after->pdata[i];

    for (guint k = 0; k < after->len; k++) {
      const GstVideoRegionOfInterestMeta *b = after->pdata[k];
      g_assert (k == i || a->id == 0 || a->id != b->id);
    }
  }
  box_meta_reading_free (reading);
  return target;
}

/* Moves the boxes of a buffer and checks that each one is counted. Takes the buffer. */
static void
check_transform (GstBuffer *buffer, const gchar *caps, FuzzBytes *bytes)
{
  GstHarness *h = harness_new ("boxtransform", caps);
  g_autoptr (GPtrArray) before = fuzz_regions_of (buffer);
  const guint len = before->len, detections = count_detections (before);

  choose (h, transform_choices, G_N_ELEMENTS (transform_choices), bytes);
  if (gst_harness_push (h, buffer) == GST_FLOW_OK) {
    g_autoptr (GstBuffer) out = gst_harness_pull (h);
    g_autoptr (GPtrArray) after = fuzz_regions_of (out);
    g_autoptr (GstStructure) stats = stats_of (h);

    g_assert_cmpuint (counter (stats, "frames"), ==, 1);
    if (counter (stats, "boxes-in") > 0)
      g_assert_cmpuint (counter (stats, "boxes-in"), ==, detections);
    g_assert_cmpuint (counter (stats, "outside"), ==, len - after->len);
  }
  gst_harness_teardown (h);
}

static GstBuffer *
filter (GstHarness *h, GstBuffer *buffer)
{
  GstBuffer *out = gst_harness_push_and_pull (h, buffer);

  g_assert (out != NULL);
  return out;
}

/* Sends the boxes of a buffer, which may be tagged, twice through boxsteady, and checks that each
 * one is counted. */
static void
check_steady (GstBuffer *buffer, const gchar *caps, FuzzBytes *bytes)
{
  static const Choices choices[] = { { "confirm", { "1", "3" } }, { "hold", { "0", "9" } },
    { "smoothing", { "0", "0.9" } }, { "score", { "best", "box" } }, { "action", { "tag" } } };
  GstHarness *h = harness_new ("boxsteady", caps);
  g_autoptr (GPtrArray) before = fuzz_regions_of (buffer);
  const guint64 in = 2 * (guint64) count_detections (before);

  choose (h, choices, G_N_ELEMENTS (choices), bytes);
  gst_buffer_unref (filter (h, gst_buffer_ref (buffer)));
  gst_buffer_unref (filter (h, buffer));
  g_autoptr (GstStructure) stats = stats_of (h);
  g_assert_cmpuint (counter (stats, "boxes-in"), ==, in);
  g_assert_cmpuint (counter (stats, "boxes-out") + counter (stats, "unconfirmed"), ==,
      in + counter (stats, "held"));
  gst_harness_teardown (h);
}

/* Selects boxes of a buffer, which may be tagged, and checks that each one is counted. */
static void
check_select (GstBuffer *buffer, const gchar *caps, FuzzBytes *bytes)
{
  static const gchar *const drops[] = { "too-small", "too-large", "wrong-aspect-ratio",
    "outside-roi", "dropped-class", "cut-by-edge", NULL };
  GstHarness *h = harness_new ("boxselect", caps);
  g_autoptr (GPtrArray) before = fuzz_regions_of (buffer);
  gint action;

  choose (h, select_choices, G_N_ELEMENTS (select_choices), bytes);
  buffer = filter (h, buffer);
  g_autoptr (GPtrArray) after = fuzz_regions_of (buffer);
  const guint64 sum = check_stats (h, count_detections (before), drops);
  g_object_get (h->element, "action", &action, NULL);
  g_assert_cmpuint (before->len - after->len, ==, action == 0 ? sum : 0);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

static void
start (void)
{
  if (gst_is_initialized ())
    return;
  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE); /* because no other plugin is used */
  gst_init (NULL, NULL);
  GST_PLUGIN_STATIC_REGISTER (nms);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const gchar *const drops[] = { "suppressed", "below-score", "not-candidate", "over-cap",
    "too-few-neighbors", "no-score", "invalid", NULL };
  FuzzBytes bytes = { data, size }, same;
  guint8 how = fuzz_take_byte (&bytes);
  const gchar *caps = all_caps[fuzz_take_byte (&bytes) % G_N_ELEMENTS (all_caps)];
  GstHarness *remove, *tag;
  GstBuffer *original, *shared, *removed, *tagged;
  gint method;

  start ();
  remove = harness_new ("nmsfilter", caps);
  tag = harness_new ("nmsfilter", caps);
  gst_util_set_object_arg (G_OBJECT (tag->element), "action", "tag");
  same = bytes;
  choose (remove, filter_choices, G_N_ELEMENTS (filter_choices), &bytes);
  choose (tag, filter_choices, G_N_ELEMENTS (filter_choices), &same);
  FuzzBytes transform = bytes, select;
  fuzz_take (&bytes, &(guint64) { 0 }, sizeof (guint64)); /* those of boxtransform */
  same = bytes;
  original = fuzz_regions_new (&bytes);
  /* a buffer that is shared is copied, another one is changed in its place */
  shared = how & 1 ? gst_buffer_ref (original) : fuzz_regions_new (&same);
  g_autoptr (GPtrArray) before = fuzz_regions_of (original);
  const guint in = count_detections (before);
  fuzz_count (in);

  removed = filter (remove, shared);
  tagged = filter (tag, gst_buffer_ref (original));
  g_autoptr (GPtrArray) left = fuzz_regions_of (removed);
  g_autoptr (GPtrArray) with_tags = fuzz_regions_of (tagged);
  g_object_get (remove->element, "method", &method, NULL);
  check_decisions (before, with_tags, left, method != 0);
  g_assert_cmpuint (check_stats (remove, in, drops), ==, before->len - left->len);
  g_assert_cmpuint (check_stats (tag, in, drops), ==, before->len - left->len);

  select = transform;
  check_steady (gst_buffer_ref (how & 2 ? tagged : original), caps, &select);
  select = transform;
  check_select (gst_buffer_ref (tagged), caps, &select);
  tagged = check_append (tagged, removed);
  check_transform (how & 2 ? tagged : gst_buffer_ref (removed), caps, &transform);
  if (!(how & 2))
    gst_buffer_unref (tagged);
  gst_buffer_unref (removed);
  gst_buffer_unref (original);
  gst_harness_teardown (remove);
  gst_harness_teardown (tag);
  return 0;
}
