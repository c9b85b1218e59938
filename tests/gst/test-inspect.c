/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The output of gst-inspect-1.0 for the elements: the author, the class, an example
 * pipeline, and every field name of the structures that they use.
 */
#include "gstrunner.h"

/* Returns the names of the elements of this build, to be freed with g_strfreev. */
static gchar **
elements_new (void)
{
  const gchar *names = g_getenv ("NMS_ELEMENTS");

  g_assert_nonnull (names);
  return g_strsplit (names, " ", -1);
}

static const gchar *
metadata (GstElementFactory *factory, const gchar *key)
{
  const gchar *value = gst_element_factory_get_metadata (factory, key);

  g_assert_nonnull (value);
  return value;
}

static void
test_metadata (void)
{
  static const gchar *const with_presets[] = { "nmsfilter", "boxselect", "boxsteady", NULL };
  g_auto (GStrv) elements = elements_new ();

  for (guint i = 0; elements[i]; i++) {
    g_autoptr (GstElementFactory) factory = gst_element_factory_find (elements[i]);
    g_autofree gchar *in_example = g_strconcat (" ! ", elements[i], " ", NULL);
    const gboolean has_presets = g_strv_contains (with_presets, elements[i]);

    g_assert_nonnull (factory);
    g_assert_cmpuint (gst_plugin_feature_get_rank (GST_PLUGIN_FEATURE (factory)), ==,
        GST_RANK_NONE);
    g_assert_cmpint (gst_element_factory_has_interface (factory, "GstPreset"), ==, has_presets);
    g_assert_cmpstr (metadata (factory, "author"), ==, "The gst-nms authors");
    g_assert_true (g_pattern_match_simple ("Filter/*/Video", metadata (factory, "klass")));
    g_assert_true (g_str_has_prefix (metadata (factory, "example"), "gst-launch-1.0 "));
    g_assert_nonnull (strstr (metadata (factory, "example"), in_example));
  }
}

/* Fails unless the description of the property has this whole word. */
static void
assert_described (GstElement *element, const gchar *property, const gchar *word)
{
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), property);
  g_autofree gchar *pattern = g_strdup_printf ("(?<![-\\w])%s(?![-\\w])", word);

  g_assert_nonnull (spec);
  if (!g_regex_match_simple (pattern, g_param_spec_get_blurb (spec), 0, 0))
    g_error ("%s of %s does not say \"%s\"", property, GST_OBJECT_NAME (element), word);
}

static void
test_tags (void)
{
  static const gchar *const lines[] = { "nmsfilter", "boxselect", "boxsteady" };
  static const gchar *const words[] = { "nms", "state", "suppressed-by", "kept", "stats" };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    g_autoptr (GstElement) element = element_new (lines[i]);

    for (guint k = 0; k < G_N_ELEMENTS (words); k++)
      assert_described (element, "action", words[k]);
  }
}

/* Fails unless the description of the property has the names of all fields. */
static void
assert_fields_described (GstElement *element, const gchar *property, const GstStructure *structure)
{
  for (gint i = 0; i < gst_structure_n_fields (structure); i++)
    assert_described (element, property, gst_structure_nth_field_name (structure, i));
}

/* The states of tags are fields of stats. */
static void
test_stats (void)
{
  g_auto (GStrv) elements = elements_new ();

  for (guint i = 0; elements[i]; i++) {
    g_autoptr (GstElement) element = gst_element_factory_make (elements[i], NULL);
    g_autoptr (GstStructure) stats = NULL;

    g_assert_nonnull (element);
    if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), "stats") == NULL)
      continue;
    g_object_get (element, "stats", &stats, NULL);
    assert_fields_described (element, "stats", stats);
  }
}

static void
on_frame_boxes (GstElement *element, GstBuffer *buffer, GstStructure *boxes, guint *fields)
{
  const GValue *array = gst_structure_get_value (boxes, "boxes");
  const GstStructure *box = gst_value_get_structure (gst_value_array_get_value (array, 0));

  assert_fields_described (element, "emit-signals", boxes);
  assert_fields_described (element, "emit-signals", box);
  *fields = gst_structure_n_fields (boxes) + gst_structure_n_fields (box);
}

/* Checks the signal with a box that has all fields. */
static void
test_frame_boxes (void)
{
  static const gchar *const structures[] = { "rotation, angle=(double)0.5;",
    "object_id, id=(int)12;", "nms, state=(string)suppressed, suppressed-by=(int)0;" };
  g_autoptr (GstHarness) h = NULL;
  GstBuffer *buffer;
  guint fields = 0;

  if (!has_element ("boxrecord")) {
    g_test_skip ("built without boxrecord");
    return;
  }
  h = harness_new ("boxrecord emit-signals=true");
  buffer = frame_with ("3 a 10:20:30:40 0.5 in 7 as 1");
  for (guint i = 0; i < G_N_ELEMENTS (structures); i++)
    add_structure (gst_buffer_get_video_region_of_interest_meta_id (buffer, 3), structures[i]);
  g_signal_connect (h->element, "frame-boxes", G_CALLBACK (on_frame_boxes), &fields);
  gst_buffer_unref (through (h, buffer));
  g_assert_cmpuint (fields, ==, 4 + 17);
}

/* Properties of GstAggregator that boxmerge does not follow say so. */
static void
test_without_effect (void)
{
  g_autoptr (GstElement)
      element = element_new ("boxmerge start-time-selection=set start-time=5000000000");

  assert_described (element, "start-time", "Has no effect");
  assert_described (element, "start-time-selection", "Has no effect");
  assert_values (element, "start-time start-time-selection", "18446744073709551615 zero");
}

static const TestCase cases[] = { CASE (test_metadata), CASE (test_tags), CASE (test_stats),
  CASE (test_frame_boxes), CASE (test_without_effect), { NULL } };

GST_TEST_PROGRAM (cases);
