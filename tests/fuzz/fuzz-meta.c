/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz-meta: sends regions made of the bytes through nmsfilter with action=remove and with
 * action=tag, and the result through boxsteady, boxtransform and box_append. Both nmsfilters must
 * make the same decisions; all counters, and the regions that may not change, are checked.
 */
#include "fuzzbytes.h"
#include "gstboxes.h"
#include "meta/boxappend.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

GST_PLUGIN_STATIC_DECLARE (nms);

#define MOST_REGIONS 40
#define PICK(bytes, list) (list)[fuzz_take_byte (bytes) % G_N_ELEMENTS (list)]

#define CAPS(width, height) \
  "video/x-raw,format=GRAY8,framerate=10/1,width=" #width ",height=" #height
static const gchar *const all_caps[] = { CAPS (64, 64), CAPS (64, 64), CAPS (1, 1),
  CAPS (32767, 32767), "application/x-no-size" };

/* -------------------------------------------------------------------- regions */

/* Lists, because GLib keeps each new name until the process ends. */
static const gchar *const labels[] = { "person", "car", "", "face", "p\303\251,=[", "roi/person" };
static const gchar *const names[] = { "detection", "rotation", "nms", "source", "object_id",
  "recorded", "roi/hint", "other" };
static const gchar *const fields[] = { "confidence", "x_min", "y_min", "x_max", "y_max", "angle",
  "label_id", "id", "region_id", "parent_id", "state", "suppressed-by", "name", "cut", "other" };
static const gchar *const texts[] = { "kept", "suppressed", "main", "left", "", "1e999" };

/* Returns a small number, half of one from a wider range, or any 32 bits. */
static gint64
take_integer (FuzzBytes *bytes)
{
  gint32 any;
  gint8 small;

  switch (fuzz_take_byte (bytes) & 3) {
    case 0:
    case 1:
      fuzz_take (bytes, &small, sizeof small);
      return small;
    case 2:
      return (gint64) fuzz_take_byte (bytes) * 16;
    default:
      fuzz_take (bytes, &any, sizeof any);
      return any;
  }
}

/* Sets a field to a value of any type, mostly of the right one. */
static void
set_field (GstStructure *s, const gchar *name, FuzzBytes *bytes)
{
  gdouble number;

  switch (fuzz_take_byte (bytes) % 12) {
    default:
      gst_structure_set (s, name, G_TYPE_DOUBLE, (gint8) fuzz_take_byte (bytes) / 64.0, NULL);
      return;
    case 1:
      fuzz_take (bytes, &number, sizeof number);
      gst_structure_set (s, name, G_TYPE_DOUBLE, number, NULL);
      return;
    case 2:
      gst_structure_set (s, name, G_TYPE_INT, (gint) take_integer (bytes), NULL);
      return;
    case 3:
      gst_structure_set (s, name, G_TYPE_STRING, PICK (bytes, texts), NULL);
      return;
    case 4:
      gst_structure_set (s, name, G_TYPE_STRING, NULL, NULL);
      return;
    case 5:
      gst_structure_set (s, name, G_TYPE_BOOLEAN, fuzz_take_byte (bytes) & 1, NULL);
      return;
    case 6:
      gst_structure_set (s, name, G_TYPE_INT64, take_integer (bytes) * 1048576, NULL);
      return;
    case 7:
      gst_structure_set (s, name, G_TYPE_UINT, (guint) take_integer (bytes), NULL);
      return;
    case 8:
      gst_structure_set (s, name, G_TYPE_FLOAT, fuzz_take_float (bytes), NULL);
      return;
    case 9:
      gst_structure_set (s, name, GST_TYPE_FRACTION, (gint) (gint8) fuzz_take_byte (bytes), 3,
          NULL);
      return;
  }
}

