/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-jsonl: converts JSON Lines to boxes and back, without an element. */
#include <math.h>
#include <string.h>

#include "gstrunner.h"
#include "randombox.h"
#include "records/jsonl.h"
#include "records/mottext.h"

static JsonlParser *parser;
static RecordedFrame frame;

static const char *
start (const char *needs)
{
  parser = jsonl_parser_new ();
  recorded_frame_init (&frame);
  return start_gst (needs);
}

static void
finish (void)
{
  jsonl_parser_free (parser);
  recorded_frame_clear (&frame);
  gst_deinit ();
}

static gboolean
parse_bytes (const gchar *text, gsize length, GError **error)
{
  g_autofree gchar *copy = g_malloc (length + 1);
  gboolean ok;

  memcpy (copy, text, length);
  copy[length] = '\0';
  ok = jsonl_parse (parser, copy, length, &frame, error);
  return ok;
}

static void
must_parse (const gchar *text)
{
  GError *error = NULL;

  parse_bytes (text, strlen (text), &error);
  if (error != NULL)
    g_error ("%s: %s", text, error ? error->message : "");
}

static Box *
box (guint i)
{
  g_assert_true (i < frame.boxes->len);
  return &g_array_index (frame.boxes, Box, i);
}

static void
must_refuse (const gchar *text, gsize length, const gchar *reason)
{
  g_autoptr (GError) error = NULL;

  if (parse_bytes (text, length, &error))
    g_error ("accepted: %s", text);
  g_assert_true (g_error_matches (error, RECORD_ERROR, RECORD_ERROR_MALFORMED));
  if (strstr (error->message, reason) == NULL)
    g_error ("%s\n  said: %s\n  not:  %s", text, error->message, reason);
}

static void
every_member_is_read (void)
{
  must_parse (
      "{\"timestamp\":100000000,\"resolution\":{\"width\":768,\"height\":576},"
      "\"source\":\"cam\",\"tags\":{\"a\":[1,{}]},\"objects\":[{\"x\":10,\"y\":-20,\"w\":30,"
      "\"h\":60,\"roi_type\":\"person\",\"region_id\":3,\"parent_id\":1,\"id\":7,"
      "\"detection\":{\"bounding_box\":{\"x_min\":0.013,\"y_min\":-0.035,\"x_max\":0.052,"
      "\"y_max\":0.139},\"confidence\":0.91,\"label_id\":1,\"label\":\"other\"},"
      "\"nms\":{\"state\":\"suppressed\",\"suppressed-by\":1}},{\"x\":1,\"y\":2,\"w\":3,\"h\":4,"
      "\"detection\":{\"label\":\"car\"}}]}");
  g_assert_true (frame.timestamp == 100000000 && frame.width == 768 && frame.height == 576);
  g_assert_cmpint (frame.boxes->len, ==, 2);
  g_assert_true (box (0)->x == 10 && box (0)->y == -20 && box (0)->w == 30 && box (0)->h == 60);
  g_assert_cmpstr (g_quark_to_string (box (0)->label), ==, "person");
  g_assert_cmpint (box (0)->region_id, ==, 3);
  g_assert_cmpint (box (0)->parent_id, ==, 1);
  g_assert_cmpint (box (0)->track_id, ==, 7);
  g_assert_cmpint (box (0)->label_id, ==, 1);
  g_assert_true (box (0)->confidence == 0.91);
  g_assert_true (box (0)->x_min == 0.013 && box (0)->y_min == -0.035 && box (0)->x_max == 0.052
      && box (0)->y_max == 0.139);
  g_assert_cmpint (box (0)->flags, ==,
      BOX_HAS_NORMALIZED | BOX_HAS_CONFIDENCE | BOX_HAS_LABEL_ID | BOX_HAS_TRACK_ID);
  g_assert_cmpint (box (0)->state, ==, BOX_STATE_SUPPRESSED);
  g_assert_cmpint (box (0)->suppressed_by, ==, 1);
  g_assert_cmpstr (g_quark_to_string (box (1)->label), ==, "car");
  g_assert_cmpint (box (1)->flags, ==, 0);
  g_assert_cmpint (box (1)->state, ==, BOX_STATE_NONE);
  g_assert_cmpint (box (1)->suppressed_by, ==, -1);
}

