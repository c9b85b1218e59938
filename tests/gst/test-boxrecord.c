/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrecord: the text that it writes, byte by byte, what append=true continues, and the pad
 * boxes. */
#include "gstrunner.h"
#include "recorder.h"
#include "textfiles.h"

#define CAPS "video/x-raw,format=GRAY8,width=768,height=576,framerate=10/1"
#define SMALL_CAPS "video/x-raw,format=GRAY8,width=4,height=8,framerate=0/1"
#define NO_SIZE "application/x-anything"
#define TEXT(time) \
  "{\"timestamp\":" time ",\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"region_id\":0}]}\n"
#define LINE TEXT ("0")
#define MOT_LINE(number) number ",-1,2,3,3,4,-1,-1,-1,-1\n"
#define NO_BOXES "{\"objects\":[]}"
#define OLD "{\"timestamp\":0,\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4}]}\n"

#define BEGIN "sparse stream\ntext/x-raw\nsegment 0+0\n"

#define ID_LINE \
  "{\"timestamp\":0,\"stream-id\":\"a\\\"camera\\\"\"," \
  "\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"region_id\":0}]}\n"

static const RecorderRow rows[] = {
  /* half a record is removed, one that lacks only its end of line is kept */
  { "appending_to_an_empty_file", "append=true", "", "0", LINE },
  { "appending_continues_after_the_last_record", "append=true", LINE, "0", LINE LINE },
  { "appending_adds_an_end_of_line", "append=true", NO_BOXES, "0", NO_BOXES "\n" LINE },
  { "appending_removes_half_a_record", "append=true", "{\"objects\":[", "0", LINE },
  { "appending_removes_half_a_last_record", "append=true", NO_BOXES "\n{\"timestamp\":0,\"obj", "0",
      NO_BOXES "\n" LINE },
  /* frame numbers of MOT text go on, because it has no times */
  { "appending_to_no_mot_text", "append=true format=mot", "", "0", MOT_LINE ("1") },
  { "appending_counts_on", "append=true format=mot", MOT_LINE ("7"), "0",
      MOT_LINE ("7") MOT_LINE ("8") },
  { "appending_removes_a_number", "append=true format=mot", MOT_LINE ("7") "8", "0",
      MOT_LINE ("7") MOT_LINE ("8") },
  /* a line that was cut may have fewer columns than the line before */
  { "appending_removes_a_line_of_mot_text", "append=true format=mot",
      MOT_LINE ("7") "8,-1,2,3,3,4,-1,-1,-1", "0", MOT_LINE ("7") MOT_LINE ("8") },
  { "appending_keeps_a_line_of_mot_text", "append=true format=mot",
      MOT_LINE ("7") "8,-1,2,3,3,4,-1,-1,-1,-1", "0",
      MOT_LINE ("7") MOT_LINE ("8") MOT_LINE ("9") },

  /* seeks, reverse playback and frames in decoding order: lines have their times in the order of
   * the buffers */
  { "lines_have_the_order_of_the_buffers", "", NULL, "0..2 seek-1 1 reverse-3 2..0 from-0 0t 4u 2u",
      "0 1 2 1 2 1 0 0 4 2" },
  { "frames_outside_of_the_segment_are_marked", "", NULL, "from-5/1/7 3..7", "-h 0h 1 2 3h" },
  { "mot_text_leaves_out_frames_outside_of_the_segment", "format=mot", NULL, "from-2 0..3 frames=2",
      MOT_LINE ("1") MOT_LINE ("2") },
  /* a buffer that begins before its segment and ends in it is shown, so it has a time */
  { "a_frame_across_the_start_has_a_time", "", NULL, "from-1.5/0 1", "0" },
  { "lines_have_the_id_of_their_stream", "add-stream-id=true", NULL, "stream-a\"camera\" 0",
      ID_LINE },

  /* a stream that ends without a frame is an empty recording; one that does not end is none */
  { "a_file_is_kept_without_an_end", "flush=buffer", OLD, "", OLD },
  { "a_file_is_emptied_by_the_end", "flush=buffer", OLD, "eos lines:0", "" },
  { "a_file_that_was_moved_away_is_not_replaced", "", OLD, "move eos lines:0", "" },
  /* a stop ends all state */
  { "a_restart_begins_anew", "", NULL, "0 1 frames=2 again frames=0 5 frames=1", "5" },
  { "a_restart_of_mot_text_begins_anew", "format=mot", NULL, "0 1 again 5", MOT_LINE ("1") },
  { "a_restart_forgets_what_was_dropped", "on-error=continue", "|",
      "0 leave 1 failed=1 again open 4 close", "4", "the reader closed the pipe" },
  { "lines_are_handed_on_as_set", "flush=buffer", NULL,
      "0..99 lines:0 100..1999 lines:>1000 eos lines:2000" },
  { "lines_are_handed_on_at_the_stop", "flush=buffer", NULL, "0..4 lines:0", "0 1 2 3 4" },
  { "lines_are_handed_on_at_once", "flush=disk", NULL, "0 lines:1", "0" },
  { "a_full_disk_is_one_error", "", "/dev/full", "0!", NULL,
      "Cannot write to /dev/full: No space left on device" },

  /* the first reader of a FIFO gets the lines written before; when it leaves, writing fails */
  { "a_late_reader_gets_all_lines", "", "|late", "0..2 open 3 lines:4 4 leave 5!", "0 1 2 3",
      "the reader closed the pipe" },
  { "a_reader_may_come_back", "on-error=continue", "|", "0 leave 1..3 failed=1 open 4 close",
      "2d 3 4", "the reader closed the pipe" },

  { "pad_begins_as_the_video_does", "", "pad", "from-2 2o",
      "sparse stream\ntext/x-raw\nsegment 2+2\ngap 2+1\n" },
  { "pad_pushes_a_line_with_the_times_of_the_frame", "", "pad", "3 frames=1",
      BEGIN "3+1 " TEXT ("300000000") },
  { "pad_pushes_empty_lines_if_told_so", "empty-lines=true", "pad", "3o",
      BEGIN "3+1 {\"timestamp\":300000000,\"objects\":[]}\n" },
  { "pad_forwards_gaps_flushes_and_eos", "", "pad", "0 gap-1 seek-0 1 eos",
      BEGIN "0+1 " TEXT ("0") "gap 1+1\nflush-start\nflush-stop\nsegment 0+0\n"
                              "1+1 " TEXT ("100000000") "eos\n" },
  { NULL },
};

