/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-jsonl: converts JSON Lines to boxes and back, without an element. Texts have ' in place of
 * ", and @ in place of 'x':1,'y':1,'w':1,'h':1. */
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "gstrunner.h"
#include "records/jsonl.h"
#include "records/jsonlwrite.h"

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

/* Returns a text as JSON. Free it. */
static gchar *
json_new (const gchar *text)
{
  GString *json = g_string_new (NULL);

  for (; *text; text++)
    if (*text == '@')
      g_string_append (json, "\"x\":1,\"y\":1,\"w\":1,\"h\":1");
    else
      g_string_append_c (json, *text == '\'' ? '"' : *text);
  return g_string_free (json, FALSE);
}

static void
must_parse (gchar *json)
{
  GError *error = NULL;

  if (!jsonl_parse (parser, json, strlen (json), &frame, &error))
    g_error ("%s: %s", json, error->message);
}

static void
must_refuse (gchar *json, gsize length, const gchar *reason)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *text = g_strndup (json, length);

  if (jsonl_parse (parser, json, length, &frame, &error))
    g_error ("accepted: %s", text);
  g_assert_true (g_error_matches (error, RECORD_ERROR, RECORD_ERROR_MALFORMED));
  if (strstr (error->message, reason) == NULL)
    g_error ("%s\n  said: %s\n  not:  %s", text, error->message, reason);
}

/* ------------------------------------------------------------------ reading */

typedef struct
{
  const gchar *name;
  gint size; /* width and height of the frame that the boxes are fitted to; 0: unknown */
  const gchar *line, *result; /* what is written of the boxes then, or a part of the error */
} ReadRow;

#define OBJECTS "{'objects':["
#define FACE \
  "{'h':96,'region_id':1,'w':128,'x':4294967286,'y':24,'detection':{'bounding_box':{" \
  "'x_max':118.0,'x_min':-10.0,'y_max':120.0,'y_min':24.0},'confidence':0.5}}"