static void
what_may_be_missing (void)
{
  must_parse (" { \"objects\" : [ ] } ");
  g_assert_true (
      frame.timestamp == RECORDED_FRAME_NO_TIME && frame.width == 0 && frame.boxes->len == 0);
  must_parse ("{\"timestamp\":0,\"objects\":[{\"detection\":{\"bounding_box\":{\"x_min\":0,"
              "\"x_max\":1,\"y_min\":0.25,\"y_max\":0.75}}}]}");
  g_assert_true (frame.timestamp == 0 && box (0)->w == -1 && box (0)->label == 0);
  /* a name written with escapes is the same name */
  must_parse ("{\"\\u006fbjects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4}]}");
  g_assert_cmpint (frame.boxes->len, ==, 1);
  must_parse ("{\"timestamp\":9223372036854775807,\"objects\":[]}");
  g_assert_true (frame.timestamp == G_MAXINT64);
  /* ignored members may hold any number, and may be called objects */
  must_parse (
      "{\"hash\":18446744073709551615,\"big\":1e400,\"x\":{\"objects\":[1,2]},"
      "\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"objects\":[3],\"s\":\"]}{[\\\"\"}]}");
  g_assert_cmpint (frame.boxes->len, ==, 1);
}

/* gvametaconvert of DL Streamer leaves out empty objects, writes the edges in pixels if a box is an
 * OD without a region, and writes a negative coordinate as an unsigned number. */
static void
lines_of_dl_streamer_are_read (void)
{
  must_parse ("{\"resolution\":{\"height\":240,\"width\":320},\"source\":\"cam\","
              "\"timestamp\":33333333}");
  g_assert_true (frame.timestamp == 33333333 && frame.width == 320 && frame.boxes->len == 0);
  must_parse (
      "{\"objects\":[{\"detection\":{\"bounding_box\":{\"x_max\":118.0,\"x_min\":-10.0,"
      "\"y_max\":120.0,\"y_min\":24.0},\"confidence\":0.5},\"h\":96,\"region_id\":1,\"w\":128,"
      "\"x\":4294967286,\"y\":24},{\"h\":4,\"w\":3,\"x\":2147483647,\"y\":4294967295},"
      "{\"detection\":{\"bounding_box\":{\"x_max\":1,\"x_min\":0,\"y_max\":1,\"y_min\":0}},"
      "\"h\":1,\"w\":1,\"x\":0,\"y\":0}],\"resolution\":{\"height\":240,\"width\":320}}");
  g_assert_cmpint (frame.boxes->len, ==, 3);
  g_assert_cmpint (box (0)->flags, ==, BOX_HAS_CONFIDENCE);
  g_assert_true (box (0)->x == -10 && box (0)->y == 24 && box (0)->w == 128 && box (0)->h == 96);
  g_assert_true (box (0)->x1 == -10 && box (0)->x2 == 118);
  g_assert_true (box (1)->x == G_MAXINT && box (1)->y == -1);
  g_assert_cmpint (box (2)->flags, ==, BOX_HAS_NORMALIZED);
}

