/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter: properties: defaults, ranges, flags, changes while playing, control sources; the
 * presets in the folder that GST_PRESET_PATH names, and saved ones.
 */
#include "gstrunner.h"

#include <gst/base/gstbasetransform.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <glib/gstdio.h>

#define SETTABLE GST_PARAM_MUTABLE_PLAYING
#define CONTROLLABLE (SETTABLE | GST_PARAM_CONTROLLABLE)
#define READY GST_PARAM_MUTABLE_READY

/* Users and stored settings depend on these. Values are text. */
static const struct
{
  const gchar *name, *type, *value; /* value: the default */
  GParamFlags flags;
  const gchar *other; /* another value */
} fixed[] = {
  { "iou-threshold", "gfloat", "0.5", CONTROLLABLE, "0.25" },
  { "score-threshold", "gdouble", "-inf", CONTROLLABLE, "-2" },
  { "max-detections", "guint", "0", CONTROLLABLE, "4294967295" },
  { "max-per-class", "guint", "0", CONTROLLABLE, "7" },
  { "max-candidates", "guint", "0", CONTROLLABLE, "9" },
  { "class-agnostic", "gboolean", "false", CONTROLLABLE, "true" },
  { "inclusive", "gboolean", "false", CONTROLLABLE, "true" },
  { "method", "GstNmsMethod", "hard", SETTABLE, "weighted" },
  { "metric", "GstNmsMetric", "iou", SETTABLE, "ios" },
  { "min-size-ratio", "gfloat", "0", CONTROLLABLE, "0.75" },
  { "method-options", "GstStructure", "NULL", SETTABLE, "o, sigma=(double)0.5;" },
  { "engine", "GstNmsEngine", "auto", SETTABLE, "sorted" },
  { "missing-score", "GstNmsMissingScore", "neighbors", SETTABLE, "area" },
  { "min-neighbors", "guint", "0", CONTROLLABLE, "3" },
  { "classes", "gchararray", "NULL", SETTABLE, "person, traffic light" },
  { "class-options", "GstStructure", "NULL", SETTABLE, "o, a=(int)1;" },
  { "class-groups", "gchararray", "NULL", SETTABLE, "a>b" },
  { "sources", "gchararray", "NULL", SETTABLE, "a,b:priority=1" },
  { "action", "GstNmsAction", "remove", SETTABLE, "tag" },
  { "interval", "guint64", "0", CONTROLLABLE, "5" },
  { "xla-plugin", "gchararray", "NULL", READY, "plugin" },
  { "xla-strict", "gboolean", "false", READY, "true" },
};

static void
test_table (void)
{
  g_autoptr (GstElement) element = element_new ("nmsfilter");
  GObjectClass *class = G_OBJECT_GET_CLASS (element);
  guint n, writable = 0;
  g_autofree GParamSpec **specs = g_object_class_list_properties (class, &n);

  for (guint i = 0; i < n; i++)
    writable += g_type_is_a (specs[i]->owner_type, GST_TYPE_BASE_TRANSFORM)
        && specs[i]->owner_type != GST_TYPE_BASE_TRANSFORM
        && (specs[i]->flags & G_PARAM_WRITABLE) != 0;
  g_assert_cmpuint (writable, ==, G_N_ELEMENTS (fixed));
  for (guint i = 0; i < G_N_ELEMENTS (fixed); i++) {
    GParamSpec *spec = g_object_class_find_property (class, fixed[i].name);
    GValue value = G_VALUE_INIT;

    g_test_message ("%s", fixed[i].name);
    g_assert_nonnull (spec);
    g_assert_cmpstr (g_type_name (spec->value_type), ==, fixed[i].type);
    g_assert_cmphex (spec->flags & (CONTROLLABLE | READY), ==, fixed[i].flags);
    g_assert_cmpuint (strlen (g_param_spec_get_blurb (spec)), >, 20);
    if (G_IS_PARAM_SPEC_FLOAT (spec)) {
      g_assert_cmpfloat (G_PARAM_SPEC_FLOAT (spec)->minimum, ==, 0);
      g_assert_cmpfloat (G_PARAM_SPEC_FLOAT (spec)->maximum, ==, 1);
    }
    assert_values (element, fixed[i].name, fixed[i].value);
    g_object_get_property (G_OBJECT (element), fixed[i].name, &value);
    g_assert_true (g_param_value_defaults (spec, &value));
    g_value_unset (&value);
    gst_util_set_object_arg (G_OBJECT (element), fixed[i].name, fixed[i].other);
    assert_values (element, fixed[i].name, fixed[i].other);
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
    { "method", "soft-linear", "1 2 3" }, /* the score of 3 becomes 0.4 / 3 */
    { "method-options", "o,min-score=0.2", "1 2" },
    { "method-options", "o", "1 2 3" },
  };
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_test_message ("%s=%s", rows[i][0], rows[i][1]);
    gst_util_set_object_arg (G_OBJECT (h->element), rows[i][0], rows[i][1]);
    expect_through (h, pair (0), rows[i][2]);
  }
}

