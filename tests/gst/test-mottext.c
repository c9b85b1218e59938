/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-mottext: converts MOT text to boxes and back, without an element. */
#include <string.h>

#include "gstrunner.h"
#include "randombox.h"
#include "records/mottext.h"

static void
mot_lines_are_read (void)
{
  MotTextLine line;

  g_assert_true (
      mot_text_parse_line ("1,3,794.27,247.59,71.245,174.88,0.91,-1,-1,-1", &line, NULL));
  g_assert_true (line.frame == 0 && line.columns == 10 && !line.ignored);
  g_assert_true (line.box.track_id == 3 && line.box.confidence == 0.91);
  g_assert_true (line.box.x1 == 794.27 - 1 && line.box.y1 == 247.59 - 1);
  g_assert_true (line.box.x2 == 794.27 - 1 + 71.245 && line.box.w == 71 && line.box.x == 793);
  /* no track, no confidence; blanks; numbers as numpy writes them */
  g_assert_true (
      mot_text_parse_line (" 2.0e+00 , -1 , 1 , 1 , 2 , 3 , -1 , -1 , -1 , -1 \r", &line, NULL));
  g_assert_true (line.frame == 1 && line.box.flags == 0 && line.box.x == 0 && line.box.y == 0);
  /* ground truth: a flag and a class instead of a confidence */
  g_assert_true (mot_text_parse_line ("7,2,10,20,30,40,1,5,0.8", &line, NULL));
  g_assert_true (line.box.flags == (BOX_HAS_TRACK_ID | BOX_HAS_LABEL_ID) && line.box.label_id == 5
      && !line.ignored);
  g_assert_true (mot_text_parse_line ("7,2,10,20,30,40,0,5,0.8", &line, NULL) && line.ignored);
  g_assert_true (mot_text_parse_line ("7,-1,10,20,30,40", &line, NULL) && line.box.flags == 0);
  g_assert_true (mot_text_parse_line ("7,-1,10,20,30,40,55.5", &line, NULL));
  g_assert_true (line.box.confidence == 55.5);
  /* the ends of the ranges */
  g_assert_true (mot_text_parse_line ("1,-2147483648,-2147483648,-2147483648,4294967295,4294967295",
      &line, NULL));
  g_assert_true (line.box.x == G_MININT32 - G_GINT64_CONSTANT (1) && line.box.y == line.box.x);
  g_assert_true (
      mot_text_parse_line ("9007199254740992,2147483647,2147483647,2147483647,0,0", &line, NULL));
  g_assert_true (line.box.x == G_MAXINT32 - 1 && line.box.w == 0);
}

static void
malformed_mot_lines_are_refused (void)
{
  static const struct
  {
    const gchar *text, *reason;
  } rows[] = {
    { "", "frame is not a number" },
    { "1,2,3", "3 columns" },
    { "1,2,3,4,5,6,7,8", "8 columns" },
    { "1,2,3,4,5,6,7,8,9,10,11", "more than 10 columns" },
    { "0,1,2,3,4,5,1,-1,-1,-1", "frame is not an integer from 1" },
    { "-1,1,2,3,4,5,1,-1,-1,-1", "frame is not an integer from 1" },
    { "1.5,1,2,3,4,5,1,-1,-1,-1", "frame is not an integer from 1" },
    { "1,1.5,2,3,4,5,1,-1,-1,-1", "id is not an integer" },
    { "1,1,x,3,4,5,1,-1,-1,-1", "left is not a number" },
    { "1,1,2,nan,4,5,1,-1,-1,-1", "top is not a number" },
    { "1,1,2,inf,4,5,1,-1,-1,-1", "top is not a number" },
    { "1,1,2,3,1e400,5,1,-1,-1,-1", "width is not a finite number" },
    { "1,1,2,3,0x10,5,1,-1,-1,-1", "width is not a number" },
    { "1,1,2,3,-4,5,1,-1,-1,-1", "width or height is negative" },
    { "1,1,2,3,4,5e10,1,-1,-1,-1", "width or height is 2^32" },
    { "1,1,2e10,3,4,5,1,-1,-1,-1", "left or top is not within" },
    { "1,1,2,-2147483649,4,5,1,-1,-1,-1", "left or top is not within" },
    { "1,1,2,2147483648,4,5,1,-1,-1,-1", "left or top is not within" },
    { "1,1,2,3,4294967296,5,1,-1,-1,-1", "width or height is 2^32" },
    { "1,1,2,3,4,5,,-1,-1,-1", "conf is not a number" },
    { "1,1,2,3,4,5,1 2,-1,-1,-1", "conf is not a number" },
    { "1;1;2;3;4;5;1", "the columns are separated by semicolons" },
    { "1,1,2,3,4,5,1,person,1", "column 8 is not a number" },
    { "1,1,2,3,4,5,1,1.5,1", "class is not an integer" },
    { "1,1,2,3,4,5,1,", "column 8 is not a number" },
  };
  MotTextLine line;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;

    if (mot_text_parse_line (rows[i].text, &line, &error))
      g_error ("accepted %s", rows[i].text);
    if (strstr (error->message, rows[i].reason) == NULL)
      g_error ("%s: %s", rows[i].text, error->message);
  }
}

/* Text that was read and written again is the same, also after the boxes were divided by the frame
 * size and multiplied again. */
static void
mot_text_reads_back_as_the_same_text (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (8);
  g_autoptr (GString) once = g_string_new (NULL), again = g_string_new (NULL);
  RecordedFrame frame;

  recorded_frame_init (&frame);
  for (guint round = 0; round < 20000; round++) {
    gint width = g_rand_int_range (random, 1, 8000), height = g_rand_int_range (random, 1, 8000);
    MotTextLine line;
    GError *error = NULL;
    Box b;

    random_box (random, &b, 1);
    if (round % 2) {
      b.x1 = g_rand_double_range (random, -100, 8000);
      b.y1 = g_rand_double_range (random, -100, 8000);
      b.x2 = b.x1 + g_rand_double_range (random, 0, 500);
      b.y2 = b.y1 + g_rand_double_range (random, 0, 500);
    } else {
      b.x1 = b.x;
      b.y1 = b.y;
      b.x2 = b.x + b.w;
      b.y2 = b.y + b.h;
    }
    recorded_frame_reset (&frame);
    frame.index = round;
    g_array_append_val (frame.boxes, b);
    g_string_truncate (once, 0);
    mot_text_format (&frame, once);
    once->str[once->len - 1] = '\0';
    if (!(mot_text_parse_line (once->str, &line, &error)))
      g_error ("%s: %s", once->str, error ? error->message : "");
    g_assert_cmpuint (line.frame, ==, round);

    recorded_frame_reset (&frame);
    frame.index = line.frame;
    g_array_append_val (frame.boxes, line.box);
    g_assert_true (recorded_frame_fit (&frame, width, height, NULL));
    g_string_truncate (again, 0);
    mot_text_format (&frame, again);
    again->str[again->len - 1] = '\0';
    g_assert_cmpstr (once->str, ==, again->str);
  }
  recorded_frame_clear (&frame);
}

static const TestCase cases[] = { CASE (mot_lines_are_read), CASE (malformed_mot_lines_are_refused),
  CASE (mot_text_reads_back_as_the_same_text), { NULL } };

GST_TEST_PROGRAM (cases);