/* Each structure has the field "mark", which no element knows. */
static GstStructure *
take_structure (FuzzBytes *bytes, gint mark)
{
  GstStructure *s = gst_structure_new (PICK (bytes, names), "mark", G_TYPE_INT, mark, NULL);
  guint count = fuzz_take_byte (bytes) % 8;

  for (guint i = 0; i < count; i++)
    set_field (s, PICK (bytes, fields), bytes);
  return s;
}

/* Adds a box as a detector writes it, from a grid of 32 x 32 small places. */
static void
add_natural (GstBuffer *buffer, FuzzBytes *bytes, gint mark)
{
  gint x = fuzz_take_byte (bytes) & 31, y = fuzz_take_byte (bytes) & 31;
  gint w = fuzz_take_byte (bytes) & 31, h = fuzz_take_byte (bytes) & 31;
  GstVideoRegionOfInterestMeta *roi = add_region (buffer, mark + 1, PICK (bytes, labels),
      (Rect) { x, y, (guint) w, (guint) h });

  roi->parent_id = fuzz_take_byte (bytes) % (2 * MOST_REGIONS);
  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("detection", "mark", G_TYPE_INT, mark, "x_min", G_TYPE_DOUBLE, x / 64.0,
          "x_max", G_TYPE_DOUBLE, (x + w) / 64.0, "y_min", G_TYPE_DOUBLE, y / 64.0, "y_max",
          G_TYPE_DOUBLE, (y + h) / 64.0, "confidence", G_TYPE_DOUBLE, fuzz_take_byte (bytes) / 64.0,
          NULL));
}

static void
add_hostile (GstBuffer *buffer, FuzzBytes *bytes, gint mark)
{
  guint x = (guint) take_integer (bytes), y = (guint) take_integer (bytes);
  guint w = (guint) take_integer (bytes), h = (guint) take_integer (bytes);
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (buffer,
      PICK (bytes, labels), x, y, w, h);
  guint count = fuzz_take_byte (bytes) % 5;

  roi->id = (gint) take_integer (bytes);
  roi->parent_id = (gint) take_integer (bytes);
  for (guint i = 0; i < count; i++)
    gst_video_region_of_interest_meta_add_param (roi, take_structure (bytes, mark));
}

/* Returns a buffer with up to MOST_REGIONS regions. The same bytes make the same buffer. */
static GstBuffer *
regions_new (FuzzBytes *bytes)
{
  GstBuffer *buffer = frame_new (GST_CLOCK_TIME_NONE);

  for (gint i = 0; i < MOST_REGIONS && bytes->left > 0; i++)
    if (fuzz_take_byte (bytes) & 1)
      add_natural (buffer, bytes, i);
    else
      add_hostile (buffer, bytes, i);
  return buffer;
}

/* Returns pointers to the regions on a buffer, in its order. */
static GPtrArray *
regions_of (GstBuffer *buffer)
{
  GPtrArray *regions = g_ptr_array_new ();
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
              GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
      != NULL)
    g_ptr_array_add (regions, meta);
  return regions;
}

/* Returns whether docs/metadata.md calls a region a detection. */
static gboolean
is_detection (const GstVideoRegionOfInterestMeta *roi)
{
  gboolean hints = roi->params != NULL;

  for (const GList *l = roi->params; l; l = l->next)
    hints = hints && g_str_has_prefix (gst_structure_get_name (l->data), "roi/");
  return !hints;
}

static guint
count_detections (GstBuffer *buffer)
{
  g_autoptr (GPtrArray) regions = regions_of (buffer);
  guint count = 0;

  for (guint i = 0; i < regions->len; i++)
    count += is_detection (regions->pdata[i]);
  return count;
}

/* Returns the state in the structure that action=tag wrote, NULL if it wrote none. Writes
 * suppressed-by, or -1. */
static const gchar *
state_of (const GstVideoRegionOfInterestMeta *roi, gint *suppressed_by)
{
  const GstStructure *s =
      gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) roi, "nms");

  *suppressed_by = -1;
  if (s == NULL || gst_structure_has_field (s, "mark"))
    return NULL;
  gst_structure_get_int (s, "suppressed-by", suppressed_by);
  return gst_structure_get_string (s, "state");
}

