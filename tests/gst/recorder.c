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
  GstHarness *h = gst_harness_new_parse (launch);

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
  g_autoptr (GstElement) element = gst_object_ref_sink (gst_parse_launch (launch, NULL));
  g_autoptr (GstBus) bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PLAYING), ==,
      GST_STATE_CHANGE_FAILURE);
  g_assert_cmpint (recorder_messages (bus, GST_MESSAGE_ERROR, text), ==, 1);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_bus_set_flushing (bus, TRUE);
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

guint64
recorder_stat (GstHarness *h, const gchar *field)
{
  g_autoptr (GstElement) element = gst_harness_find_element (h, "boxrecord");
  g_autoptr (GstStructure) stats = NULL;
  guint64 value = 0;

  g_object_get (element, "stats", &stats, NULL);
  if (!(gst_structure_get_uint64 (stats, field, &value)))
    g_error ("no %s", field);
  return value;
}

guint
recorder_messages (GstBus *bus, GstMessageType type, const gchar *text)
{
  GstMessage *message;
  guint count = 0;

  for (; (message = gst_bus_pop_filtered (bus, type)) != NULL; count++) {
    g_autoptr (GError) error = NULL;

    if (type == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, NULL);
    else
      gst_message_parse_warning (message, &error, NULL);
    if (strstr (error->message, text) == NULL)
      g_error ("said: %s\nnot: %s", error->message, text);
    gst_message_unref (message);
  }
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
