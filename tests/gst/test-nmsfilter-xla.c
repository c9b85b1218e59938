/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter with engine=xla: plugins that cannot be used (tests/accel/fakepjrt.c, in the
 * folder FAKE_PLUGINS), and the plugin that NMS_TEST_XLA_PLUGIN names.
 */
#include "gstrunner.h"

#include <glib/gstdio.h>
#include <string.h>

static gchar *
plugin (const gchar *kind)
{
  return g_strdup_printf ("%s/fakepjrt-%s.so", FAKE_PLUGINS, kind);
}

/* *bus receives the messages from the start on. */
static GstHarness *
harness_on_bus (const gchar *path, gboolean strict, GstBus **bus)
{
  GstHarness *h = harness_new ("nmsfilter engine=xla");

  gst_element_set_state (h->element, GST_STATE_READY);
  *bus = harness_bus (h);
  g_object_set (h->element, "xla-plugin", path, "xla-strict", strict, NULL);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  return h;
}

/* Three boxes, of which the second is suppressed. */
static GstBuffer *
three (guint i)
{
  GstBuffer *buffer = frame_new (i * 100 * GST_MSECOND);

  add_boxes (buffer, "1 car 10,10,100,100 0.9; 2 car 12,12,100,100 0.8; 3 car 300,10,100,100 0.7");
  return buffer;
}

static void
push_three (GstHarness *h, guint i)
{
  expect_through (h, three (i), "1 3");
}

static gchar *
engine_in_use (GstHarness *h)
{
  gchar *text;

  g_object_get (h->element, "engine-in-use", &text, NULL);
  return text;
}

/* The whole stream has one warning, and all results are right. */
static void
check_one_warning (const gchar *path, const gchar *reason)
{
  GstBus *bus;
  g_autoptr (GstHarness) h = harness_on_bus (path, FALSE, &bus);
  gint64 end = g_get_monotonic_time () + 60 * G_TIME_SPAN_SECOND;
  g_autofree gchar *words = g_strdup_printf ("Engine xla cannot be used: *%s", reason);
  g_autofree gchar *used = NULL;
  GstMessage *message;
  guint i = 0;

  do {
    push_three (h, i++);
    g_usleep (1000);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
  } while (message == NULL && g_get_monotonic_time () < end);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_WARNING);
  assert_says (message, words);
  for (guint k = 0; k < 20; k++)
    push_three (h, i + k);
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 0);
  used = engine_in_use (h);
  g_assert_false (g_str_has_prefix (used, "xla"));
}

static void
test_one_warning (void)
{
  g_autofree gchar *none = plugin ("none"), *works = plugin ("works");

  check_one_warning (NULL, "no plugin is named");
  check_one_warning ("/no/such/plugin.so", "cannot load the plugin");
  check_one_warning (none, "is not a PJRT plugin");
  check_one_warning (works, "."); /* it returns wrong results */
}

static void
test_strict (void)
{
  GstBus *bus;
  g_autoptr (GstHarness) h = harness_on_bus ("/no/such/plugin.so", TRUE, &bus);
  GstMessage *message;

  g_assert_cmpint (gst_harness_push (h, three (0)), ==, GST_FLOW_ERROR);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_ERROR);
  assert_says (message,
      "Cannot filter the boxes: engine xla: cannot load the plugin: /no/such/plugin.so");
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ERROR), ==, 0);
}

/* A plugin that crashes does not end the application. */
static void
test_crash (void)
{
  g_autofree gchar *crash = plugin ("crash");

  check_one_warning (crash, "the plugin crashes: it ended a trial process");
}

/* If nms-xla-probe cannot be run, one warning is posted. */
static void
test_no_probe (void)
{
  g_autofree gchar *works = plugin ("works"), *probe = g_strdup (g_getenv ("NMS_XLA_PROBE"));
  g_autoptr (GstHarness) h = NULL;
  GstBus *bus;

  g_setenv ("NMS_XLA_PROBE", "/nowhere/nms-xla-probe", TRUE);
  h = harness_on_bus (works, FALSE, &bus);
  push_three (h, 0);
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING),
      "Engine xla opens its plugin without a trial: the program /nowhere/nms-xla-probe cannot be "
      "run");
  g_setenv ("NMS_XLA_PROBE", probe, TRUE);
}

static gpointer
push_until_stopped (gpointer data)
{
  GstHarness *h = data;

  return GINT_TO_POINTER (gst_harness_push (h, three (0)));
}

/* The state NULL does not wait for a plugin that blocks while it compiles, and nothing is
 * posted. `strict` has the streaming thread wait for it. */
static void
check_null_returns (gboolean strict)
{
  g_autofree gchar *stall = plugin ("stall");
  GstBus *bus;
  g_autoptr (GstHarness) h = harness_on_bus (stall, strict, &bus);
  GThread *thread = g_thread_new (NULL, push_until_stopped, h);
  gint64 start;
  GstFlowReturn flow;

  g_usleep (G_USEC_PER_SEC / 5);
  start = g_get_monotonic_time ();
  gst_element_set_state (h->element, GST_STATE_NULL);
  g_assert_cmpint (g_get_monotonic_time () - start, <, 5 * G_TIME_SPAN_SECOND);
  flow = GPOINTER_TO_INT (g_thread_join (thread));
  g_assert_cmpint (flow, ==, strict ? GST_FLOW_FLUSHING : GST_FLOW_OK);
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR), ==, 0);
}

