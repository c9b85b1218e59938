/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordoutput: turns each result of linewriter into at most one message. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "recordoutput.h"

#include "linewriter.h"
#include "recordappend.h"

#define STALL GST_SECOND /* the wait after which a warning is posted */

struct _RecordOutput
{
  GstElement *element; /* the owner of this struct */
  const RecordSettings *settings;
  LineWriter *writer;
  gboolean warned; /* posted a warning about a line that could not be written */
};

/* Posts an error, or with RECORD_ON_ERROR_CONTINUE a warning at the first call. Frees
 * `error`. */
static void
post_failure (RecordOutput *self, RecordOnError on_error, GError *error)
{
  gboolean full = g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOSPC);
  gboolean closed = g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_PIPE);
  gint code = full ? GST_RESOURCE_ERROR_NO_SPACE_LEFT : GST_RESOURCE_ERROR_WRITE;
  const gchar *path = line_writer_path (self->writer);
  gchar *text = g_strdup_printf ("Cannot write to %s: %s%s%s%s",
      path ? path : self->settings->location, closed ? "the reader closed the pipe (" : "",
      error->message, closed ? ")" : "",
      on_error == RECORD_ON_ERROR_CONTINUE ? "; recording continues with the next frame that "
                                             "can be written"
                                           : "");

  if (on_error == RECORD_ON_ERROR_FAIL)
    gst_element_message_full (self->element, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, code, text,
        NULL, __FILE__, GST_FUNCTION, __LINE__);
  else if (!self->warned)
    gst_element_message_full (self->element, GST_MESSAGE_WARNING, GST_RESOURCE_ERROR, code, text,
        NULL, __FILE__, GST_FUNCTION, __LINE__);
  else
    g_free (text);
  self->warned |= on_error == RECORD_ON_ERROR_CONTINUE;
  g_error_free (error);
}

static void
post_append_failure (RecordOutput *self, const gchar *path, GError *error)
{
  gboolean mot = self->settings->format == RECORD_FORMAT_MOT;

  if (error->domain == RECORD_ERROR)
    GST_ELEMENT_ERROR (self->element, RESOURCE, SETTINGS,
        ("Cannot append to %s: the file does "
         "not end with a line of %s: %s",
            path, mot ? "MOT text" : "JSON Lines", error->message),
        (NULL));
  else
    GST_ELEMENT_ERROR (self->element, RESOURCE, SETTINGS,
        ("Cannot append to %s: %s", path, error->message), (NULL));
  g_error_free (error);
}

/* Prepares the open file to be continued after its last frame. Returns FALSE after an
 * error message. */
static gboolean
continue_file (RecordOutput *self, RecordSession *session, guint64 *next_index)
{
  const gchar *path = line_writer_path (self->writer);
  GError *error = NULL;
  RecordAppend append;
  gboolean ok;

  if (path == NULL)
    return TRUE;
  ok = record_append_prepare (&append, path, self->settings->format, &error);
  if (!ok)
    post_append_failure (self, path, error);
  if (ok && append.removed > 0)
    GST_ELEMENT_WARNING (self->element, RESOURCE, WRITE,
        ("Removed an unfinished line of %" G_GUINT64_FORMAT " bytes from the end of %s",
            append.removed, path),
        (NULL));
  if (ok && !append.empty) {
    record_session_continue (session, &append.last);
    *next_index = append.last.index + 1;
  }
  record_append_clear (&append);
  return ok;
}

RecordOutput *
record_output_open (GstElement *element, const RecordSettings *settings, RecordSession *session,
    guint64 *next_index)
{
  FileSequenceSettings file = {
    .location = settings->location,
    .owner = GST_OBJECT_NAME (element),
    .append = settings->append,
    .flush = settings->flush,
    .max_size = settings->max_file_size,
    .max_time = settings->max_file_time,
    .max_files = settings->max_files,
  };
  RecordOutput *self = g_new0 (RecordOutput, 1);
  GError *error = NULL;

  self->element = element;
  self->settings = settings;
  record_session_init (session);
  *next_index = 0;
  self->writer = line_writer_new (&file, &error);
  if (self->writer == NULL) {
    GST_ELEMENT_ERROR (element, RESOURCE, OPEN_WRITE,
        ("Cannot open %s for writing: %s", settings->location, error->message), (NULL));
    g_error_free (error);
  } else if (settings->append && !continue_file (self, session, next_index)) {
    line_writer_free (g_steal_pointer (&self->writer), NULL);
  }
  if (self->writer == NULL)
    g_clear_pointer (&self, g_free);
  return self;
}

void
record_output_close (RecordOutput *self, RecordOnError on_error)
{
  GError *error = NULL;

  if (self == NULL)
    return;
  if (!line_writer_free (self->writer, &error)) {
    if (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_AGAIN)
        || on_error == RECORD_ON_ERROR_CONTINUE)
      GST_ELEMENT_WARNING (self->element, RESOURCE, CLOSE,
          ("The end of %s is missing: %s", self->settings->location, error->message), (NULL));
    else
      GST_ELEMENT_ERROR (self->element, RESOURCE, CLOSE,
          ("Cannot close %s, the recording may be "
           "incomplete: %s",
              self->settings->location, error->message),
          (NULL));
    g_error_free (error);
  }
  g_free (self);
}

OutputResult
record_output_write (RecordOutput *self, const GString *text, GstClockTime running_time,
    RecordOnFull on_full, RecordOnError on_error)
{
  GError *error = NULL;
  OutputResult result = line_writer_write (self->writer, text->str, text->len, running_time,
      on_full == RECORD_ON_FULL_DROP ? 0 : STALL, &error);

  if (result == OUTPUT_FULL && on_full == RECORD_ON_FULL_BLOCK) {
    GST_ELEMENT_WARNING (self->element, RESOURCE, WRITE,
        ("The reader of %s has not read for 1 s, "
         "so the stream waits for it; on-full=drop drops lines instead",
            self->settings->location),
        (NULL));
    result = line_writer_write (self->writer, text->str, text->len, running_time,
        GST_CLOCK_TIME_NONE, &error);
  }
  if (result == OUTPUT_FAILED)
    post_failure (self, on_error, error);
  return result;
}

void
record_output_flush (RecordOutput *self, RecordOnError on_error)
{
  GError *error = NULL;

  if (!line_writer_flush (self->writer, STALL, &error))
    post_failure (self, on_error, error);
}

void
record_output_set_flushing (RecordOutput *self, gboolean flushing)
{
  line_writer_set_flushing (self->writer, flushing);
}
