/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-mot: parses bytes as MOT text, and checks that the boxes survive being
 * written and parsed again. */
#include <math.h>
#include <string.h>

#include "fuzzfile.h"
#include "records/mottext.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* Beyond this, a double is not exact to a millionth of a pixel through the round trip. */
#define FAR 1e6

static gboolean
exact (const Box *box)
{
  return fabs (box->x1) < FAR && fabs (box->y1) < FAR && fabs (box->x2) < FAR
      && fabs (box->y2) < FAR;
}

/* Checks the round trip of each box by itself. */
static void
check (RecordedFrame *frame)
{
  g_autoptr (GString) once = g_string_new (NULL), again = g_string_new (NULL);

  g_assert (recorded_frame_fit (frame, 1921, 1081, NULL));
  for (guint i = 0; i < frame->boxes->len; i++) {
    RecordedFrame one = { .index = frame->index,
      .boxes = g_array_new (FALSE, FALSE, sizeof (Box)) };
    MotTextLine line;

    g_array_append_val (one.boxes, g_array_index (frame->boxes, Box, i));
    g_string_truncate (once, 0);
    mot_text_format (&one, once);
    once->str[once->len - 1] = '\0';
    g_assert (mot_text_parse_line (once->str, &line, NULL));
    g_assert (line.frame == frame->index);
    g_array_index (one.boxes, Box, 0) = line.box;
    g_assert (recorded_frame_fit (&one, 1921, 1081, NULL));
    g_string_truncate (again, 0);
    mot_text_format (&one, again);
    again->str[again->len - 1] = '\0';
    if (exact (&g_array_index (frame->boxes, Box, i)))
      g_assert_cmpstr (once->str, ==, again->str);
    g_array_unref (one.boxes);
  }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  fuzz_file (data, size, RECORD_FORMAT_MOT, check);
  return 0;
}
