/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "replayopen.h"

gboolean
replay_open_check (GstElement *element, const ReplaySettings *settings, gboolean has_pad)
{
  const gboolean has_location = settings->location && *settings->location;
  const gint sources = has_location + has_pad + settings->line_meta;

  if (sources > 1)
    GST_ELEMENT_ERROR (element, RESOURCE, SETTINGS,
        ("Cannot replay more than one of the location, "
         "the pad boxes and line-meta"),
        (NULL));
  else if (sources == 0)
    GST_ELEMENT_ERROR (element, RESOURCE, SETTINGS,
        ("Cannot replay: set the property location or "
         "line-meta, or link the pad boxes"),
        (NULL));
  return sources == 1;
}

RecordReader *
replay_open (GstElement *element, const ReplaySettings *settings)
{
  const gchar *location = settings->location;
  GError *error = NULL;
  RecordReader *reader;

  reader = record_reader_new (location, settings->format, settings->max_line, &error);
  if (reader && !record_reader_claim (reader, GST_OBJECT_NAME (element), &error))
    g_clear_pointer (&reader, record_reader_free);
  if (reader == NULL) {
    if (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
      GST_ELEMENT_ERROR (element, RESOURCE, NOT_FOUND,
          ("Cannot open %s: %s", location, error->message), (NULL));
    else
      GST_ELEMENT_ERROR (element, RESOURCE, OPEN_READ,
          ("Cannot open %s: %s", location, error->message), (NULL));
    g_error_free (error);
    return NULL;
  }
  if (settings->loop && settings->follow) {
    GST_ELEMENT_ERROR (element, RESOURCE, SETTINGS,
        ("Cannot both loop and follow %s: a recording "
         "that is still being written has no end",
            location),
        (NULL));
    record_reader_free (reader);
    return NULL;
  }
  record_reader_set_follow (reader, settings->follow);
  if (settings->loop && !record_reader_can_rewind (reader)) {
    GST_ELEMENT_ERROR (element, RESOURCE, SETTINGS,
        ("Cannot loop: %s cannot be read again from "
         "its start",
            location),
        (NULL));
    record_reader_free (reader);
    return NULL;
  }
  return reader;
}

void
replay_open_failed (GstElement *element, const gchar *source, GError *error)
{
  if (error->domain == RECORD_ERROR)
    GST_ELEMENT_ERROR (element, STREAM, DECODE, ("%s:%s", source, error->message), (NULL));
  else
    GST_ELEMENT_ERROR (element, RESOURCE, READ, ("Cannot read %s: %s", source, error->message),
        (NULL));
  g_error_free (error);
}

void
replay_open_seek_failed (GstElement *element, const gchar *source, GError *error)
{
  if (error->domain == RECORD_ERROR) {
    replay_open_failed (element, source, error);
    return;
  }
  GST_ELEMENT_ERROR (element, RESOURCE, SEEK,
      ("Cannot seek backward: %s cannot be read again "
       "from its start: %s",
          source, error->message),
      (NULL));
  g_error_free (error);
}
