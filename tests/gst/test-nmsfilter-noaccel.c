/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter with engine=xla where libnmsaccel is not installed. This program's own dlopen stands
 * before that of the C library and does not find libnmsaccel.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "gstrunner.h"

#include <dlfcn.h>
#include <string.h>

static guint attempts;

void *dlopen (const char *path, int flags);

void *
dlopen (const char *path, int flags)
{
  void *(*next) (const char *, int);
  void *symbol = dlsym (RTLD_NEXT, "dlopen");

  memcpy (&next, &symbol, sizeof next);
  if (path == NULL || strstr (path, "libnmsaccel") == NULL)
    return next (path, flags);
  attempts++;
  return next ("/nowhere/libnmsaccel", flags);
}

/* One warning names the package, and the native engines run. */
static void
test_warning (void)
{
  g_autoptr (GstHarness) h = harness_new ("nmsfilter");
  GstBus *bus = harness_bus (h);

  attempts = 0;
  gst_element_set_state (h->element, GST_STATE_NULL);
  g_object_set (h->element, "engine", 4, NULL);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  for (guint i = 0; i < 2; i++)
    expect_through (h, frame_with ("1 car 10,10,100,100 0.9; 2 car 12,12,100,100 0.8"), "1");
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR),
      "Engine xla needs libnmsaccel.so.0, which Debian's package libnmsaccel0 contains; another "
      "engine runs instead.");
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR), ==, 0);
  g_assert_cmpuint (attempts, ==, 2); /* one by its name, one beside the plugin */
}

static void
test_strict (void)
{
  g_autoptr (GstElement) element = element_new ("nmsfilter xla-strict=true");

  g_object_set (element, "engine", 4, NULL);
  expect_no_start (element, "libnmsaccel0");
  gst_element_set_state (element, GST_STATE_NULL);
}

static const TestCase cases[] = { CASE (test_warning), CASE (test_strict), { NULL } };

GST_TEST_PROGRAM (cases);
