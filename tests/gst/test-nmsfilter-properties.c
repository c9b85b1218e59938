/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: properties: defaults, ranges, flags, changes while playing, control
 * sources, invalid values.
 */
#include "gstboxes.h"
#include "gstrunner.h"

#include <gst/base/gstbasetransform.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

static void
test_defaults (void)
{
  GstElement *element = element_new ("nmsfilter");
  GParamSpec **specs;
  guint i, n, checked = 0;

  specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  for (i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    if (specs[i]->owner_type != G_OBJECT_TYPE (element) || g_str_equal (specs[i]->name, "stats"))
      continue;
    g_value_init (&value, specs[i]->value_type);
    g_object_get_property (G_OBJECT (element), specs[i]->name, &value);
    if (!g_param_value_defaults (specs[i], &value))
      g_error ("%s is not its default", specs[i]->name);
    g_value_unset (&value);
    checked++;
  }
  g_assert_cmpuint (checked, >=, 17);
  g_free (specs);
  gst_object_unref (element);
}

/* name, type, default as text, controllable: users and stored settings depend on them */
static const struct
{
  const gchar *name, *type, *value;
  gboolean controllable;
} fixed[] = {
  { "iou-threshold", "gfloat", "0.5", TRUE },
  { "score-threshold", "gdouble", "-inf", TRUE },
  { "max-detections", "guint", "0", TRUE },
  { "max-per-class", "guint", "0", TRUE },
  { "max-candidates", "guint", "0", TRUE },
  { "class-agnostic", "gboolean", "false", TRUE },
  { "inclusive", "gboolean", "false", TRUE },
  { "method", "GstNmsMethod", "hard", FALSE },
  { "metric", "GstNmsMetric", "iou", FALSE },
  { "min-size-ratio", "gfloat", "0", TRUE },
  { "method-options", "GstStructure", NULL, FALSE },
  { "engine", "GstNmsEngine", "auto", FALSE },
  { "missing-score", "GstNmsMissingScore", "neighbors", FALSE },
  { "min-neighbors", "guint", "0", TRUE },
  { "classes", "gchararray", NULL, FALSE },
  { "class-options", "GstStructure", NULL, FALSE },
  { "class-groups", "gchararray", NULL, FALSE },
  { "action", "GstNmsAction", "remove", FALSE },
  { "interval", "guint64", "0", TRUE },
};

static void
test_names_and_flags (void)
{
  GstElement *element = element_new ("nmsfilter");
  guint i;

  for (i = 0; i < G_N_ELEMENTS (fixed); i++) {
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), fixed[i].name);
    gchar *text;

    g_assert_nonnull (spec);
    g_assert_cmpstr (g_type_name (spec->value_type), ==, fixed[i].type);
    g_assert_true (spec->flags & GST_PARAM_MUTABLE_PLAYING);
    g_assert_cmpint ((spec->flags & GST_PARAM_CONTROLLABLE) != 0, ==, fixed[i].controllable);
    g_assert_cmpuint (strlen (g_param_spec_get_blurb (spec)), >, 20);
    if (fixed[i].value) {
      text = gst_value_serialize (g_param_spec_get_default_value (spec));
      g_assert_cmpstr (text, ==, fixed[i].value);
      g_free (text);
    }
  }
  gst_object_unref (element);
}

static void
test_enum_numbers (void)
{
  static const struct
  {
    const gchar *property, *nick;
    gint value;
  } rows[] = {
    { "method", "hard", 0 },
    { "metric", "iou", 0 },
    { "engine", "auto", 0 },
    { "engine", "sequential", 1 },
    { "engine", "sorted", 2 },
    { "engine", "spatial", 3 },
    { "missing-score", "neighbors", 0 },
    { "missing-score", "area", 1 },
    { "missing-score", "order", 2 },
    { "missing-score", "drop", 3 },
    { "action", "remove", 0 },
    { "action", "tag", 1 },
  };
  GstElement *element = element_new ("nmsfilter");
  guint i;

  for (i = 0; i < G_N_ELEMENTS (rows); i++) {
    gint value;

    gst_util_set_object_arg (G_OBJECT (element), rows[i].property, rows[i].nick);
    g_object_get (element, rows[i].property, &value, NULL);
    g_assert_cmpint (value, ==, rows[i].value);
  }
  gst_object_unref (element);
}

/* GLib changed this message from a warning to a critical between 2.74 and 2.84. */
static void
expect_out_of_range (void)
{
  g_test_expect_message ("GLib-GObject",
      glib_check_version (2, 80, 0) == NULL ? G_LOG_LEVEL_CRITICAL : G_LOG_LEVEL_WARNING,
      "*out of range*");
}