static void
malformed_lines_are_refused (void)
{
  static const struct
  {
    const gchar *text, *reason;
  } rows[] = {
    { "", "empty" },
    { "[]", "not a JSON object" },
    { "{", "not valid JSON" },
    { "{\"objects\":[]", "not valid JSON" },
    { "{\"objects\":[{\"x\":1,\"y\":2,\"w\":3", "not valid JSON" },
    { "{\"objects\":[]}{\"objects\":[]}", "something follows" },
    { "{\"objects\":[]} x", "not valid JSON" },
    { "{\"objects\":[}", "objects[0] is not an object" },
    { "{\"a\":nul,\"objects\":[]}", "a word that is neither" },
    /* members that are ignored are checked too */
    { "{\"a\":[1 2],\"objects\":[]}", "not valid JSON" },
    { "{\"a\":[01],\"objects\":[]}", "not valid JSON" },
    { "{\"a\":[1e999.5],\"objects\":[]}", "not valid JSON" },
    { "{\"a\":{\"b\":\"\\x\"},\"objects\":[]}", "not valid JSON" },
    { "{\"a\":[truex],\"objects\":[]}", "a word that is neither" },
    { "{\"a\":\"\xff\",\"objects\":[]}", "not valid JSON" },
    { "{\"objects\":[],\"objects\":[]}", "a second member objects" },
    { "{\"timestamp\":1}", "objects is missing" },
    { "{\"objects\":{}}", "objects is not an array" },
    { "{\"objects\":[1]}", "objects[0] is not an object" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1},]}", "objects[1] is not an object" },
    { "{\"objects\":[,{\"x\":1,\"y\":1,\"w\":1,\"h\":1}]}", "objects[0] is not an object" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1}{}]}", "not valid JSON" },
    { "{\"objects\":[{}]}", "objects[0] has neither x, y, w, h nor" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1}]}", "objects[0].h is missing" },
    { "{\"objects\":[{\"x\":\"1\",\"y\":1,\"w\":1,\"h\":1}]}", "objects[0].x is not a number" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":-1,\"h\":1}]}", "objects[0].w is negative" },
    { "{\"objects\":[{\"x\":1e10,\"y\":1,\"w\":1,\"h\":1}]}", "objects[0].x is not within" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1e10,\"h\":1}]}", "objects[0].w is 2^32" },
    { "{\"objects\":[{\"x\":4294967296,\"y\":1,\"w\":1,\"h\":1}]}", "objects[0].x is not within" },
    { "{\"objects\":[{\"x\":1e400,\"y\":1,\"w\":1,\"h\":1}]}", "objects[0].x is not a finite" },
    /* (versions of simdjson say "not valid JSON" or leave it to us: "x is not a number") */
    { "{\"objects\":[{\"x\":NaN,\"y\":1,\"w\":1,\"h\":1}]}", "not " },
    { "{\"objects\":[{\"x\":010,\"y\":1,\"w\":1,\"h\":1}]}", "not valid JSON" },
    { "{\"objects\":[{\"x\":1,5,\"y\":1,\"w\":1,\"h\":1}]}", "objects[0] is not valid JSON" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1},{\"detection\":1}]}",
        "objects[1].detection is not an object" },
    { "{\"objects\":[{\"detection\":{\"bounding_box\":[1,2,3,4]}}]}",
        "objects[0].detection.bounding_box is not an object" },
    { "{\"objects\":[{\"detection\":{\"bounding_box\":{}}}]}",
        "objects[0].detection.bounding_box.x_min is missing" },
    { "{\"objects\":[{\"detection\":{\"bounding_box\":{\"x_min\":0,\"y_min\":0,\"x_max\":1}}}]}",
        "objects[0].detection.bounding_box.y_max is missing" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"detection\":{\"confidence\":\"high\"}}]}",
        "objects[0].detection.confidence is not a number" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"detection\":{\"confidence\":-1e999}}]}",
        "objects[0].detection.confidence is not a finite number" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"detection\":{\"label_id\":0.5}}]}",
        "objects[0].detection.label_id is not an integer" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"roi_type\":5}]}",
        "objects[0].roi_type is not a string" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"roi_type\":\"a\\u0000b\"}]}", "NUL" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"roi_type\":\"\\x\"}]}", "not valid JSON" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"roi_type\":\"\\u12g4\"}]}",
        "not valid JSON" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"roi_type\":\"a\tb\"}]}", "not valid JSON" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"roi_type\":\"\xff\"}]}", "not valid JSON" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"id\":4294967296}]}",
        "objects[0].id is not an integer from -2147483648 to 2147483647" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"region_id\":99999999999999999999}]}",
        "objects[0].region_id is not an integer" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"nms\":{\"state\":\"gone\"}}]}",
        "objects[0].nms.state is none of kept" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"nms\":{}}]}",
        "objects[0].nms.state is missing" },
    { "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"nms\":{\"state\":\"suppressed\","
      "\"suppressed-by\":1}}]}",
        "objects[0].nms.suppressed-by is beyond" },
    { "{\"timestamp\":-1,\"objects\":[]}", "timestamp is not an integer from 0 to 92233720368547" },
    { "{\"timestamp\":9223372036854775808,\"objects\":[]}", "timestamp is not an integer" },
    { "{\"timestamp\":18446744073709551616,\"objects\":[]}", "timestamp is not an integer" },
    { "{\"timestamp\":1e9,\"objects\":[]}", "timestamp is not an integer" },
    { "{\"timestamp\":\"1\",\"objects\":[]}", "timestamp is not an integer" },
    { "{\"resolution\":{\"width\":0,\"height\":5},\"objects\":[]}", "resolution.width is not an" },
    { "{\"resolution\":{\"width\":5,\"height\":-5},\"objects\":[]}",
        "resolution.height is not an" },
    { "{\"resolution\":{\"width\":5},\"objects\":[]}", "resolution.height is missing" },
    { "{\"resolution\":[5,5],\"objects\":[]}", "resolution is not an object" },
    { "{\"resolution\":{\"width\":5e9,\"height\":5},\"objects\":[]}",
        "resolution.width is not an" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    must_refuse (rows[i].text, strlen (rows[i].text), rows[i].reason);
  must_refuse ("{\"objects\":\0[]}", 14, "not valid JSON");
  must_refuse ("{\"obj\0cts\":[]}", 14, "not valid JSON");
}

