/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxmerge: the ids, parents and structures of the regions that it appends to a main buffer. */
#include "gstrunner.h"
#include "merging.h"

/* Fails unless the regions of the buffer are these lines, in order: label, place, id, parent and
 * structures. */
static void
assert_regions (GstBuffer *buffer, const gchar *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);
  GstVideoRegionOfInterestMeta *roi;

  EACH_REGION (buffer, roi)
  {
    g_string_append_printf (text, "%s %d,%d,%u,%u id=%d parent=%d",
        g_quark_to_string (roi->roi_type), (gint) roi->x, (gint) roi->y, roi->w, roi->h, roi->id,
        roi->parent_id);
    for (const GList *l = roi->params; l; l = l->next) {
      g_autofree gchar *s = gst_structure_to_string (l->data);

      g_string_append_printf (text, " | %s", s);
    }
    g_string_append_c (text, '\n');
  }
  g_assert_cmpstr (text->str, ==, expected);
}

/* A person with a face and everything that a region may have. */
static GstBuffer *
branch_new (void)
{
  GstBuffer *buffer = frame_with ("1 person 100:50:120:80 0.5 as 3 #11; 7 face 105,52,4,4 in 1");
  GstVideoRegionOfInterestMeta *person = gst_buffer_get_video_region_of_interest_meta (buffer);

  add_structure (person, "mask, size=(int)5;");
  add_structure (person, "nms, state=(string)kept, suppressed-by=(int)1;");
  add_structure (person, "recorded, region_id=(int)4, parent_id=(int)0;");
  return buffer;
}

#define STRUCTURES \
  "detection, x_min=(double)0.625, x_max=(double)0.65625, y_min=(double)0.5, " \
  "y_max=(double)0.5625, confidence=(double)0.5, label_id=(int)3; | object_id, id=(int)11; | " \
  "mask, size=(int)5; | nms, state=(string)kept;"

/* The structures of a buffer that another element holds are copied, those of another one moved. */
static void
test_structures (void)
{
  g_autoptr (GstBuffer) held = branch_new (), out = NULL;
  GstBuffer *main = frame_with ("1 car 1,2,3,4; 2 roi 0,0,9,9");
  g_auto (Merging) m = { 0 };

  add_structure (gst_buffer_get_video_region_of_interest_meta_id (main, 2),
      "roi/x264enc, delta-qp=(int)5;");
  merging_open (&m,
      "boxmerge sink_0::xpos=300 sink_0::ypos=190 sink_0::source=\"\" sink_1::xpos=300 "
      "sink_1::ypos=190 sink_1::source=right",
      2, NULL, FALSE);
  gst_harness_push (m.branch[1], branch_new ());
  out = merging_merge (&m, gst_buffer_ref (held), main);
  g_assert_cmpuint (g_list_length (gst_buffer_get_video_region_of_interest_meta (held)->params), ==,
      5);
  assert_regions (out,
      "car 1,2,3,4 id=1 parent=0\n"
      "roi 0,0,9,9 id=2 parent=0 | roi/x264enc, delta-qp=(int)5;\n"
      "person 400,240,20,30 id=3 parent=0 | " STRUCTURES "\n"
      "face 405,242,4,4 id=4 parent=3\n"
      "person 400,240,20,30 id=5 parent=0 | " STRUCTURES " | source, name=(string)right;\n"
      "face 405,242,4,4 id=6 parent=5 | source, name=(string)right;\n");
}

/* Boxes outside are not appended, nor are their ids; regions without an id stay so; a second
 * name replaces the first. */
static void
test_outside (void)
{
  GstBuffer *buffer = frame_with (
      "5 person 0,0,10,10; 6 face 8,0,10,10 in 5; 0 '' 30,0,10,10 in 6");

  for (guint i = 0; i < 2; i++) {
    g_auto (Merging) m = { 0 };

    merging_open (&m,
        i ? "boxmerge sink_0::source=two" : "boxmerge sink_0::xpos=-12 sink_0::clip=true", 1, NULL,
        FALSE);
    buffer = merging_merge (&m, buffer, NULL);
    assert_regions (buffer,
        i ? "face 0,0,6,10 id=1 parent=0 | source, name=(string)two;\n"
            " 18,0,10,10 id=0 parent=1 | source, name=(string)two;\n"
          : "face 0,0,6,10 id=1 parent=0 | source, name=(string)sink_0;\n"
            " 18,0,10,10 id=0 parent=1 | source, name=(string)sink_0;\n");
  }
  gst_buffer_unref (buffer);
}

/* Where no ids are left above the highest one, the appended boxes get unused lower ones. */
static void
test_highest_id (void)
{
  g_autoptr (GstBuffer) out = NULL;
  g_auto (Merging) m = { 0 };

  merging_open (&m, "boxmerge", 1, NULL, FALSE);
  out = merging_merge (&m, frame_with ("2147483647 a 20,0,9,9; 1 a 20,0,9,9; 3 a 20,0,9,9"),
      frame_with ("2147483647 a 0,0,9,9; 1 a 0,0,9,9; 3 a 0,0,9,9"));
  assert_ids (out, "2147483647 1 3 2 4 5");
}

static const TestCase cases[] = { CASE (test_structures), CASE (test_outside),
  CASE (test_highest_id), { NULL } };

GST_TEST_PROGRAM (cases);