static void
test_out_of_range (void)
{
  static const struct
  {
    const gchar *name;
    gdouble value;
  } rows[] = {
    { "iou-threshold", 1.5 },
    { "iou-threshold", -0.1 },
  };
  GstElement *element = element_new ("nmsfilter iou-threshold=0.25");
  gfloat value;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (rows); i++) {
    expect_out_of_range ();
    g_object_set (element, rows[i].name, rows[i].value, NULL);
    g_test_assert_expected_messages ();
    g_object_get (element, "iou-threshold", &value, NULL);
    g_assert_cmpfloat (value, ==, 0.25f);
  }
  expect_out_of_range ();
  g_object_set (element, "engine", 5, NULL);
  g_test_assert_expected_messages ();
  gst_object_unref (element);
}

static void
test_round_trip (void)
{
  GstElement *element = element_new (
      "nmsfilter iou-threshold=0.3 score-threshold=-2 "
      "max-detections=4294967295 max-per-class=7 max-candidates=9 class-agnostic=true "
      "inclusive=true "
      "engine=sorted missing-score=area min-neighbors=3 classes=\"person, traffic light\" "
      "action=tag interval=5 class-options=o,car=[o,max=5]");
  gfloat iou;
  gdouble score;
  guint max, per_class, candidates, neighbors;
  gboolean agnostic, inclusive;
  gint engine, missing, action;
  guint64 interval;
  gchar *classes;
  GstStructure *options;

  g_object_get (element, "iou-threshold", &iou, "score-threshold", &score, "max-detections", &max,
      "max-per-class", &per_class, "max-candidates", &candidates, "class-agnostic", &agnostic,
      "inclusive", &inclusive, "engine", &engine, "missing-score", &missing, "min-neighbors",
      &neighbors, "classes", &classes, "action", &action, "interval", &interval, "class-options",
      &options, NULL);
  g_assert_cmpfloat (iou, ==, 0.3f);
  g_assert_cmpfloat (score, ==, -2);
  g_assert_cmpuint (max, ==, G_MAXUINT);
  g_assert_cmpuint (per_class, ==, 7);
  g_assert_cmpuint (candidates, ==, 9);
  g_assert_true (agnostic && inclusive);
  g_assert_cmpint (engine, ==, 2);
  g_assert_cmpint (missing, ==, 1);
  g_assert_cmpuint (neighbors, ==, 3);
  g_assert_cmpstr (classes, ==, "person, traffic light");
  g_assert_cmpint (action, ==, 1);
  g_assert_cmpuint (interval, ==, 5);
  g_assert_true (gst_structure_has_field (options, "car"));
  g_object_set (element, "class-options", NULL, "classes", NULL, NULL);
  gst_structure_free (options);
  g_free (classes);
  g_object_get (element, "class-options", &options, "classes", &classes, NULL);
  g_assert_null (options);
  g_assert_null (classes);
  gst_object_unref (element);
}

static GstBuffer *
pair (GstClockTime pts)
{
  GstBuffer *buffer = frame_new (pts);

  add_scored (buffer, 1, "a", 0, 0, 100, 100, 0.9);
  add_scored (buffer, 2, "b", 20, 0, 100, 100, 0.5); /* 2/3 */
  add_scored (buffer, 3, "a", 20, 0, 100, 100, 0.4);
  return buffer;
}

/* Each property takes effect with the next buffer, and can be set back. */
static void
test_changes_while_playing (void)
{
  static const gchar *const rows[][3] = {
    { "iou-threshold", "0.5", "1 2" },
    { "iou-threshold", "0.7", "1 2 3" },
    { "class-agnostic", "true", "1 2" },
    { "iou-threshold", "0.5", "1" },
    { "class-agnostic", "false", "1 2" },
    { "score-threshold", "0.6", "1" },
    { "score-threshold", "-inf", "1 2" },
    { "max-detections", "1", "1" },
    { "max-detections", "0", "1 2" },
    { "iou-threshold", "1", "1 2 3" },
    { "max-per-class", "1", "1 2" },
    { "max-per-class", "0", "1 2 3" },
    { "iou-threshold", "0.5", "1 2" },
    { "classes", "b", "1 2 3" },
    { "classes", "", "1 2" },
    { "action", "tag", "1 2 3" },
    { "action", "remove", "1 2" },
    { "class-options", "o,a=[o,iou-threshold=1]", "1 2 3" },
    { "class-options", "o", "1 2" },
    { "class-groups", "a,b", "1" },
    { "class-groups", "", "1 2" },
  };
  GstHarness *h = harness_new ("nmsfilter");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_test_message ("%s=%s", rows[i][0], rows[i][1]);
    gst_util_set_object_arg (G_OBJECT (h->element), rows[i][0], rows[i][1]);
    expect_through (h, pair (0), rows[i][2]);
  }
  gst_harness_teardown (h);
}