static const ReadRow reads[] = {
  /* the members are those of the test of the schema */
  { "the_label_counts_without_a_roi_type", 0,
      OBJECTS
      "{@,'roi_type':'person','detection':{'label':'other'}},{@,'detection':{'label':'car'},"
      "'nms':{'state':'suppressed','suppressed-by':0}}]}",
      "{'objects':[{@,'roi_type':'person','region_id':0,'detection':{'label':'person'}},{@,"
      "'roi_type':'car','region_id':0,'detection':{'label':'car'},"
      "'nms':{'state':'suppressed','suppressed-by':0}}]}" },
  { "objects_may_be_empty", 0, " { 'objects' : [ ] } ", "{'objects':[]}" },
  { "integers_may_be_missing", 100,
      "{'timestamp':0,'objects':[{'detection':{'bounding_box':{'x_min':0,'x_max':1,'y_min':0.25,"
      "'y_max':0.75}}}]}",
      "{'timestamp':0,'resolution':{'width':100,'height':100},'objects':[{'x':0,'y':25,"
      "'w':100,'h':50,'region_id':0,'detection':{'bounding_box':{'x_min':0,'y_min':0.25,"
      "'x_max':1,'y_max':0.75}}}]}" },
  { "a_name_with_escapes_is_the_same_name", 0, "{'\\u006fbjects':[{@}]}",
      "{'objects':[{@,'region_id':0}]}" },
  { "the_latest_time", 0, "{'timestamp':9223372036854775807,'objects':[]}",
      "{'timestamp':9223372036854775807,'objects':[]}" },
  { "ignored_members_hold_anything", 0,
      "{'hash':18446744073709551615,'big':1e400,'x':{'objects':[1,2]},'objects':[{@,'objects':[3],"
      "'s':']}{[\\''}]}",
      "{'objects':[{@,'region_id':0}]}" },
  /* gvametaconvert of DL Streamer leaves out empty objects, writes the edges in pixels if a box is
   * an OD without a region, and writes a negative coordinate as an unsigned number */
  { "objects_may_be_missing", 0,
      "{'resolution':{'height':240,'width':320},'source':'cam',"
      "'timestamp':33333333}",
      "{'timestamp':33333333,'resolution':{'width':320,'height':240},'objects':[]}" },
  { "lines_of_dl_streamer_are_read", 0,
      "{'resolution':{'height':240,'width':320},'objects':[" FACE ",{'h':4,'w':3,'x':2147483647,"
      "'y':4294967295},{@,'detection':{'bounding_box':{'x_max':1,'x_min':0,'y_max':1,"
      "'y_min':0}}}]}",
      "{'resolution':{'width':320,'height':240},'objects':[{'x':0,'y':24,'w':118,'h':96,"
      "'region_id':1,'detection':{'bounding_box':{'x_min':-0.03125,'y_min':0.1,"
      "'x_max':0.36875,'y_max':0.5},'confidence':0.5}},{'x':320,'y':0,'w':0,'h':3,"
      "'region_id':0,'detection':{'bounding_box':{'x_min':6710886.396875,"
      "'y_min':-0.004166666666666667,'x_max':6710886.40625,'y_max':0.0125}}},{@,"
      "'region_id':0,'detection':{'bounding_box':{'x_min':0,'y_min':0,'x_max':1,"
      "'y_max':1}}}]}" },

  { "whole_pixels_need_no_normalized_coordinates", 100, OBJECTS "{'x':10,'y':20,'w':30,'h':40}]}",
      "{'resolution':{'width':100,'height':100},'objects':[{'x':10,'y':20,'w':30,'h':40,"
      "'region_id':0,'detection':{'bounding_box':{'x_min':0.1,'y_min':0.2,'x_max':0.4,"
      "'y_max':0.6}}}]}" },
  /* exact in the doubles, clipped in the integers */
  { "boxes_off_the_frame", 100, OBJECTS "{'x':-10,'y':90,'w':30,'h':40}]}",
      "{'resolution':{'width':100,'height':100},'objects':[{'x':0,'y':90,'w':20,'h':10,"
      "'region_id':0,'detection':{'bounding_box':{'x_min':-0.1,'y_min':0.9,'x_max':0.2,"
      "'y_max':1.3}}}]}" },
  { "fractions_of_a_pixel", 100, OBJECTS "{'x':0.5,'y':10,'w':1.25,'h':40}]}",
      "{'resolution':{'width':100,'height':100},'objects':[{'x':1,'y':10,'w':1,'h':40,"
      "'region_id':0,'detection':{'bounding_box':{'x_min':0.005,'y_min':0.1,'x_max':0.0175,"
      "'y_max':0.5}}}]}" },
  /* from the integers or from the doubles */
  { "boxes_of_another_size_are_scaled", 100,
      "{'resolution':{'width':50,'height':200},'objects':[{'x':10,'y':20,'w':30,'h':40},{@,"
      "'detection':{'bounding_box':{'x_min':0.5,'y_min':0.5,'x_max':0.75,'y_max':1.5}}}]}",
      "{'resolution':{'width':100,'height':100},'objects':[{'x':20,'y':10,'w':60,'h':20,"
      "'region_id':0,'detection':{'bounding_box':{'x_min':0.2,'y_min':0.1,'x_max':0.8,"
      "'y_max':0.3}}},{'x':50,'y':50,'w':25,'h':50,'region_id':0,"
      "'detection':{'bounding_box':{'x_min':0.5,'y_min':0.5,'x_max':0.75,'y_max':1.5}}}]}" },
  { "integers_that_agree_with_the_doubles_are_kept", 100,
      "{'resolution':{'width':100,'height':100},'objects':[{'x':10,'y':10,'w':10,'h':10,"
      "'detection':{'bounding_box':{'x_min':0.109,'y_min':0.109,'x_max':0.209,'y_max':0.209}}},"
      "{'x':10,'y':10,'w':10,'h':10,'detection':{'bounding_box':{'x_min':0.12,'y_min':0.12,"
      "'x_max':0.22,'y_max':0.22}}}]}",
      "{'resolution':{'width':100,'height':100},'objects':[{'x':10,'y':10,'w':10,'h':10,"
      "'region_id':0,'detection':{'bounding_box':{'x_min':0.109,'y_min':0.109,'x_max':0.209,"
      "'y_max':0.209}}},{'x':12,'y':12,'w':10,'h':10,'region_id':0,"
      "'detection':{'bounding_box':{'x_min':0.12,'y_min':0.12,'x_max':0.22,'y_max':0.22}}}]}" },
  { "without_a_size_integers_are_unchanged", 0, OBJECTS "{'x':-10,'y':20,'w':30,'h':40}]}",
      "{'objects':[{'x':-10,'y':20,'w':30,'h':40,'region_id':0}]}" },
  { "the_file_may_state_the_size", 0,
      "{'resolution':{'width':200,'height':100},'objects':[{'detection':{'bounding_box':{"
      "'x_min':0.25,'y_min':0.5,'x_max':0.5,'y_max':2}}}]}",
      "{'resolution':{'width':200,'height':100},'objects':[{'x':50,'y':50,'w':50,'h':50,"
      "'region_id':0,'detection':{'bounding_box':{'x_min':0.25,'y_min':0.5,'x_max':0.5,"
      "'y_max':2}}}]}" },
  { "there_may_be_no_size", 0,
      OBJECTS "{'detection':{'bounding_box':{'x_min':0.25,'y_min':0.5,'x_max':0.5,'y_max':2}}}]}",
      "neither a resolution" },
  { NULL },
};