static gchar *
nested (guint depth, gchar open, gchar close)
{
  GString *s = g_string_new ("{\"objects\":[],\"a\":");

  for (guint i = 1; i < depth; i++)
    g_string_append_c (s, open);
  for (guint i = 1; i < depth; i++)
    g_string_append_c (s, close);
  g_string_append_c (s, '}');
  return g_string_free (s, FALSE);
}

static void
nesting_is_bounded (void)
{
  gchar *text = nested (64, '[', ']');

  must_parse (text);
  g_free (text);
  text = nested (65, '[', ']');
  must_refuse (text, strlen (text), "nested deeper than 64");
  g_free (text);
  text = g_strnfill (100000, '[');
  must_refuse (text, 100000, "not a JSON object");
  g_free (text);
  text = nested (100000, '[', ']');
  must_refuse (text, strlen (text), "nested deeper than 64");
  g_free (text);
  /* brackets in strings do not count as nesting */
  must_parse (
      "{\"objects\":[],\"a\":\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
      "[[[["
      "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"}");
}

static void
many_boxes (void)
{
  g_autoptr (GString) text = g_string_new ("{\"objects\":[");
  GError *error = NULL;

  for (guint i = 0; i < 120000; i++)
    g_string_append_printf (text, "%s{\"x\":%u,\"y\":1,\"w\":2,\"h\":3}", i ? "," : "", i);
  g_string_append (text, "]}");
  g_assert_true (jsonl_parse (parser, text->str, text->len, &frame, &error));
  g_assert_cmpint (frame.boxes->len, ==, 120000);
  g_assert_true (box (119999)->x == 119999);
}

/* 15 digits times a power of ten are rounded once, also those that a product of two doubles in 80
 * bits would round twice. */