/* tests/data/marked.jsonl, which the test of the schema reads, has lines of these rows. */
static void
marked_lines_are_those_of_rows (void)
{
  g_autofree gchar *path = g_build_filename (g_getenv ("NMS_TEST_DATA"), "marked.jsonl", NULL);
  g_autofree gchar *marked = recorder_text ("2d -h");
  g_autofree gchar *text = g_strconcat (marked, ID_LINE, NULL);

  text_file_must_be (path, text);
}

/* --------------------------------------------------------------- text of a frame */

#define SIZE ",\"resolution\":{\"width\":768,\"height\":576}"
#define BARE "\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,\"region_id\":0}]}\n"
/* the label \xff\xed\xa0\x80z\xc3, which is no UTF-8 but for z */
#define INVALID "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\""

/* Each line is in the file when its buffer, which is not copied, has passed. Caps may change, or
 * tell no size. */
static void
frames_become_lines (void)
{
  static const struct
  {
    const gchar *caps;
    GstClockTime pts;
    const gchar *boxes, *structures[3]; /* structures of the first box */
    const gchar *line;
  } frames[] = {
    /* the second box has integers only, outside of the frame */
    { CAPS, 0, "3 person 10,20,30,60 in 1; 0 - -192,288,384,576",
        { "detection, x_min=0.013, y_min=0.035, x_max=0.052, y_max=0.139, confidence=0.91, "
          "label_id=1;",
            "object_id, id=(int)7;", "nms, state=(string)suppressed, suppressed-by=(int)1;" },
        "{\"timestamp\":0" SIZE ",\"objects\":[{\"x\":10,\"y\":20,\"w\":30,\"h\":60,"
        "\"roi_type\":\"person\",\"region_id\":3,\"parent_id\":1,\"id\":7,\"detection\":{"
        "\"bounding_box\":{\"x_min\":0.013,\"y_min\":0.035,\"x_max\":0.052,\"y_max\":0.139},"
        "\"confidence\":0.91,\"label_id\":1,\"label\":\"person\"},\"nms\":{"
        "\"state\":\"suppressed\",\"suppressed-by\":1}},{\"x\":0,\"y\":288,\"w\":192,"
        "\"h\":288,\"region_id\":0,\"detection\":{"
        "\"bounding_box\":{\"x_min\":-0.25,\"y_min\":0.5,\"x_max\":0.25,\"y_max\":1.5}}}]}\n" },
    /* a hint for an encoder is not a detection */
    { CAPS, 2, "0 hint 1,1,1,1", { "roi/x264enc;" }, "{\"timestamp\":2" SIZE ",\"objects\":[]}\n" },
    { CAPS, GST_CLOCK_TIME_NONE, "", { NULL },
        "{\"resolution\":{\"width\":768,\"height\":576},\"objects\":[]}\n" },
    { NO_SIZE, 3, "0 a -5,2,4000,4", { NULL },
        "{\"timestamp\":3,\"objects\":[{\"x\":-5,\"y\":2,\"w\":4000,\"h\":4,\"roi_type\":\"a\","
        "\"region_id\":0,\"detection\":{\"label\":\"a\"}}]}\n" },
    { SMALL_CAPS, 4, "0 a 1,2,2,4", { NULL },
        "{\"timestamp\":4,\"resolution\":{\"width\":4,\"height\":8},\"objects\":[{\"x\":1,\"y\":2,"
        "\"w\":2,\"h\":4,\"roi_type\":\"a\",\"region_id\":0,\"detection\":{\"bounding_box\":{"
        "\"x_min\":0.25,\"y_min\":0.25,\"x_max\":0.75,\"y_max\":0.75},\"label\":\"a\"}}]}\n" },
    /* numbers that are none are left out, with one warning */
    { NO_SIZE, 5, "0 - 1,2,3,4", { "detection, confidence=(double)nan, x_min=(double)nan;" },
        "{\"timestamp\":5," BARE },
    { NO_SIZE, 6, "0 - 1,2,3,4", { "detection, confidence=(double)inf, x_min=(double)nan;" },
        "{\"timestamp\":6," BARE },
    { NO_SIZE, 7, "0 - 1,2,3,4", { "rotation, angle=(double)nan;" }, "{\"timestamp\":7," BARE },
    /* labels become valid text, and indices beyond the last box are left out */
    { NO_SIZE, 8, "0 \xff\xed\xa0\x80z\xc3 1,2,3,4",
        { "nms, state=(string)suppressed, suppressed-by=(int)1;" },
        "{\"timestamp\":8,\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,"
        "\"roi_type\":" INVALID ",\"region_id\":0,"
        "\"detection\":{\"label\":" INVALID "},\"nms\":{\"state\":\"suppressed\"}}]}\n" },
  };
  g_autofree gchar *path = text_file_path ("out.jsonl");
  GstBus *bus;
  g_autoptr (GstHarness) h = recorder_new (&bus, path, "");
  g_autoptr (GString) expected = g_string_new (NULL);

  gst_harness_set_drop_buffers (h, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (frames); i++) {
    g_autoptr (GstBuffer) in = frame_new (frames[i].pts), out = NULL;

    add_boxes (in, frames[i].boxes);
    for (guint k = 0; k < 3 && frames[i].structures[k]; k++)
      add_structure (gst_buffer_get_video_region_of_interest_meta (in), frames[i].structures[k]);
    gst_harness_set_src_caps_str (h, frames[i].caps);
    out = through (h, gst_buffer_ref (in));
    g_assert_true (out == in);
    gst_harness_push_event (h, gst_event_new_gap (i, 1));
    g_string_append (expected, frames[i].line);
    text_file_must_be (path, expected->str);
  }
  steps_must_say (bus, GST_MESSAGE_WARNING, "", NULL);
}

