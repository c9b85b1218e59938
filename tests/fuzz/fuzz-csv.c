/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-csv: parses bytes as CSV text, a first line and lines of boxes, and checks that each box
 * survives being written and parsed again. */
#include <string.h>

#include "fuzzcount.h"
#include "fuzzfile.h"
#include "records/csvtext.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* Writes the box, parses it and writes it again. Returns FALSE if it cannot be written. */
static gboolean
check_again (const CsvColumns *written, Box *box, guint64 index)
{
  RecordedFrame frame = { .index = index, .boxes = g_array_new (FALSE, FALSE, sizeof (Box)) };
  GString *out = g_string_new (NULL);
  GError *error = NULL;
  gboolean good;

  g_array_append_val (frame.boxes, *box);
  good = csv_text_format (&frame, out, &error);
  g_assert (good == (error == NULL));
  g_clear_error (&error);
  if (good) {
    Box again;
    guint64 number;

    g_assert (out->len > 0 && out->str[out->len - 1] == '\n');
    g_string_truncate (out, out->len - 1);
    csv_text_parse (written, out->str, &fuzz_labels, &number, &again, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (number, ==, index);
    g_assert_cmpint (again.label_id, ==, box->label_id);
    g_assert_cmpint (again.track_id, ==, box->track_id);
  }
  g_string_free (out, TRUE);
  g_array_unref (frame.boxes);
  return good;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  gchar *text = g_strndup ((const gchar *) data, size), *save = NULL, *line;
  const gsize first = strcspn (text, "\n");
  CsvColumns *columns = csv_columns_new (text, first, NULL);
  CsvColumns *written = csv_columns_new (CSV_TEXT_HEADER, strlen (CSV_TEXT_HEADER) - 1, NULL);

  g_assert (written != NULL);
  for (line = columns != NULL && text[first] ? strtok_r (text + first + 1, "\n", &save) : NULL;
       line != NULL; line = strtok_r (NULL, "\n", &save)) {
    const guint64 number = csv_text_frame (columns, line);
    guint64 frame;
    Box box;

    if (!csv_text_parse (columns, line, &fuzz_labels, &frame, &box, NULL))
      continue;
    g_assert (number == frame + 1 || number == 0);
    fuzz_count (1);
    check_again (written, &box, frame);
  }
  csv_columns_free (columns);
  csv_columns_free (written);
  g_free (text);
  return 0;
}