static void
numbers_are_read_exactly (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (3);
  gchar number[40], line[120];

  for (guint i = 0; i < 100000; i++) {
    guint64 digits = g_rand_double_range (random, 1, 1e15);

    g_snprintf (number, sizeof number, "%" G_GUINT64_FORMAT "e%d", digits,
        g_rand_int_range (random, -25, 25));
    g_snprintf (line, sizeof line,
        "{\"objects\":[{\"x\":1,\"y\":1,\"w\":1,\"h\":1,\"detection\":{\"confidence\":%s}}]}",
        number);
    must_parse (line);
    if (box (0)->confidence != g_ascii_strtod (number, NULL))
      g_error ("%s", number);
  }
}

static void
the_first_box_is_written_as_suppressor (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  Box one = { .w = 1, .h = 1, .state = BOX_STATE_KEPT, .suppressed_by = -1 };

  recorded_frame_reset (&frame);
  g_array_append_val (frame.boxes, one);
  one.state = BOX_STATE_SUPPRESSED;
  one.suppressed_by = 0;
  g_array_append_val (frame.boxes, one);
  g_assert_cmpint (jsonl_format (&frame, text), ==, 0);
  g_assert_cmpstr (text->str, ==,
      "{\"objects\":[{\"x\":0,\"y\":0,\"w\":1,\"h\":1,\"region_id\":0,"
      "\"nms\":{\"state\":\"kept\"}},"
      "{\"x\":0,\"y\":0,\"w\":1,\"h\":1,\"region_id\":0,"
      "\"nms\":{\"state\":\"suppressed\",\"suppressed-by\":0}}]}\n");
}

/* ------------------------------------------------------------------ fitting */

static void
must_fit (gint width, gint height)
{
  GError *error = NULL;

  if (!(recorded_frame_fit (&frame, width, height, &error)))
    g_error ("%s", error ? error->message : "");
}

static void
boxes_fit_the_caps (void)
{
  const Box *b;
  g_autoptr (GError) error = NULL;

  /* whole pixels on the frame need no normalized coordinates */
  must_parse ("{\"objects\":[{\"x\":10,\"y\":20,\"w\":30,\"h\":40}]}");
  must_fit (100, 100);
  g_assert_true (box (0)->flags == 0 && box (0)->x == 10 && box (0)->w == 30);
  /* off the frame: exact in the doubles, clipped in the integers */
  must_parse ("{\"objects\":[{\"x\":-10,\"y\":90,\"w\":30,\"h\":40}]}");
  must_fit (100, 100);
  b = box (0);
  g_assert_true (b->x == 0 && b->w == 20 && b->y == 90 && b->h == 10);
  g_assert_true (b->x_min == -0.1 && b->x_max == 0.2 && b->y_min == 0.9 && b->y_max == 1.3);
  /* fractions of a pixel: exact in the doubles, rounded in the integers */
  must_parse ("{\"objects\":[{\"x\":0.5,\"y\":10,\"w\":1.25,\"h\":40}]}");
  must_fit (100, 100);
  b = box (0);
  g_assert_true (b->x == 1 && b->w == 1 && b->x_min == 0.005 && b->x_max == 0.0175);
  /* another size: scaled, from the integers or from the doubles */
  must_parse ("{\"resolution\":{\"width\":50,\"height\":200},"
              "\"objects\":[{\"x\":10,\"y\":20,\"w\":30,\"h\":40},{\"x\":0,\"y\":0,\"w\":1,\"h\":1,"
              "\"detection\":{\"bounding_box\":{\"x_min\":0.5,\"y_min\":0.5,\"x_max\":0.75,"
              "\"y_max\":1.5}}}]}");
  must_fit (100, 100);
  b = box (0);
  g_assert_true (b->x == 20 && b->y == 10 && b->w == 60 && b->h == 20 && b->x_max == 0.8);
  b = box (1);
  g_assert_true (b->x == 50 && b->y == 50 && b->w == 25 && b->h == 50 && b->y_max == 1.5);
  /* integers that agree with the doubles are kept, others are computed from them */
  must_parse (
      "{\"resolution\":{\"width\":100,\"height\":100},\"objects\":["
      "{\"x\":10,\"y\":10,\"w\":10,\"h\":10,\"detection\":{\"bounding_box\":{\"x_min\":0.109,"
      "\"y_min\":0.109,\"x_max\":0.209,\"y_max\":0.209}}},"
      "{\"x\":10,\"y\":10,\"w\":10,\"h\":10,\"detection\":{\"bounding_box\":{\"x_min\":0.12,"
      "\"y_min\":0.12,\"x_max\":0.22,\"y_max\":0.22}}}]}");
  must_fit (100, 100);
  g_assert_true (box (0)->x == 10 && box (1)->x == 12);
  /* no size is known: the integers are unchanged */
  must_parse ("{\"objects\":[{\"x\":-10,\"y\":20,\"w\":30,\"h\":40}]}");
  must_fit (0, 0);
  g_assert_true (box (0)->x == -10 && box (0)->w == 30);
  /* only the file states a size */
  must_parse ("{\"resolution\":{\"width\":200,\"height\":100},\"objects\":[{\"detection\":"
              "{\"bounding_box\":{\"x_min\":0.25,\"y_min\":0.5,\"x_max\":0.5,\"y_max\":2}}}]}");
  must_fit (0, 0);
  g_assert_true (box (0)->x == 50 && box (0)->y == 50 && box (0)->w == 50 && box (0)->h == 50);
  must_parse ("{\"objects\":[{\"detection\":"
              "{\"bounding_box\":{\"x_min\":0.25,\"y_min\":0.5,\"x_max\":0.5,\"y_max\":2}}}]}");
  g_assert_false (recorded_frame_fit (&frame, 0, 0, &error));
  g_assert_nonnull (strstr (error->message, "neither a resolution"));
}