static void
test_control_source (void)
{
  GstHarness *h = harness_new ("nmsfilter");
  GstControlSource *source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *timed = GST_TIMED_VALUE_CONTROL_SOURCE (source);
  gfloat value;

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_object_add_control_binding (GST_OBJECT (h->element),
      gst_direct_control_binding_new (GST_OBJECT (h->element), "iou-threshold", source));
  gst_timed_value_control_source_set (timed, 0, 0.0);
  gst_timed_value_control_source_set (timed, GST_SECOND, 1.0);

  expect_through (h, pair (0), "1 2");
  expect_through (h, pair (600 * GST_MSECOND), "1 2");
  expect_through (h, pair (800 * GST_MSECOND), "1 2 3");
  g_object_get (h->element, "iou-threshold", &value, NULL);
  g_assert_cmpfloat (ABS (value - 0.8f), <, 1e-6f);
  /* no timestamp: the value stays the same */
  expect_through (h, pair (GST_CLOCK_TIME_NONE), "1 2 3");
  gst_object_unref (source);
  gst_harness_teardown (h);
}

/* The control source works in stream time, not in timestamps. */
static void
test_control_source_after_seek (void)
{
  GstHarness *h = harness_new ("nmsfilter");
  GstControlSource *source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *timed = GST_TIMED_VALUE_CONTROL_SOURCE (source);
  GstSegment segment;

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
  gst_object_add_control_binding (GST_OBJECT (h->element),
      gst_direct_control_binding_new (GST_OBJECT (h->element), "iou-threshold", source));
  gst_timed_value_control_source_set (timed, 0, 0.5);
  gst_timed_value_control_source_set (timed, 10 * GST_SECOND, 0.9);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = 100 * GST_SECOND;
  segment.time = 10 * GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  expect_through (h, pair (100 * GST_SECOND), "1 2 3");
  gst_object_unref (source);
  gst_harness_teardown (h);
}

static void
test_element (void)
{
  GstElementFactory *factory = gst_element_factory_find ("nmsfilter");
  GstElement *element = element_new ("nmsfilter");

  g_assert_nonnull (factory);
  g_assert_cmpuint (gst_plugin_feature_get_rank (GST_PLUGIN_FEATURE (factory)), ==, GST_RANK_NONE);
  g_assert_cmpstr (gst_element_factory_get_metadata (factory, GST_ELEMENT_METADATA_KLASS), ==,
      "Filter/Metadata/Video");
  g_assert_false (gst_base_transform_is_qos_enabled (GST_BASE_TRANSFORM (element)));
  g_assert_false (gst_base_transform_is_passthrough (GST_BASE_TRANSFORM (element)));
  gst_object_unref (element);
  gst_object_unref (factory);
}

