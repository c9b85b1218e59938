/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-coco: parses each line of the bytes as an entry of COCO results, and checks that each box
 * survives being written and parsed again. */
#include <string.h>

#include "fuzzcount.h"
#include "fuzzfile.h"
#include "records/cocotext.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_again (CocoParser *parser, const Box *box, guint64 image)
{
  RecordedFrame frame = { .index = image, .boxes = g_array_new (FALSE, FALSE, sizeof (Box)) };
  GString *out = g_string_new (NULL);
  GError *error = NULL;

  g_array_append_val (frame.boxes, *box);
  if (coco_text_format (&frame, out, &error)) {
    Box again;
    guint64 number;

    g_assert (g_str_has_prefix (out->str, ",\n"));
    coco_text_parse (parser, out->str + 2, out->len - 2, &number, &again, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (number, ==, image);
    g_assert_cmpint (again.label_id, ==, box->label_id);
  }
  g_clear_error (&error);
  g_string_free (out, TRUE);
  g_array_unref (frame.boxes);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  CocoParser *parser = coco_parser_new ();
  gchar *text = g_strndup ((const gchar *) data, size), *save = NULL, *line;

  for (line = strtok_r (text, "\n", &save); line != NULL; line = strtok_r (NULL, "\n", &save)) {
    GError *error = NULL;
    guint64 image;
    Box box;

    if (coco_text_parse (parser, line, strlen (line), &image, &box, &error)) {
      fuzz_count (1);
      check_again (parser, &box, image);
    } else {
      g_assert (error != NULL);
    }
    g_clear_error (&error);
  }
  coco_parser_free (parser);
  g_free (text);
  return 0;
}
