/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plugin linked into an application, whose own functions may have any name. */
#include <gst/gst.h>

#include "testrunner.h"

GST_PLUGIN_STATIC_DECLARE (nms);

/* Names of the plugin and of nmscore. A linker that saw both would refuse them. */
gint nms_run (void);
gint box_meta_read (void);
gint filter_stats_add (void);
gint gst_nms_filter_get_type (void);

gint
nms_run (void)
{
  return 1;
}

gint
box_meta_read (void)
{
  return 2;
}

gint
filter_stats_add (void)
{
  return 3;
}

gint
gst_nms_filter_get_type (void)
{
  return 4;
}

static void
test_registers (void)
{
  GstPlugin *plugin;
  GstElement *element;

  g_assert_null (gst_element_factory_make ("nmsfilter", NULL));
  GST_PLUGIN_STATIC_REGISTER (nms);
  plugin = gst_registry_find_plugin (gst_registry_get (), "nms");
  g_assert_nonnull (plugin);
  g_assert_null (gst_plugin_get_filename (plugin));
  gst_object_unref (plugin);

  element = gst_parse_launch ("fakesrc num-buffers=3 ! nmsfilter ! fakesink", NULL);
  g_assert_nonnull (element);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PLAYING), !=,
      GST_STATE_CHANGE_FAILURE);
  gst_message_unref (
      gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (element), GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS));
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
  g_assert_cmpint (nms_run () + box_meta_read () + filter_stats_add () + gst_nms_filter_get_type (),
      ==, 10);
}

static const TestCase cases[] = { CASE (test_registers), { NULL } };

static const char *
start (const char *needs)
{
  gst_init (NULL, NULL);
  return NULL;
}

TEST_PROGRAM (cases, start, gst_deinit);
