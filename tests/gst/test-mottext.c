/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-mottext: reads lines of MOT text, without an element. */
#include "gstrunner.h"
#include "records/mottext.h"

typedef struct
{
  const gchar *name, *text;
  /* the frame, edges x1,y1,x2,y2, the integers if they differ, and what else there is; or a part of
   * the error */
  const gchar *result;
} Row;

static const Row rows[] = {
  { "mot_lines_are_read", "1,3,794.27,247.59,71.245,174.88,0.91,-1,-1,-1",
      "0: 793.27,246.59,864.515,421.47 (793,247,71,175) id=3 confidence=0.91" },
  /* no track, no confidence; numbers as numpy writes them */
  { "blanks_are_passed_over", " 2.0e+00 , -1 , 1 , 1 , 2 , 3 , -1 , -1 , -1 , -1 \r",
      "1: 0,0,2,3" },
  /* a flag and a class instead of a confidence */
  { "ground_truth_is_read", "7,2,10,20,30,40,1,5,0.8", "6: 9,19,39,59 id=2 class=5" },
  { "ignored_ground_truth", "7,2,10,20,30,40,0,5,0.8", "6: 9,19,39,59 id=2 class=5 ignored" },
  { "six_columns", "7,-1,10,20,30,40", "6: 9,19,39,59" },
  { "seven_columns", "7,-1,10,20,30,40,55.5", "6: 9,19,39,59 confidence=55.5" },
  { "least_numbers", "1,-2147483648,-2147483648,-2147483648,4294967295,4294967295",
      "0: -2147483649,-2147483649,2147483646,2147483646 id=-2147483648" },
  { "greatest_numbers", "9007199254740992,2147483647,2147483647,2147483647,0,0",
      "9007199254740991: 2147483646,2147483646,2147483646,2147483646 id=2147483647" },

  { "an_empty_line", "", "frame is not a number" },
  { "three_columns", "1,2,3", "3 columns" },
  { "eight_columns", "1,2,3,4,5,6,7,8", "8 columns" },
  { "eleven_columns", "1,2,3,4,5,6,7,8,9,10,11", "more than 10 columns" },
  { "frame_0", "0,1,2,3,4,5,1,-1,-1,-1", "frame is not an integer from 1" },
  { "a_negative_frame", "-1,1,2,3,4,5,1,-1,-1,-1", "frame is not an integer from 1" },
  { "frame_1.5", "1.5,1,2,3,4,5,1,-1,-1,-1", "frame is not an integer from 1" },
  { "id_1.5", "1,1.5,2,3,4,5,1,-1,-1,-1", "id is not an integer" },
  { "a_word", "1,1,x,3,4,5,1,-1,-1,-1", "left is not a number" },
  { "nan", "1,1,2,nan,4,5,1,-1,-1,-1", "top is not a number" },
  { "inf", "1,1,2,inf,4,5,1,-1,-1,-1", "top is not a number" },
  { "1e400", "1,1,2,3,1e400,5,1,-1,-1,-1", "width is not a finite number" },
  { "0x10", "1,1,2,3,0x10,5,1,-1,-1,-1", "width is not a number" },
  { "a_negative_width", "1,1,2,3,-4,5,1,-1,-1,-1", "width or height is negative" },
  { "a_large_height", "1,1,2,3,4,5e10,1,-1,-1,-1", "width or height is 2^32" },
  { "a_large_left", "1,1,2e10,3,4,5,1,-1,-1,-1", "left or top is not within" },
  { "a_top_below_the_least", "1,1,2,-2147483649,4,5,1,-1,-1,-1", "left or top is not within" },
  { "a_top_above_the_greatest", "1,1,2,2147483648,4,5,1,-1,-1,-1", "left or top is not within" },
  { "a_width_above_the_greatest", "1,1,2,3,4294967296,5,1,-1,-1,-1", "width or height is 2^32" },
  { "no_confidence", "1,1,2,3,4,5,,-1,-1,-1", "conf is not a number" },
  { "two_confidences", "1,1,2,3,4,5,1 2,-1,-1,-1", "conf is not a number" },
  { "semicolons", "1;1;2;3;4;5;1", "the columns are separated by semicolons" },
  { "a_class_name", "1,1,2,3,4,5,1,person,1", "column 8 is not a number" },
  { "class_1.5", "1,1,2,3,4,5,1,1.5,1", "class is not an integer" },
  { "a_comma_at_the_end", "1,1,2,3,4,5,1,", "column 8 is not a number" },
  { NULL },
};

/* Appends a text and a number with a decimal point, in every locale. */
static void
append_number (GString *text, const gchar *before, gdouble value)
{
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (text, before);
  g_string_append (text, g_ascii_formatd (number, sizeof number, "%.12g", value));
}

static void
read_row (gconstpointer data)
{
  const Row *row = data;
  g_autoptr (GString) result = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  MotTextLine line;

  if (mot_text_parse_line (row->text, &line, &error)) {
    const Box *b = &line.box;

    g_string_printf (result, "%" G_GUINT64_FORMAT, (guint64) line.frame);
    append_number (result, ": ", b->x1);
    append_number (result, ",", b->y1);
    append_number (result, ",", b->x2);
    append_number (result, ",", b->y2);
    if (b->x != b->x1)
      g_string_append_printf (result, " (%d,%d,%d,%d)", (gint) b->x, (gint) b->y, (gint) b->w,
          (gint) b->h);
    if (b->flags & BOX_HAS_TRACK_ID)
      g_string_append_printf (result, " id=%d", b->track_id);
    if (b->flags & BOX_HAS_CONFIDENCE)
      append_number (result, " confidence=", b->confidence);
    if (b->flags & BOX_HAS_LABEL_ID)
      g_string_append_printf (result, " class=%d", b->label_id);
    g_string_append (result, line.ignored ? " ignored" : "");
    g_assert_cmpstr (result->str, ==, row->result);
  } else if (strstr (error->message, row->result) == NULL) {
    g_error ("%s: %s", row->text, error->message);
  }
}

static const TestCase cases[] = { TEST_ROWS ("/%s", read_row, rows), { NULL } };

GST_TEST_PROGRAM (cases);