/* A process reads NMS_ISA only once, so the program starts itself again. */
static void
print_start (void)
{
  GstElement *pipeline = gst_parse_launch ("fakesrc num-buffers=1 ! nmsfilter ! fakesink", NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 30 * GST_SECOND,
      GST_MESSAGE_WARNING | GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  if (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
    gst_message_parse_warning (message, &error, NULL);
    g_print ("warning: %s\n", error->message);
    g_error_free (error);
  } else {
    g_print ("%s\n", message ? GST_MESSAGE_TYPE_NAME (message) : "nothing");
  }
  g_clear_pointer (&message, gst_message_unref);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

static gchar *
start_with_isa (const gchar *level)
{
  gchar **environment = g_environ_setenv (g_get_environ (), "NMS_ISA", level, TRUE);
  gchar *self = g_file_read_link ("/proc/self/exe", NULL);
  gchar *argv[] = { self, (gchar *) "--print-start", NULL };
  gchar *output = NULL;
  gint status;

  g_assert_true (
      g_spawn_sync (NULL, argv, environment, 0, NULL, NULL, &output, NULL, &status, NULL));
  g_assert_cmpint (status, ==, 0);
  g_free (self);
  g_strfreev (environment);
  return output;
}

static void
test_impossible_isa (void)
{
  gchar *fast = start_with_isa ("fast"), *scalar = start_with_isa ("scalar");

  g_assert_true (g_str_has_prefix (fast, "warning: NMS_ISA=fast: unknown"));
  g_assert_cmpstr (scalar, ==, "eos\n");
  g_free (fast);
  g_free (scalar);
}

/* A lock that the element held would block the reading of the property here. */
static void
collect_engine (GObject *filter, GParamSpec *pspec, gpointer user_data)
{
  gchar *used;

  (void) pspec;
  g_object_get (filter, "engine-in-use", &used, NULL);
  g_ptr_array_add (user_data, used ? used : g_strdup ("none"));
}

static void
push_boxes (GstHarness *h, guint buffers, guint boxes)
{
  for (guint i = 0; i < buffers; i++) {
    GstBuffer *buffer = frame_new (0);

    for (guint k = 0; k < boxes; k++)
      add_scored (buffer, (gint) k + 1, "a", 10 * k, 0, 8, 8, 0.5);
    gst_buffer_unref (through (h, buffer));
  }
}

/* Notifies of the first engine, of each change and of the reset, and not per buffer. */
static void
test_notifies_of_engine (void)
{
  static const gchar *const expected[] = { "sequential/", "sorted/" };
  GstHarness *h = harness_new ("nmsfilter engine=sequential");
  GPtrArray *engines = g_ptr_array_new_with_free_func (g_free);

  g_signal_connect (h->element, "notify::engine-in-use", G_CALLBACK (collect_engine), engines);
  push_boxes (h, 2, 0);
  g_assert_cmpuint (engines->len, ==, 0);
  push_boxes (h, 3, 2);
  g_assert_cmpuint (engines->len, ==, 1);
  gst_util_set_object_arg (G_OBJECT (h->element), "engine", "sorted");
  g_assert_cmpuint (engines->len, ==, 1); /* no run yet */
  push_boxes (h, 3, 2);
  g_assert_cmpuint (engines->len, ==, 2);
  gst_harness_teardown (h);

  for (guint i = 0; i < engines->len; i++)
    g_assert_true (g_str_has_prefix (g_ptr_array_index (engines, i), expected[i]));
  g_ptr_array_unref (engines);
}

/* In the states of a pipeline: READY keeps the value, PAUSED resets it. */
static void
test_notifies_of_reset (void)
{
  GstHarness *h = harness_new ("nmsfilter engine=sorted");
  GPtrArray *engines = g_ptr_array_new_with_free_func (g_free);

  push_boxes (h, 1, 2);
  g_signal_connect (h->element, "notify::engine-in-use", G_CALLBACK (collect_engine), engines);
  gst_element_set_state (h->element, GST_STATE_READY);
  g_assert_cmpuint (engines->len, ==, 0);
  gst_element_set_state (h->element, GST_STATE_PAUSED);
  g_assert_cmpuint (engines->len, ==, 1);
  g_assert_cmpstr (g_ptr_array_index (engines, 0), ==, "none");
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_element_set_state (h->element, GST_STATE_PAUSED);
  g_assert_cmpuint (engines->len, ==,
      1); /* not notified again, because the value was NULL already */
  gst_harness_teardown (h);
  g_ptr_array_unref (engines);
}

static void
test_notifies_of_stats (void)
{
  GstHarness *h = harness_new ("nmsfilter");
  gint count = 0;

  g_signal_connect (h->element, "notify::stats", G_CALLBACK (count_notification), &count);
  push_boxes (h, 3, 2);
  g_assert_cmpint (count, ==, 0);
  g_assert_true (gst_harness_push_event (h, gst_event_new_eos ()));
  g_assert_cmpint (count, ==, 1);
  gst_harness_teardown (h);
}

static int
child (const char *argument)
{
  if (!g_str_equal (argument, "--print-start"))
    return -1;
  gst_init (NULL, NULL);
  print_start ();
  gst_deinit ();
  return 0;
}

static const TestCase cases[] = { { "/nmsfilter/properties/defaults", test_defaults },
  { "/nmsfilter/properties/names-and-flags", test_names_and_flags },
  { "/nmsfilter/properties/enum-numbers", test_enum_numbers },
  { "/nmsfilter/properties/out-of-range", test_out_of_range },
  { "/nmsfilter/properties/round-trip", test_round_trip },
  { "/nmsfilter/properties/changes-while-playing", test_changes_while_playing },
  { "/nmsfilter/properties/control-source", test_control_source },
  { "/nmsfilter/properties/control-source-after-seek", test_control_source_after_seek },
  { "/nmsfilter/properties/element", test_element },
  { "/nmsfilter/properties/impossible-isa", test_impossible_isa },
  { "/nmsfilter/properties/notifies-of-engine", test_notifies_of_engine },
  { "/nmsfilter/properties/notifies-of-reset", test_notifies_of_reset },
  { "/nmsfilter/properties/notifies-of-stats", test_notifies_of_stats }, { NULL } };

GST_TEST_PROGRAM (cases, .child = child);
