/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: properties: defaults, ranges, flags, changes while playing, control
 * sources, invalid values.
 */
#include "gstrunner.h"

#include <gst/base/gstbasetransform.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

static void
test_defaults (void)
{
  g_autoptr (GstElement) element = element_new ("nmsfilter");
  g_autofree GParamSpec **specs = NULL;
  guint n, checked = 0;

  specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    if (specs[i]->owner_type != G_OBJECT_TYPE (element) || g_str_equal (specs[i]->name, "stats"))
      continue;
    g_object_get_property (G_OBJECT (element), specs[i]->name, &value);
    if (!g_param_value_defaults (specs[i], &value))
      g_error ("%s is not its default", specs[i]->name);
    g_value_unset (&value);
    checked++;
  }
  g_assert_cmpuint (checked, >=, 17);
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
  { "method-options", "GstStructure", "NULL", FALSE },
  { "engine", "GstNmsEngine", "auto", FALSE },
  { "missing-score", "GstNmsMissingScore", "neighbors", FALSE },
  { "min-neighbors", "guint", "0", TRUE },
  { "classes", "gchararray", "NULL", FALSE },
  { "class-options", "GstStructure", "NULL", FALSE },
  { "class-groups", "gchararray", "NULL", FALSE },
  { "action", "GstNmsAction", "remove", FALSE },
  { "interval", "guint64", "0", TRUE },
};

static void
test_names_and_flags (void)
{
  g_autoptr (GstElement) element = element_new ("nmsfilter");

  for (guint i = 0; i < G_N_ELEMENTS (fixed); i++) {
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), fixed[i].name);

    g_assert_nonnull (spec);
    g_assert_cmpstr (g_type_name (spec->value_type), ==, fixed[i].type);
    g_assert_true (spec->flags & GST_PARAM_MUTABLE_PLAYING);
    g_assert_cmpint ((spec->flags & GST_PARAM_CONTROLLABLE) != 0, ==, fixed[i].controllable);
    g_assert_cmpuint (strlen (g_param_spec_get_blurb (spec)), >, 20);
    assert_values (element, fixed[i].name, fixed[i].value);
  }
}

/* The numbers of names are those of their places in these lists. */
static void
test_enum_numbers (void)
{
  static const gchar *const rows[][5] = {
    { "method", "hard" },
    { "metric", "iou" },
    { "engine", "auto", "sequential", "sorted", "spatial" },
    { "missing-score", "neighbors", "area", "order", "drop" },
    { "action", "remove", "tag" },
  };
  g_autoptr (GstElement) element = element_new ("nmsfilter");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (gint number = 0; number < 4 && rows[i][1 + number]; number++) {
      g_object_set (element, rows[i][0], number, NULL);
      assert_values (element, rows[i][0], rows[i][1 + number]);
    }
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
  static const gdouble values[] = { 1.5, -0.1 };
  g_autoptr (GstElement) element = element_new ("nmsfilter iou-threshold=0.25");

  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    expect_out_of_range ();
    g_object_set (element, "iou-threshold", values[i], NULL);
    g_test_assert_expected_messages ();
    assert_values (element, "iou-threshold", "0.25");
  }
  expect_out_of_range ();
  g_object_set (element, "engine", 5, NULL);
  g_test_assert_expected_messages ();
}

static void
test_round_trip (void)
{
  g_autoptr (GstElement) element = element_new (
      "nmsfilter iou-threshold=0.25 score-threshold=-2 max-detections=4294967295 max-per-class=7 "
      "max-candidates=9 class-agnostic=true inclusive=true engine=sorted missing-score=area "
      "min-neighbors=3 classes=\"person, traffic light\" action=tag interval=5 "
      "class-options=o,a=1");

  assert_values (element,
      "iou-threshold score-threshold max-detections max-per-class max-candidates class-agnostic "
      "inclusive engine missing-score min-neighbors classes action interval class-options",
      "0.25 -2 4294967295 7 9 true true sorted area 3 person, traffic light tag 5 o, a=(int)1;");
  g_object_set (element, "class-options", NULL, "classes", NULL, NULL);
  assert_values (element, "class-options classes", "NULL NULL");
}

static GstBuffer *
pair (GstClockTime pts)
{
  GstBuffer *buffer = frame_new (pts);

  /* 2/3 with 1 */
  add_boxes (buffer, "1 a 0,0,100,100 0.9; 2 b 20,0,100,100 0.5; 3 a 20,0,100,100 0.4");
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
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_test_message ("%s=%s", rows[i][0], rows[i][1]);
    gst_util_set_object_arg (G_OBJECT (h->element), rows[i][0], rows[i][1]);
    expect_through (h, pair (0), rows[i][2]);
  }
}

/* Has a control source set iou-threshold to `from` at 0 s and to `to` at a later time. */
static void
control (GstHarness *h, gint mode, gdouble from, gdouble to, GstClockTime time)
{
  g_autoptr (GstControlSource) source = gst_interpolation_control_source_new ();

  g_object_set (source, "mode", mode, NULL);
  gst_object_add_control_binding (GST_OBJECT (h->element),
      gst_direct_control_binding_new (GST_OBJECT (h->element), "iou-threshold", source));
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), 0, from);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), time, to);
}