/* Any box that is written reads back as the same text. */
static void
text_reads_back_as_the_same_text (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  g_autoptr (GString) once = g_string_new (NULL), again = g_string_new (NULL);

  for (guint round = 0; round < 3000; round++) {
    guint count = g_rand_int_range (random, 0, 8);
    gboolean sized = round % 3 != 0;

    recorded_frame_reset (&frame);
    frame.timestamp = g_rand_boolean (random) ? RECORDED_FRAME_NO_TIME : g_rand_int (random);
    frame.width = sized ? g_rand_int_range (random, 1, 2000) : 0;
    frame.height = sized ? g_rand_int_range (random, 1, 2000) : 0;
    for (guint i = 0; i < count; i++) {
      Box b;
      random_box (random, &b, count);
      if (!sized)
        b.flags &= ~BOX_HAS_NORMALIZED;
      g_array_append_val (frame.boxes, b);
    }
    g_string_truncate (once, 0);
    g_string_truncate (again, 0);
    jsonl_format (&frame, once);
    g_assert_true (once->str[once->len - 1] == '\n');
    once->str[once->len - 1] = '\0';
    must_parse (once->str);
    g_assert_cmpint (frame.boxes->len, ==, count);
    jsonl_format (&frame, again);
    again->str[again->len - 1] = '\0';
    g_assert_cmpstr (once->str, ==, again->str);
  }
}

static const TestCase cases[] = { CASE (every_member_is_read), CASE (what_may_be_missing),
  CASE (lines_of_dl_streamer_are_read), CASE (malformed_lines_are_refused),
  CASE (nesting_is_bounded), CASE (many_boxes), CASE (numbers_are_read_exactly),
  CASE (the_first_box_is_written_as_suppressor), CASE (boxes_fit_the_caps),
  CASE (text_reads_back_as_the_same_text), { NULL } };

TEST_PROGRAM (cases, start, finish);
