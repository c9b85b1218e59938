/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-jsonl: parses bytes as JSON Lines, and checks that the boxes survive being
 * written and parsed again. Also parses them as one line without its boxes. */
#include "fuzzfile.h"
#include "records/jsonl.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* Checks the round trip of a frame in a size that depends on its line. */
static void
check (RecordedFrame *frame)
{
  const gint widths[] = { frame->width, 640, 0 }, heights[] = { frame->height, 7, 0 };
  const gint width = widths[frame->line % 3], height = heights[frame->line % 3];
  JsonlParser *parser = jsonl_parser_new ();
  g_autoptr (GString) once = g_string_new (NULL), again = g_string_new (NULL);
  GError *error = NULL;

  if (recorded_frame_fit (frame, width, height, NULL)) {
    frame->width = width;
    frame->height = height;
    jsonl_format (frame, once);
    g_string_append (again, once->str);
    g_assert (jsonl_parse (parser, again->str, again->len - 1, frame, &error));
    g_assert (recorded_frame_fit (frame, width, height, &error));
    g_string_truncate (again, 0);
    jsonl_format (frame, again);
    g_assert_cmpstr (once->str, ==, again->str);
  }
  jsonl_parser_free (parser);
}

/* Parses the bytes as one line. A line whose boxes are valid has a valid header. */
static void
check_header (const gchar *line, gsize length)
{
  JsonlParser *parser = jsonl_parser_new ();
  RecordedFrame frame;
  gboolean valid;

  recorded_frame_init (&frame);
  valid = jsonl_parse (parser, line, length, &frame, NULL);
  g_assert (jsonl_parse_header (parser, line, length, &frame, NULL) || !valid);
  g_assert (frame.boxes->len == 0);
  recorded_frame_clear (&frame);
  jsonl_parser_free (parser);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  check_header ((const gchar *) data, size);
  fuzz_file (data, size, RECORD_FORMAT_JSONL, check);
  fuzz_file (data, size, RECORD_FORMAT_AUTO, check);
  return 0;
}
