/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxappend and boxrewrite: regions that are moved, rescored, and appended to those of another
 * buffer. Calls functions of the plugin directly.
 */
#include "gstrunner.h"
#include "meta/boxappend.h"
#include "meta/boxmap.h"
#include "meta/boxremove.h"
#include "meta/boxrewrite.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BoxMetaReading, box_meta_reading_free)

/* Fails unless the regions of the buffer are these texts, in order: label, place, id, parent and
 * structures. Ends with NULL. */
static void
assert_regions (GstBuffer *buffer, const gchar *const *expected)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
              GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
      != NULL) {
    const GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) meta;
    g_autoptr (GString) text = g_string_new (NULL);

    g_string_printf (text, "%s %d %d %u %u id=%d parent=%d", g_quark_to_string (roi->roi_type),
        (gint) roi->x, (gint) roi->y, roi->w, roi->h, roi->id, roi->parent_id);
    for (const GList *l = roi->params; l; l = l->next) {
      g_autofree gchar *s = gst_structure_to_string (l->data);

      g_string_append_printf (text, " | %s", s);
    }
    g_assert_cmpstr (text->str, ==, *expected++);
  }
  g_assert_null (*expected);
}

#define ASSERT_REGIONS(buffer, ...) \
  assert_regions (buffer, (const gchar *const[]) { __VA_ARGS__, NULL })

/* A person with a face and everything that a region may have. */
static GstBuffer *
branch_new (void)
{
  GstBuffer *buffer = frame_with ("1 person 100,50,20,40; 7 face 105,52,4,4 in 1");
  GstVideoRegionOfInterestMeta *person = gst_buffer_get_video_region_of_interest_meta (buffer);

  add_structure (person,
      "detection, x_min=0.15625, x_max=0.1875, y_min=0.10416666666666667, "
      "y_max=0.1875, confidence=0.5, label_id=3;");
  add_structure (person, "object_id, id=(int)11;");
  add_structure (person, "mask, size=(int)5;");
  add_structure (person, "nms, state=(string)kept, suppressed-by=(int)1;");
  add_structure (person, "recorded, region_id=(int)4, parent_id=(int)0;");
  return buffer;
}

/* Rewrites scores and rotations, also where there was none, before boxes are removed. */
static void
test_rewrite_scores (void)
{
  g_autoptr (BoxMetaReading) reading = box_meta_reading_new ();
  GArray *boxes = box_meta_reading_boxes (reading);
  g_autoptr (GstBuffer) buffer = frame_with ("1 a -10,10,20,20 0.5; 2 b 30,10,20,20; "
                                             "3 c 60,10,20,20 0.5; 4 d 90,10,20,20");

  add_structure (gst_buffer_get_video_region_of_interest_meta_id (buffer, 4),
      "rotation, angle=0.5;");
  g_assert_cmpuint (box_meta_reading_take (reading, buffer, 0, 0, 0), ==, 4);
  for (guint i = 0; i < 4; i++) {
    Box *box = &g_array_index (boxes, Box, i);

    box->flags |= i < 2 ? BOX_RESCORED : BOX_MOVED;
    box->confidence = 0.25;
    box->rotation = i < 3 ? 0.75 : 0;
    box->state = i == 1 ? BOX_STATE_NONE : i == 0 ? BOX_STATE_KEPT : box->state;
  }
  g_array_index (boxes, Box, 2).x1 = 59.5;
  box_rewrite (buffer, reading, 0, 0);
  g_array_index (boxes, Box, 1).state = BOX_STATE_SUPPRESSED;
  box_remove (buffer, reading);
  ASSERT_REGIONS (buffer, "a -10 10 20 20 id=1 parent=0 | detection, confidence=(double)0.25;",
      "c 60 10 20 20 id=3 parent=0 | detection, confidence=(double)0.5; | "
      "rotation, angle=(double)0.75;",
      "d 90 10 20 20 id=4 parent=0 | rotation, angle=(double)0;");
}

#define STRUCTURES \
  "detection, x_min=(double)0.3125, x_max=(double)0.328125, y_min=(double)0.390625, " \
  "y_max=(double)0.453125, confidence=(double)0.5, label_id=(int)3; | object_id, id=(int)11; | " \
  "mask, size=(int)5; | nms, state=(string)kept;"