/* What cannot be used with the other properties, or changes nothing while playing, is refused with
 * one warning. A stopped element takes it. */
static void
test_refusals_while_playing (void)
{
  static const struct
  {
    const gchar *line, *name, *refused, *says, *kept;
  } rows[] = {
    { "method=soft-linear", "sources", "a,b:priority=1", "priorities in sources", "NULL" },
    { "sources=a,b:priority=1", "method", "soft-linear", "priorities in sources", "hard" },
    { "method=soft-linear", "class-groups", "a>b", "\">\" in class-groups", "NULL" },
    { "metric=giou", "method", "soft-linear", "metric=giou", "hard" },
    { "method-options=o,sigma=2", "method-options", "o, sigma=(int)-3;",
        "Cannot use method-options: sigma=-3 must be", "o, sigma=(int)2;" },
    { "xla-plugin=first", "xla-plugin", "second", "xla-plugin", "first" },
    { "", "xla-strict", "true", "xla-strict", "false" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strconcat ("nmsfilter ", rows[i].line, NULL);
    g_autoptr (GstHarness) h = harness_new (line);
    GObject *element = G_OBJECT (h->element);
    GstBus *bus = harness_bus (h);

    gst_util_set_object_arg (element, rows[i].name, rows[i].refused);
    assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), rows[i].says);
    assert_values (element, rows[i].name, rows[i].kept);
    gst_util_set_object_arg (element, "sources", "a,b:score-threshold=1");
    gst_util_set_object_arg (element, "class-groups", "a,b");
    gst_element_set_state (h->element, GST_STATE_READY);
    gst_util_set_object_arg (element, rows[i].name, rows[i].refused);
    assert_values (element, rows[i].name, rows[i].refused);
    g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
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

/* The control source works in stream time, not in timestamps. */
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
  push_segment (h, 100 * GST_SECOND, 0);
  expect_through (h, pair (100 * GST_SECOND), "1 2");
  expect_through (h, pair (100 * GST_SECOND + 800 * GST_MSECOND), "1 2 3");
}

/* Each process reads NMS_ISA once. */
static void
test_impossible_isa (void)
{
  static const gchar *const levels[] = { "scalar", "fast" };

  if (g_test_subprocess ()) {
    g_autoptr (GstElement) element = element_new ("nmsfilter");
    g_autoptr (GstBus) bus = gst_bus_new ();
    GstMessage *message;

    gst_element_set_bus (element, bus);
    expect_start (element);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
    if (g_str_equal (g_getenv ("NMS_ISA"), "fast"))
      assert_says (message, "NMS_ISA=fast: unknown");
    else
      g_assert_null (message);
    gst_element_set_bus (element, NULL);
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++) {
    g_setenv ("NMS_ISA", levels[i], TRUE);
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_test_trap_assert_passed ();
  }
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
    { "engine", "spatial", "sequential sorted spatial " },
    { "method", "soft-linear", "sequential sorted spatial soft-linear " } };
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

/* -------------------------------------------------------------------- presets */

#define RULE \
  "iou-threshold score-threshold max-detections max-candidates min-neighbors class-agnostic " \
  "max-per-class inclusive missing-score min-size-ratio"