/* Returns the label, place, ids and structures of a region, without what action=tag adds. Free
 * it. */
static gchar *
text_of (const GstVideoRegionOfInterestMeta *roi)
{
  GString *text = g_string_new (g_quark_to_string (roi->roi_type));

  g_string_append_printf (text, " %u,%u,%u,%u %d in %d", roi->x, roi->y, roi->w, roi->h, roi->id,
      roi->parent_id);
  for (const GList *l = roi->params; l; l = l->next)
    if (!gst_structure_has_name (l->data, "nms")) {
      g_autofree gchar *structure = gst_structure_to_string (l->data);

      g_string_append_printf (text, " %s", structure);
    }
  return g_string_free (text, FALSE);
}

static void
assert_equal (const GstVideoRegionOfInterestMeta *a, const GstVideoRegionOfInterestMeta *b)
{
  g_autofree gchar *text = text_of (a), *other = text_of (b);

  g_assert_cmpstr (text, ==, other);
}

/* -------------------------------------------------------------------- elements */

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

/* Checks the counters of an element that got one frame with `in` boxes. Returns the number that it
 * dropped, the sum of the counters `drops`, which NULL ends. */
static guint64
check_stats (GstHarness *h, guint64 in, const gchar *const *drops)
{
  guint64 sum = 0;

  for (; *drops != NULL; drops++)
    sum += stat_of (h->element, *drops);
  assert_stats (h->element, "frames=1");
  g_assert_cmpuint (stat_of (h->element, "boxes-in"), ==, in);
  g_assert_cmpuint (stat_of (h->element, "boxes-out") + sum, ==, in);
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

    if (parent->id == region->parent_id && is_detection (parent))
      return g_strcmp0 (state_of (parent, &by), "dropped-class") == 0;
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
  assert_equal (&expected, left);
}

/* Checks the decisions that were tagged against the regions before and those that the other filter
 * did not remove. */