/* A restart writes the same text, and warns again of labels and NaN. */
static void
mot_text_is_written (void)
{
  static const gchar *const boxes[] = { "", "0 person 9,0,30,60 nan", "0 person 9,0,30,60 0.5" };
  g_autofree gchar *path = text_file_path ("out.mot");
  GstBus *bus;
  g_autoptr (GstHarness) h = recorder_new (&bus, path, "format=mot");

  gst_harness_set_src_caps_str (h, CAPS);
  for (guint round = 0; round < 2; round++) {
    for (guint i = 0; i < G_N_ELEMENTS (boxes); i++) {
      GstBuffer *buffer = frame_new (i * FRAME);

      add_boxes (buffer, boxes[i]);
      if (i > 0)
        add_structure (gst_buffer_get_video_region_of_interest_meta (buffer),
            "object_id, id=(int)7;");
      g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
    }
    text_file_must_be (path, "2,7,10,1,30,60,-1,-1,-1,-1\n3,7,10,1,30,60,0.5,-1,-1,-1\n");
    g_assert_cmpint (count_messages (bus, GST_MESSAGE_WARNING), ==, 2);
    steps_event (h, "again");
  }
}

/* A last line longer than the block that is read first, and as long a line behind it without its
 * end, which is removed. */
static void
appending_reads_a_long_line (void)
{
  for (guint half = 0; half < 2; half++) {
    g_autoptr (GString) text = g_string_new ("{\"timestamp\":0,\"objects\":[");
    g_autofree gchar *path = NULL, *whole = NULL;
    GstHarness *h;

    for (guint i = 0; i < 20000; i++)
      g_string_append_printf (text, "%s{\"x\":1,\"y\":2,\"w\":3,\"h\":4}", i ? "," : "");
    whole = g_strconcat (text->str, "]}\n\n  \n", half ? text->str : NULL, NULL);
    path = text_file_new ("long.jsonl", whole, -1);
    h = recorder_new (NULL, path, "append=true");
    g_assert_cmpint (recorder_push (h, 0, 0), ==, GST_FLOW_OK);
    gst_harness_teardown (h);
    g_string_append (text, "]}\n\n  \n{\"timestamp\":0,\"objects\":[]}\n");
    text_file_must_be (path, text->str);
  }
}