static void
read_row (gconstpointer data)
{
  const ReadRow *row = data;
  g_autofree gchar *json = json_new (row->line), *expected = json_new (row->result);
  g_autoptr (GString) result = g_string_new (NULL);
  GError *error = NULL;

  must_parse (json);
  if (recorded_frame_fit (&frame, row->size, row->size, &error)) {
    if (row->size)
      frame.width = frame.height = row->size;
    jsonl_format (&frame, result);
    g_string_truncate (result, result->len - 1);
  } else {
    g_string_assign (result, strstr (error->message, expected) ? expected : error->message);
    g_clear_error (&error);
  }
  g_assert_cmpstr (result->str, ==, expected);
}

/* The test of the schema checks that each member is refused with another type and beyond its
 * limits. */
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
    { "{'objects':[{'x':1,'y':2,'w':3", "not valid JSON" },
    { "{'objects':[]}{'objects':[]}", "something follows" },
    { "{'objects':[]} x", "not valid JSON" },
    { "{'objects':[}", "objects[0] is not an object" },
    { "{'a':nul,'objects':[]}", "a word that is neither" },
    /* members that are ignored are checked too */
    { "{'a':[1 2],'objects':[]}", "not valid JSON" },
    { "{'a':[01],'objects':[]}", "not valid JSON" },
    { "{'a':[1e999.5],'objects':[]}", "not valid JSON" },
    { "{'a':{'b':'\\x'},'objects':[]}", "not valid JSON" },
    { "{'a':[truex],'objects':[]}", "a word that is neither" },
    { "{'a':'\xff','objects':[]}", "not valid JSON" },
    { "{'objects':[],'objects':[]}", "a second member objects" },
    { "{'timestamp':1}", "objects is missing" },
    { "{'objects':{}}", "objects is not an array" },
    { "{'objects':[{@},]}", "objects[1] is not an object" },
    { "{'objects':[,{@}]}", "objects[0] is not an object" },
    { "{'objects':[{@}{}]}", "not valid JSON" },
    { "{'objects':[{}]}", "objects[0] has neither x, y, w, h nor" },
    { "{'objects':[{'x':1,'y':1,'w':1}]}", "objects[0].h is missing" },
    { "{'objects':[{'x':'1','y':1,'w':1,'h':1}]}", "objects[0].x is not a number" },
    { "{'objects':[{'x':1,'y':1,'w':-1,'h':1}]}", "objects[0].w is negative" },
    { "{'objects':[{'x':1,'y':1,'w':1e10,'h':1}]}", "objects[0].w is 2^32" },
    { "{'objects':[{'x':4294967296,'y':1,'w':1,'h':1}]}", "objects[0].x is not within" },
    { "{'objects':[{'x':1e400,'y':1,'w':1,'h':1}]}", "objects[0].x is not a finite" },
    /* (versions of simdjson say "not valid JSON" or leave it to us: "x is not a number") */
    { "{'objects':[{'x':NaN,'y':1,'w':1,'h':1}]}", "not " },
    { "{'objects':[{'x':010,'y':1,'w':1,'h':1}]}", "not valid JSON" },
    { "{'objects':[{'x':1,5,'y':1,'w':1,'h':1}]}", "objects[0] is not valid JSON" },
    { "{'objects':[{@},{'detection':1}]}", "objects[1].detection is not an object" },
    { "{'objects':[{'detection':{'bounding_box':[1,2,3,4]}}]}",
        "objects[0].detection.bounding_box is not an object" },
    { "{'objects':[{'detection':{'bounding_box':{}}}]}",
        "objects[0].detection.bounding_box.x_min is missing" },
    { "{'objects':[{@,'detection':{'confidence':-1e999}}]}",
        "objects[0].detection.confidence is not a finite number" },
    { "{'objects':[{@,'roi_type':5}]}", "objects[0].roi_type is not a string" },
    { "{'objects':[{@,'roi_type':'a\\u0000b'}]}", "NUL" },
    { "{'objects':[{@,'roi_type':'\\x'}]}", "not valid JSON" },
    { "{'objects':[{@,'roi_type':'a\tb'}]}", "not valid JSON" },
    { "{'objects':[{@,'roi_type':'\xff'}]}", "not valid JSON" },
    { "{'objects':[{@,'id':4294967296}]}",
        "objects[0].id is not an integer from -2147483648 to 2147483647" },
    { "{'objects':[{@,'region_id':99999999999999999999}]}",
        "objects[0].region_id is not an integer" },
    { "{'objects':[{@,'nms':{'state':'gone'}}]}", "objects[0].nms.state is none of kept" },
    { "{'objects':[{@,'nms':{}}]}", "objects[0].nms.state is missing" },
    { "{'objects':[{@,'nms':{'state':'suppressed','suppressed-by':1}}]}",
        "objects[0].nms.suppressed-by is beyond" },
    { "{'timestamp':-1,'objects':[]}", "timestamp is not an integer from 0 to 92233720368547" },
    { "{'timestamp':18446744073709551616,'objects':[]}", "timestamp is not an integer" },
    { "{'timestamp':1e9,'objects':[]}", "timestamp is not an integer" },
    { "{'resolution':{'width':0,'height':5},'objects':[]}", "resolution.width is not an" },
    { "{'resolution':{'width':5e9,'height':5},'objects':[]}", "resolution.width is not an" },
    { "{'resolution':[5,5],'objects':[]}", "resolution is not an object" },
  };
  gchar nul_between[] = "{\"objects\":\0[]}", nul_in_a_name[] = "{\"obj\0cts\":[]}";

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *json = json_new (rows[i].text);

    must_refuse (json, strlen (json), rows[i].reason);
  }
  must_refuse (nul_between, sizeof nul_between - 1, "not valid JSON");
  must_refuse (nul_in_a_name, sizeof nul_in_a_name - 1, "not valid JSON");
}