/* Appends the boxes of a branch at 300, 200, twice: copies their structures, then moves them. */
static void
test_append (void)
{
  g_autoptr (BoxMetaReading) reading = box_meta_reading_new ();
  g_autoptr (GstBuffer) buffer = frame_with ("1 car 1,2,3,4; 2 roi 0,0,9,9");
  GstBuffer *branch = branch_new ();
  g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (Box));

  add_structure (gst_buffer_get_video_region_of_interest_meta_id (buffer, 2),
      "roi/x264enc, delta-qp=(int)5;");
  for (guint i = 0; i < 2; i++) {
    BoxMap map;

    box_meta_reading_take (reading, branch, FRAME_WIDTH, FRAME_HEIGHT, 0);
    box_map_init (&map);
    box_map_shift (&map, 300, 200);
    box_map_move_all (&map, box_meta_reading_boxes (reading), 1280, 640, TRUE);
    g_assert_cmpuint (box_append (buffer, branch, reading, 1280, 640, i ? "right" : NULL, i == 1),
        ==, 2);
  }
  g_assert_cmpuint (count_on (branch), ==, 2);
  gst_buffer_unref (branch); /* nothing of it is referenced */
  ASSERT_REGIONS (buffer, "car 1 2 3 4 id=1 parent=0",
      "roi 0 0 9 9 id=2 parent=0 | roi/x264enc, delta-qp=(int)5;",
      "person 400 250 20 40 id=3 parent=0 | " STRUCTURES, "face 405 252 4 4 id=4 parent=3",
      "person 400 250 20 40 id=5 parent=0 | " STRUCTURES " | source, name=(string)right;",
      "face 405 252 4 4 id=6 parent=5 | source, name=(string)right;");
  g_assert_cmpuint (box_meta_read (buffer, 1280, 640, BOX_READ_SOURCE, boxes), ==, 5);
  g_assert_cmpuint (g_array_index (boxes, Box, 2).source, ==, 0);
  g_assert_cmpstr (g_quark_to_string (g_array_index (boxes, Box, 4).source), ==, "right");
  g_assert_cmpint (g_array_index (boxes, Box, 4).parent, ==, 3);
  g_assert_true (g_array_index (boxes, Box, 3).flags & BOX_HAS_NORMALIZED);
}

/* Boxes outside are not appended, nor are their ids; regions without an id stay so; a second
 * name replaces the first. */
static void
test_append_some (void)
{
  g_autoptr (BoxMetaReading) reading = box_meta_reading_new ();
  g_autoptr (GstBuffer) buffer = frame_new (0), branch = frame_new (0), next = frame_new (0);
  BoxMap map;

  add_boxes (branch, "5 person 0,0,10,10; 6 face 8,0,10,10 in 5");
  add_region (branch, 0, "", (Rect) { 30, 0, 10, 10 })->parent_id = 6;
  box_meta_reading_take (reading, branch, 0, 0, 0);
  box_map_init (&map);
  box_map_shift (&map, -12, 0);
  box_map_move_all (&map, box_meta_reading_boxes (reading), 640, 480, TRUE);
  g_assert_cmpuint (box_append (buffer, branch, reading, 640, 480, "one", FALSE), ==, 2);
  ASSERT_REGIONS (buffer, "face 0 0 6 10 id=1 parent=0 | source, name=(string)one;",
      " 18 0 10 10 id=0 parent=1 | source, name=(string)one;");
  box_meta_reading_take (reading, buffer, 0, 0, 0);
  g_assert_cmpuint (box_append (next, buffer, reading, 640, 480, "two", TRUE), ==, 2);
  ASSERT_REGIONS (buffer, "face 0 0 6 10 id=1 parent=0", " 18 0 10 10 id=0 parent=1");
  ASSERT_REGIONS (next, "face 0 0 6 10 id=1 parent=0 | source, name=(string)two;",
      " 18 0 10 10 id=0 parent=1 | source, name=(string)two;");
}

/* Where no ids are left above the highest one, the appended boxes get unused lower ones. */
static void
test_append_below_highest (void)
{
  g_autoptr (BoxMetaReading) reading = box_meta_reading_new ();
  g_autoptr (GstBuffer)
      buffer = frame_with ("2147483647 person 0,0,9,9; 1 person 0,0,9,9; 3 person 0,0,9,9");
  g_autoptr (GstBuffer)
      branch = frame_with ("2147483647 face 20,0,9,9; 1 face 20,0,9,9; 3 face 20,0,9,9");

  box_meta_reading_take (reading, branch, 0, 0, 0);
  g_assert_cmpuint (box_append (buffer, branch, reading, 640, 480, NULL, FALSE), ==, 3);
  assert_ids (buffer, "2147483647 1 3 2 4 5");
}

static const TestCase cases[] = { CASE (test_rewrite_scores), CASE (test_append),
  CASE (test_append_some), CASE (test_append_below_highest), { NULL } };

GST_TEST_PROGRAM (cases);