/* -------------------------------------------------------------------- the pad boxes */

#define VIDEO_AND_TEXT "boxrecord name=r ! fakesink async=false r.boxes ! identity name=text "

/* Demuxers take text with < or & for markup. */
static void
the_pad_writes_markup_as_escapes (void)
{
  static const gchar expected[] = "{\"timestamp\":0,\"objects\":[{\"x\":1,\"y\":2,\"w\":3,\"h\":4,"
                                  "\"roi_type\":\"\\u003cb\\u003e\\u0026amp\",\"region_id\":1,"
                                  "\"detection\":{\"label\":\"\\u003cb\\u003e\\u0026amp\"}}]}\n";
  g_autoptr (GstHarness) h = gst_harness_new_parse (VIDEO_AND_TEXT);
  g_autoptr (GstBuffer) text = NULL;

  gst_harness_set_src_caps_str (h, "application/x-anything");
  text = through (h, frame_with ("1 <b>&amp 1,2,3,4"));
  g_assert_cmpuint (gst_buffer_get_size (text), ==, strlen (expected));
  g_assert_cmpint (gst_buffer_memcmp (text, 0, expected, strlen (expected)), ==, 0);
}

static void
the_pad_stops_at_an_error_downstream (void)
{
  g_autoptr (GstHarness) h = gst_harness_new_parse (VIDEO_AND_TEXT "error-after=1");

  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  g_assert_cmpint (gst_harness_push (h, frame_with ("")), ==, GST_FLOW_OK);
  g_assert_cmpint (gst_harness_push (h, frame_with ("1 a 1,2,3,4")), ==, GST_FLOW_ERROR);
}

static void
pass_a_box (GstHarness *h)
{
  gst_buffer_unref (through (h, frame_with ("1 a 1,2,3,4")));
}

/* Neither a pad without a peer nor one at its end stops the video. */
static void
the_pad_leaves_the_video_alone (void)
{
  static const GstEventType begin[] = { GST_EVENT_STREAM_START, GST_EVENT_CAPS, GST_EVENT_SEGMENT };
  g_autoptr (GstElement) element = element_new ("boxrecord");
  GstPad *pad = gst_element_request_pad_simple (element, "boxes");
  g_autoptr (GstPadTemplate) template = gst_pad_get_pad_template (pad);
  g_autoptr (GstHarness) h = gst_harness_new_with_element (element, "sink", "src"), boxes = NULL;
  g_autoptr (GstBuffer) text = NULL;

  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  pass_a_box (h);
  gst_pad_push_event (pad, gst_event_new_eos ());
  pass_a_box (h);
  g_assert_null (gst_element_request_pad (element, template, NULL, NULL));
  gst_element_release_request_pad (element, pad);
  gst_object_unref (pad);
  pass_a_box (h);

  /* a pad requested in mid-stream gets the same events first */
  boxes = gst_harness_new_with_element (element, NULL, "boxes");
  pass_a_box (h);
  for (guint i = 0; i < G_N_ELEMENTS (begin); i++) {
    g_autoptr (GstEvent) event = gst_harness_try_pull_event (boxes);

    g_assert_cmpint (GST_EVENT_TYPE (event), ==, begin[i]);
  }
  text = gst_harness_try_pull (boxes);
  g_assert_nonnull (text);
}

static const TestCase cases[] = { TEST_ROWS ("/%s", recorder_row, rows), CASE (frames_become_lines),
  CASE (mot_text_is_written), CASE (marked_lines_are_those_of_rows),
  CASE (appending_reads_a_long_line), CASE (the_pad_writes_markup_as_escapes),
  CASE (the_pad_stops_at_an_error_downstream), CASE (the_pad_leaves_the_video_alone), { NULL } };

GST_TEST_PROGRAM (cases);