static void
test_control_source (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  gfloat value;

  control (h, GST_INTERPOLATION_MODE_LINEAR, 0.0, 1.0, GST_SECOND);
  expect_through (h, pair (0), "1 2");
  expect_through (h, pair (600 * GST_MSECOND), "1 2");
  expect_through (h, pair (800 * GST_MSECOND), "1 2 3");
  g_object_get (h->element, "iou-threshold", &value, NULL);
  g_assert_cmpfloat (ABS (value - 0.8f), <, 1e-6f);
  /* no timestamp: the value stays the same */
  expect_through (h, pair (GST_CLOCK_TIME_NONE), "1 2 3");
}

/* The control source works in stream time, not in timestamps. */
static void
test_control_source_after_seek (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");

  control (h, GST_INTERPOLATION_MODE_NONE, 0.5, 0.9, 10 * GST_SECOND);
  push_segment (h, 100 * GST_SECOND, 10 * GST_SECOND);
  expect_through (h, pair (100 * GST_SECOND), "1 2 3");
}

static void
test_element (void)
{
  g_autoptr (GstElement) element = element_new ("nmsfilter");
  GstElementFactory *factory = gst_element_get_factory (element);

  g_assert_cmpuint (gst_plugin_feature_get_rank (GST_PLUGIN_FEATURE (factory)), ==, GST_RANK_NONE);
  g_assert_cmpstr (gst_element_factory_get_metadata (factory, GST_ELEMENT_METADATA_KLASS), ==,
      "Filter/Metadata/Video");
  g_assert_false (gst_base_transform_is_qos_enabled (GST_BASE_TRANSFORM (element)));
  g_assert_false (gst_base_transform_is_passthrough (GST_BASE_TRANSFORM (element)));
}

/* A process reads NMS_ISA only once, so the program starts itself again. */
static void
print_start (void)
{
  g_autoptr (GstElement)
      pipeline = gst_parse_launch ("fakesrc num-buffers=1 ! nmsfilter ! fakesink", NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;
  g_autofree gchar *text = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 30 * GST_SECOND,
      GST_MESSAGE_WARNING | GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  if (message && GST_MESSAGE_TYPE (message) != GST_MESSAGE_EOS)
    text = message_text (message);
  g_print ("%s: %s\n", message ? GST_MESSAGE_TYPE_NAME (message) : "nothing", text ? text : "");
  gst_element_set_state (pipeline, GST_STATE_NULL);
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
  g_autofree gchar *fast = start_with_isa ("fast"), *scalar = start_with_isa ("scalar");

  g_assert_true (g_str_has_prefix (fast, "warning: NMS_ISA=fast: unknown"));
  g_assert_cmpstr (scalar, ==, "eos: \n");
}

/* Appends the value to the text. A lock that the element held would block the reading here. */
static void
collect_engine (GObject *filter, GParamSpec *pspec, gpointer user_data)
{
  g_autofree gchar *used = NULL;

  (void) pspec;
  g_object_get (filter, "engine-in-use", &used, NULL);
  g_string_append_printf (user_data, "%s ", used ? strtok (used, "/") : "none");
}

/* Notifies of the first engine or method, of each change and of the reset, and not per buffer. */
static void
test_notifies_of_engine (void)
{
  static const struct
  {
    const gchar *property, *value, *engines;
  } rows[] = { { "engine", "sequential", "sequential " },
    { "engine", "sorted", "sequential sorted " },
    { "method", "soft-linear", "sequential sorted soft-linear " } };
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  g_autoptr (GString) engines = g_string_new (NULL);

  g_signal_connect (h->element, "notify::engine-in-use", G_CALLBACK (collect_engine), engines);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    gst_util_set_object_arg (G_OBJECT (h->element), rows[i].property, rows[i].value);
    gst_buffer_unref (through (h, frame_new (0))); /* no run yet */
    g_assert_cmpstr (engines->str, ==, i > 0 ? rows[i - 1].engines : "");
    for (guint k = 0; k < 3; k++)
      gst_buffer_unref (through (h, pair (0)));
    g_assert_cmpstr (engines->str, ==, rows[i].engines);
  }
  /* READY keeps the value, PAUSED resets it, and does not notify if it was NULL already */
  g_string_truncate (engines, 0);
  for (guint i = 0; i < 2; i++) {
    gst_element_set_state (h->element, GST_STATE_READY);
    g_assert_cmpstr (engines->str, ==, i ? "none " : "");
    gst_element_set_state (h->element, GST_STATE_PAUSED);
    g_assert_cmpstr (engines->str, ==, "none ");
  }
}

static void
test_notifies_of_stats (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  gint count = 0;

  g_signal_connect (h->element, "notify::stats", G_CALLBACK (count_notification), &count);
  for (guint k = 0; k < 3; k++)
    gst_buffer_unref (through (h, pair (0)));
  g_assert_cmpint (count, ==, 0);
  g_assert_true (gst_harness_push_event (h, gst_event_new_eos ()));
  g_assert_cmpint (count, ==, 1);
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
  { "/nmsfilter/properties/notifies-of-stats", test_notifies_of_stats }, { NULL } };

GST_TEST_PROGRAM (cases, .child = child);
