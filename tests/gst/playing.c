/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "playing.h"

#include "gstboxes.h"

GstElement *
playing_new (const gchar *format, ...)
{
  GError *error = NULL;
  GstElement *pipeline;
  g_autofree gchar *line = NULL;
  va_list args;

  va_start (args, format);
  line = g_strdup_vprintf (format, args);
  va_end (args);
  pipeline = gst_parse_launch (line, &error);
  g_assert_no_error (error);
  return pipeline;
}

GstMessage *
playing_wait (GstElement *pipeline, GstMessageType types)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      types | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);

  if (!(GST_MESSAGE_TYPE (message) & types)) {
    GError *error = NULL;
    gchar *debug;

    gst_message_parse_error (message, &error, &debug);
    g_error ("%s (%s)", error->message, debug);
  }
  return message;
}

void
playing_to_end (GstElement *pipeline)
{
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (playing_wait (pipeline, GST_MESSAGE_EOS));
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

void
playing_probe_type (GstElement *pipeline, const gchar *element, const gchar *pad,
    GstPadProbeType type, GstPadProbeCallback callback, gpointer user_data)
{
  g_autoptr (GstElement) found = gst_bin_get_by_name (GST_BIN (pipeline), element);
  g_autoptr (GstPad) there = gst_element_get_static_pad (found, pad);

  gst_pad_add_probe (there, type, callback, user_data, NULL);
}

void
playing_probe (GstElement *pipeline, const gchar *element, const gchar *pad,
    GstPadProbeCallback callback, gpointer user_data)
{
  playing_probe_type (pipeline, element, pad, GST_PAD_PROBE_TYPE_BUFFER, callback, user_data);
}

guint64
playing_stat (GstElement *pipeline, const gchar *element, const gchar *name)
{
  g_autoptr (GstElement) found = gst_bin_get_by_name (GST_BIN (pipeline), element);
  guint64 value = stat_of (found, name);

  return value;
}

void
playing_seek (GstElement *pipeline, guint frames, GstClockTime distance)
{
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_message_unref (playing_wait (pipeline, GST_MESSAGE_ASYNC_DONE));
  for (guint i = 0; i < 20; i++) {
    g_assert_true (gst_element_seek (pipeline, 1, GST_FORMAT_TIME,
        GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, GST_SEEK_TYPE_SET,
        (gint64) ((i * 7 % frames) * distance), GST_SEEK_TYPE_SET, (gint64) (frames * distance)));
    gst_message_unref (playing_wait (pipeline, GST_MESSAGE_ASYNC_DONE));
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (playing_wait (pipeline, GST_MESSAGE_EOS));
  gst_element_set_state (pipeline, GST_STATE_NULL);
}