static void
check_decisions (GstBuffer *original, GstBuffer *with_tags, GstBuffer *removed,
    gboolean changes_kept)
{
  g_autoptr (GPtrArray) before = regions_of (original), tagged = regions_of (with_tags);
  g_autoptr (GPtrArray) left = regions_of (removed);
  const guint detections = count_detections (original);
  guint next = 0;
  gint by;

  g_assert_cmpuint (tagged->len, ==, before->len);
  for (guint i = 0; i < before->len; i++) {
    const gchar *state = state_of (tagged->pdata[i], &by);
    gboolean stays = state == NULL || g_str_equal (state, "kept");

    g_assert (state == NULL || is_detection (before->pdata[i]));
    g_assert_cmpint (by, >=, -1);
    g_assert_cmpint (by, <, (gint) detections);
    if (!stays || !changes_kept || state == NULL)
      assert_equal (before->pdata[i], tagged->pdata[i]);
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
  const guint before = count_on (target);
  guint count;

  target = gst_buffer_make_writable (target);
  box_meta_reading_take (reading, source, 64, 64, BOX_READ_CUT);
  count = box_append (target, source, reading, 64, 64, "left", FALSE);
  g_autoptr (GPtrArray) after = regions_of (target);
  g_assert_cmpuint (after->len, ==, before + count);
  for (guint i = before; i < after->len; i++) {
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
  g_autoptr (GstHarness) h = harness_new_caps ("boxtransform", caps);
  const guint before = count_on (buffer), detections = count_detections (buffer);

  choose (h, transform_choices, G_N_ELEMENTS (transform_choices), bytes);
  if (gst_harness_push (h, buffer) == GST_FLOW_OK) {
    g_autoptr (GstBuffer) out = gst_harness_pull (h);

    assert_stats (h->element, "frames=1");
    if (stat_of (h->element, "boxes-in") > 0)
      g_assert_cmpuint (stat_of (h->element, "boxes-in"), ==, detections);
    g_assert_cmpuint (stat_of (h->element, "outside"), ==, before - count_on (out));
  }
}

/* Sends the boxes of a buffer, which may be tagged, twice through boxsteady, and checks that each
 * one is counted. */
static void
check_steady (GstBuffer *buffer, const gchar *caps, FuzzBytes *bytes)
{
  static const Choices choices[] = { { "confirm", { "1", "3" } }, { "hold", { "0", "9" } },
    { "smoothing", { "0", "0.9" } }, { "score", { "best", "box" } }, { "action", { "tag" } } };
  g_autoptr (GstHarness) h = harness_new_caps ("boxsteady", caps);
  const guint64 in = 2 * (guint64) count_detections (buffer);

  choose (h, choices, G_N_ELEMENTS (choices), bytes);
  gst_buffer_unref (through (h, gst_buffer_ref (buffer)));
  gst_buffer_unref (through (h, buffer));
  g_assert_cmpuint (stat_of (h->element, "boxes-in"), ==, in);
  g_assert_cmpuint (stat_of (h->element, "boxes-out") + stat_of (h->element, "unconfirmed"), ==,
      in + stat_of (h->element, "held"));
}

/* Selects boxes of a buffer, which may be tagged, and checks that each one is counted. */
static void
check_select (GstBuffer *buffer, const gchar *caps, FuzzBytes *bytes)
{
  static const gchar *const drops[] = { "too-small", "too-large", "wrong-aspect-ratio",
    "outside-roi", "dropped-class", "cut-by-edge", NULL };
  g_autoptr (GstHarness) h = harness_new_caps ("boxselect", caps);
  const guint before = count_on (buffer), detections = count_detections (buffer);
  guint64 sum;
  gint action;

  choose (h, select_choices, G_N_ELEMENTS (select_choices), bytes);
  buffer = through (h, buffer);
  sum = check_stats (h, detections, drops);
  g_object_get (h->element, "action", &action, NULL);
  g_assert_cmpuint (before - count_on (buffer), ==, action == 0 ? sum : 0);
  gst_buffer_unref (buffer);
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
  g_autoptr (GstHarness) remove = NULL, tag = NULL;
  g_autoptr (GstBuffer) original = NULL, removed = NULL;
  GstBuffer *shared, *tagged;
  guint in, gone;
  gint method;

  start ();
  remove = harness_new_caps ("nmsfilter", caps);
  tag = harness_new_caps ("nmsfilter action=tag", caps);
  same = bytes;
  choose (remove, filter_choices, G_N_ELEMENTS (filter_choices), &bytes);
  choose (tag, filter_choices, G_N_ELEMENTS (filter_choices), &same);
  FuzzBytes transform = bytes, select;
  fuzz_take (&bytes, &(guint64) { 0 }, sizeof (guint64)); /* those of boxtransform */
  same = bytes;
  original = regions_new (&bytes);
  /* a buffer that is shared is copied, another one is changed in its place */
  shared = how & 1 ? gst_buffer_ref (original) : regions_new (&same);
  in = count_detections (original);
  fuzz_count (in);

  removed = through (remove, shared);
  tagged = through (tag, gst_buffer_ref (original));
  gone = count_on (original) - count_on (removed);
  g_object_get (remove->element, "method", &method, NULL);
  check_decisions (original, tagged, removed, method != 0);
  g_assert_cmpuint (check_stats (remove, in, drops), ==, gone);
  g_assert_cmpuint (check_stats (tag, in, drops), ==, gone);

  select = transform;
  check_steady (gst_buffer_ref (how & 2 ? tagged : original), caps, &select);
  select = transform;
  check_select (gst_buffer_ref (tagged), caps, &select);
  tagged = check_append (tagged, removed);
  check_transform (how & 2 ? tagged : gst_buffer_ref (removed), caps, &transform);
  if (!(how & 2))
    gst_buffer_unref (tagged);
  return 0;
}