static const gchar *const presets[][2] = {
  /* name, values of RULE */
  { "end2end", "0.80000001192092896 0.10000000000000001 300 0 0 true 0 false neighbors 0" },
  { "opencv", "0.40000000596046448 0.5 0 0 0 false 0 false neighbors 0" },
  { "ssd", "0.44999998807907104 0.01 200 0 0 false 0 false neighbors 0" },
  { "torchvision", "0.5 0.050000000000000003 100 0 0 false 0 false neighbors 0" },
  { "ultralytics", "0.69999998807907104 0.25 300 30000 0 false 0 false neighbors 0" },
  { "viola-jones", "0.30000001192092896 -inf 0 0 3 false 0 false neighbors 0" },
};

static void
test_preset_names (void)
{
  g_autoptr (GstElement) element = element_new ("nmsfilter");
  g_auto (GStrv) names = gst_preset_get_preset_names (GST_PRESET (element));

  g_assert_cmpuint (g_strv_length (names), ==, G_N_ELEMENTS (presets));
  for (guint i = 0; i < G_N_ELEMENTS (presets); i++) {
    g_autofree gchar *comment = NULL;

    g_assert_true (g_strv_contains ((const gchar *const *) names, presets[i][0]));
    g_assert_true (gst_preset_get_meta (GST_PRESET (element), presets[i][0], "comment", &comment));
    g_assert_nonnull (comment);
  }
}

/* A preset sets all properties of the rule, whatever was set before. */
static void
test_preset_values (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (presets); i++) {
    g_autofree gchar *line = g_strdup_printf (
        "nmsfilter iou-threshold=0.123 score-threshold=7 max-detections=9 max-per-class=9 "
        "max-candidates=9 min-neighbors=9 class-agnostic=true inclusive=true missing-score=drop "
        "min-size-ratio=1 @preset=%s",
        presets[i][0]);
    g_autoptr (GstElement) element = element_new (line);

    assert_values (element, RULE, presets[i][1]);
  }
}

/* Removes the files of the presets that programs saved. */
static void
remove_user_presets (const gchar *element)
{
  g_autofree gchar *path = g_strdup_printf ("%s/gstreamer-1.0/presets/%s.prs",
      g_get_user_data_dir (), element);
  g_autofree gchar *backup = g_strconcat (path, ".bak", NULL);

  g_remove (path);
  g_remove (backup);
}

/* A program's own preset holds all properties except those whose descriptions say so. */
static void
test_saved_preset (void)
{
  g_autoptr (GstElement) saved = element_new ("nmsfilter name=saved");
  g_autoptr (GstElement) loaded = element_new ("nmsfilter name=loaded");

  for (guint i = 0; i < G_N_ELEMENTS (fixed); i++)
    gst_util_set_object_arg (G_OBJECT (saved), fixed[i].name, fixed[i].other);
  g_assert_true (gst_preset_save_preset (GST_PRESET (saved), "mine"));
  g_assert_true (gst_preset_load_preset (GST_PRESET (loaded), "mine"));
  g_assert_true (gst_preset_delete_preset (GST_PRESET (saved), "mine"));
  remove_user_presets (G_OBJECT_TYPE_NAME (saved));
  g_assert_cmpstr (GST_OBJECT_NAME (loaded), ==, "loaded");
  for (guint i = 0; i < G_N_ELEMENTS (fixed); i++) {
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (saved), fixed[i].name);
    const gboolean out = strstr (g_param_spec_get_blurb (spec), "Presets do not hold it") != NULL;

    assert_values (loaded, fixed[i].name, out ? fixed[i].value : fixed[i].other);
  }
}

static const TestCase cases[] = { CASE (test_table), CASE (test_enum_numbers),
  CASE (test_changes_while_playing), CASE (test_refusals_while_playing), CASE (test_control_source),
  CASE (test_notifies_of_engine), CASE (test_notifies_of_stats), CASE (test_impossible_isa),
  CASE (test_preset_names), CASE (test_preset_values), CASE (test_saved_preset), { NULL } };

GST_TEST_PROGRAM (cases);