static void
nesting_is_bounded (void)
{
  static const struct
  {
    guint depth;
    const gchar *before, *after, *reason;
  } rows[] = {
    { 63, "{\"objects\":[],\"a\":", "}", NULL },
    { 64, "{\"objects\":[],\"a\":", "}", "nested deeper than 64" },
    { 99999, "{\"objects\":[],\"a\":", "}", "nested deeper than 64" },
    { 99999, "", "", "not a JSON object" },
    /* brackets in strings do not count as nesting */
    { 200, "{\"objects\":[],\"a\":\"", "\"}", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *open = g_strnfill (rows[i].depth, '[');
    g_autofree gchar *close = g_strnfill (rows[i].depth, ']');
    g_autofree gchar *json = g_strconcat (rows[i].before, open, close, rows[i].after, NULL);

    if (rows[i].reason)
      must_refuse (json, strlen (json), rows[i].reason);
    else
      must_parse (json);
  }
}

/* ------------------------------------------------------------------ writing */

#ifdef __SSE2__
/* A library built with fast-math leaves flush-to-zero on in the process. */
static void
numbers_are_exact_under_flush_to_zero (void)
{
  const unsigned int mode = _mm_getcsr ();
  g_autoptr (GString) text = g_string_new (NULL);

  _mm_setcsr (mode | 0x8040);
  jsonl_append_double (text, 5e-324);
  g_string_append_c (text, ' ');
  jsonl_append_double (text, 1e-310);
  _mm_setcsr (mode);
  g_assert_cmpstr (text->str, ==, "4.94065645841247e-324 9.99999999999997e-311");
}
#endif

static const TestCase cases[] = { TEST_ROWS ("/%s", read_row, reads),
  CASE (malformed_lines_are_refused), CASE (nesting_is_bounded),
#ifdef __SSE2__
  CASE (numbers_are_exact_under_flush_to_zero),
#endif
  { NULL } };

TEST_PROGRAM (cases, start, finish);