static void
test_null_returns (void)
{
  check_null_returns (FALSE);
  check_null_returns (TRUE);
}

/* ------------------------------------------------------------- registry scan */

/* Creates and starts the element, then pushes a buffer if the environment says so. */
static void
use_element (void)
{
  g_autoptr (GstElement) element = element_new ("nmsfilter engine=xla");

  gst_element_set_state (element, GST_STATE_READY);
  gst_element_set_state (element, GST_STATE_NULL);
  if (g_str_equal (g_getenv ("NMS_TEST_PUSH"), "1")) {
    g_autoptr (GstHarness) h = harness_new ("nmsfilter engine=xla");

    push_three (h, 0);
    while (!g_file_test (g_getenv ("NMS_TEST_MARK"), G_FILE_TEST_EXISTS))
      g_usleep (1000);
  }
}

/* A process with an empty registry that only creates the element does not load the plugin that the
 * environment names; one that also pushes a buffer does. The plugin creates a file when it is
 * loaded. */
static void
test_registry_scan (void)
{
  g_autofree gchar *folder = NULL, *registry = NULL, *mark = NULL, *path = plugin ("marks");

  if (g_test_subprocess ()) {
    use_element ();
    return;
  }
  folder = g_dir_make_tmp ("nmsXXXXXX", NULL);
  registry = g_build_filename (folder, "registry", NULL);
  mark = g_build_filename (folder, "mark", NULL);
  g_setenv ("GST_REGISTRY", registry, TRUE);
  g_setenv ("NMS_XLA_PLUGIN", path, TRUE);
  g_setenv ("NMS_TEST_MARK", mark, TRUE);
  for (gint push = 0; push < 2; push++) {
    g_setenv ("NMS_TEST_PUSH", push ? "1" : "0", TRUE);
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_test_trap_assert_passed ();
    g_assert_cmpint (g_remove (registry), ==, 0);
    g_assert_cmpint (g_remove (mark), ==, push ? 0 : -1);
  }
  g_rmdir (folder);
  g_unsetenv ("NMS_XLA_PLUGIN");
}

/* ------------------------------------------------------------- a real device */

/* Creates a harness with the plugin that NMS_TEST_XLA_PLUGIN names. Without that
 * variable skips the test and returns NULL. */
static GstHarness *
device_harness (gboolean strict, GstBus **bus)
{
  const gchar *path = g_getenv ("NMS_TEST_XLA_PLUGIN");

  if (path)
    return harness_on_bus (path, strict, bus);
  g_test_skip ("NMS_TEST_XLA_PLUGIN names no plugin");
  return NULL;
}

static void
test_device (void)
{
  GstBus *bus;
  g_autoptr (GstHarness) h = device_harness (TRUE, &bus);

  if (h == NULL)
    return;

  for (guint i = 0; i < 5; i++)
    push_three (h, i);
  assert_values (h->element, "engine-in-use", "xla:cpu");
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 0);
}

/* The stream does not wait for the compilation: buffers pass meanwhile. No test before compiles
 * the program without classes, because a compiled one may be ready for the first buffer. */
static void
test_device_later (void)
{
  GstBus *bus;
  GstHarness *h = device_harness (FALSE, &bus);
  gint64 end = g_get_monotonic_time () + 200 * G_TIME_SPAN_SECOND;
  gchar *text = NULL, *first = NULL;

  if (h == NULL)
    return;

  g_object_set (h->element, "class-agnostic", TRUE, NULL);
  for (guint i = 0; g_strcmp0 (text, "xla:cpu") != 0 && g_get_monotonic_time () < end; i++) {
    push_three (h, i);
    g_free (text);
    text = engine_in_use (h);
    if (first == NULL)
      first = g_strdup (text);
    g_usleep (1000);
  }
  g_assert_cmpstr (text, ==, "xla:cpu");
  g_assert_cmpstr (first, !=, "xla:cpu");
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, 0);
  g_free (text);
  g_free (first);
  harness_free (h);
}

/* Returns whether the process has mapped libnmsaccel. */
static gboolean
has_accel (void)
{
  g_autofree gchar *maps = NULL;

  g_assert_true (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  return strstr (maps, "libnmsaccel") != NULL;
}

/* libnmsaccel is opened when engine=xla is first used, also while playing. So this case runs before
 * the others that use it. */
static void
test_not_opened (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");

  push_three (h, 0);
  gst_element_set_state (h->element, GST_STATE_NULL);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  push_three (h, 0);
  g_assert_false (has_accel ());
  g_object_set (h->element, "engine", 4, NULL);
  push_three (h, 1);
  g_assert_true (has_accel ());
}

static const TestCase cases[] = {
  /* first, because it adds variables to the environment, which the threads of other cases read */
  CASE (test_registry_scan), CASE (test_not_opened), CASE (test_device), CASE (test_device_later),
  CASE (test_one_warning), CASE (test_strict), CASE (test_crash), CASE (test_no_probe),
  /* last, because the plugin blocks threads of this process */
  CASE (test_null_returns), { NULL }
};

GST_TEST_PROGRAM (cases);
