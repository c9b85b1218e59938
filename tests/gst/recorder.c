/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recorder: the text of a line is checked at its start and end, which a cut line lacks. */
#include "recorder.h"

#include <gst/video/video.h>
#include <string.h>

#include "textfiles.h"

static gchar *
launch_line (const gchar *location, const gchar *properties)
{
  return g_strdup_printf ("boxrecord location=\"%s\" %s", location, properties);
}

GstHarness *
recorder_new (GstBus **bus, const gchar *location, const gchar *properties)
{
  g_autofree gchar *launch = launch_line (location, properties);
  GstHarness *h = harness_new_caps (launch, NULL);

  if (bus)
    *bus = harness_bus (h);
  gst_harness_set_src_caps_str (h, "application/x-anything");
  gst_harness_set_drop_buffers (h, TRUE);
  return h;
}

void
recorder_must_refuse (const gchar *location, const gchar *properties, const gchar *text)
{
  g_autofree gchar *launch = launch_line (location, properties);
  g_autoptr (GstElement) element = element_new (launch);

  expect_no_start (element, text);
  gst_element_set_state (element, GST_STATE_NULL);
}

GstFlowReturn
recorder_push (GstHarness *h, guint index, guint boxes)
{
  GstBuffer *buffer = gst_buffer_new ();

  GST_BUFFER_PTS (buffer) = index * FRAME;
  GST_BUFFER_DURATION (buffer) = FRAME;
  for (; boxes > 0; boxes--)
    gst_buffer_add_video_region_of_interest_meta (buffer, "car", boxes, 2, 3, 4);
  return gst_harness_push (h, buffer);
}

void
recorder_push_range (GstHarness *h, guint from, guint to)
{
  for (; from < to; from++)
    g_assert_cmpint (recorder_push (h, from, 1), ==, GST_FLOW_OK);
}

guint
recorder_messages (GstBus *bus, GstMessageType type, const gchar *text)
{
  GstMessage *message;
  guint count = 0;

  for (; (message = gst_bus_pop_filtered (bus, type)) != NULL; count++)
    assert_says (message, text);
  return count;
}

guint
recorder_lines (const gchar *text)
{
  gchar **lines = g_strsplit (text, "\n", -1);
  guint count;

  for (count = 0; lines[count] && lines[count + 1]; count++)
    if (!(g_str_has_prefix (lines[count], "{\"timestamp\":")
            && g_str_has_suffix (lines[count], "]}")
            && strstr (lines[count] + 1, "{\"timestamp\"") == NULL))
      g_error ("line %u: %s", count + 1, lines[count]);
  if (!(lines[count] == NULL || *lines[count] == '\0'))
    g_error ("half a line: %s", lines[count]);
  g_strfreev (lines);
  return count;
}

guint
recorder_file_lines (const gchar *path)
{
  g_autofree gchar *text = text_file_read (path);
  guint count = recorder_lines (text);

  return count;
}
