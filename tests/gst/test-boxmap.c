/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmap: maps of one picture into another, against places worked out by hand, and against the
 * corners of rotated boxes. Calls functions of the plugin directly.
 */
#include "gstrunner.h"
#include "meta/boxmap.h"

#include <math.h>

#define ASSERT_PLACE(box, left, top, right, bottom) \
  G_STMT_START \
  { \
    g_assert_cmpfloat_with_epsilon ((box).x1, left, 1e-9); \
    g_assert_cmpfloat_with_epsilon ((box).y1, top, 1e-9); \
    g_assert_cmpfloat_with_epsilon ((box).x2, right, 1e-9); \
    g_assert_cmpfloat_with_epsilon ((box).y2, bottom, 1e-9); \
  } \
  G_STMT_END

/* The box 1 2 4 3 on a picture of 10 x 6. */
static void
test_orient (void)
{
  static const struct
  {
    GstVideoOrientationMethod method;
    gdouble x1, y1, x2, y2, rotation;
  } rows[] = {
    { GST_VIDEO_ORIENTATION_IDENTITY, 1, 2, 4, 3, 0.25 },
    { GST_VIDEO_ORIENTATION_90R, 3, 1, 4, 4, 0.25 },
    { GST_VIDEO_ORIENTATION_180, 6, 3, 9, 4, 0.25 },
    { GST_VIDEO_ORIENTATION_90L, 2, 6, 3, 9, 0.25 },
    { GST_VIDEO_ORIENTATION_HORIZ, 6, 2, 9, 3, -0.25 },
    { GST_VIDEO_ORIENTATION_VERT, 1, 3, 4, 4, -0.25 },
    { GST_VIDEO_ORIENTATION_UL_LR, 2, 1, 3, 4, -0.25 },
    { GST_VIDEO_ORIENTATION_UR_LL, 3, 6, 4, 9, -0.25 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Box box = { .x1 = 1, .y1 = 2, .x2 = 4, .y2 = 3 }, rotated = box;
    BoxMap map;

    rotated.rotation = 0.25;
    box_map_init (&map);
    box_map_orient (&map, rows[i].method, 10, 6);
    g_assert_cmpint (box_map_is_identity (&map), ==, i == 0);
    box_map_move (&map, &box);
    box_map_move (&map, &rotated);
    ASSERT_PLACE (box, rows[i].x1, rows[i].y1, rows[i].x2, rows[i].y2);
    ASSERT_PLACE (rotated, rows[i].x1, rows[i].y1, rows[i].x2, rows[i].y2);
    g_assert_cmpfloat (box.rotation, ==, 0);
    g_assert_cmpfloat (rotated.rotation, ==, rows[i].rotation);
    g_assert_cmphex (box.flags, ==, BOX_MOVED);
  }
}

/* Scaling unevenly moves the middles of the left and right sides of a rotated box exactly. */
static void
test_uneven (void)
{
  Box box = { .x1 = 10, .y1 = 20, .x2 = 50, .y2 = 30, .rotation = 0.5 };
  BoxMap map;
  gdouble half;

  box_map_init (&map);
  box_map_scale (&map, 2, 3);
  box_map_move (&map, &box);
  half = (box.x2 - box.x1) / 2;
  g_assert_cmpfloat_with_epsilon ((box.x1 + box.x2) / 2, 60, 1e-9);
  g_assert_cmpfloat_with_epsilon ((box.y1 + box.y2) / 2, 75, 1e-9);
  g_assert_cmpfloat_with_epsilon (half * cos (box.rotation), 2 * 20 * cos (0.5), 1e-9);
  g_assert_cmpfloat_with_epsilon (half * sin (box.rotation), 3 * 20 * sin (0.5), 1e-9);
  g_assert_cmpfloat_with_epsilon ((box.y2 - box.y1) / 2,
      hypot (2 * 5 * sin (0.5), 3 * 5 * cos (0.5)), 1e-9);
}

static void
test_move_all (void)
{
  static const Box given[] = {
    { .x1 = 10, .y1 = 10, .x2 = 30, .y2 = 30 },   /* 0 0 20 20 */
    { .x1 = 5, .y1 = 15, .x2 = 30, .y2 = 30 },    /* -5 5 20 20 */
    { .x1 = 0, .y1 = 15, .x2 = 10, .y2 = 30 },    /* -10 5 0 20: beside the frame */
    { .x1 = 105, .y1 = 15, .x2 = 120, .y2 = 30 }, /* 95 5 110 20 */
    { .x1 = 110, .y1 = 15, .x2 = 120, .y2 = 30 }, /* 100 5 110 20: beside the frame */
    { .x1 = 0, .y1 = 20, .x2 = 9, .y2 = 22, .rotation = G_PI / 4 },  /* x up to -1.6 */
    { .x1 = 0, .y1 = 20, .x2 = 14, .y2 = 26, .rotation = G_PI / 4 }, /* x up to 4 */
  };

  for (gint clip = 0; clip < 2; clip++) {
    g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (Box));
    const Box *out;
    BoxMap map;

    g_array_append_vals (boxes, given, G_N_ELEMENTS (given));
    box_map_init (&map);
    box_map_shift (&map, -10, -10);
    g_assert_cmpuint (box_map_move_all (&map, boxes, 100, 50, clip), ==, 3);
    out = (const Box *) boxes->data;
    ASSERT_PLACE (out[0], 0, 0, 20, 20);
    ASSERT_PLACE (out[1], clip ? 0 : -5, 5, 20, 20);
    ASSERT_PLACE (out[3], 95, 5, clip ? 100 : 110, 20);
    ASSERT_PLACE (out[6], -10, 10, 4, 16);
    g_assert_cmpint (out[1].state, ==, BOX_STATE_NONE);
    g_assert_cmpint (out[2].state, ==, BOX_STATE_INVALID);
    g_assert_cmpint (out[4].state, ==, BOX_STATE_INVALID);
    g_assert_cmpint (out[5].state, ==, BOX_STATE_INVALID);
    g_assert_cmpint (out[6].state, ==, BOX_STATE_NONE);
    g_assert_cmpuint (box_map_move_all (&map, boxes, 0, 50, clip), ==, 0);
  }
}

/* Integers are at most a pixel away from the coordinates, so reading takes the doubles. */
static void
test_place (void)
{
  for (gint i = 0; i < 100; i++)
    for (gint k = 0; k <= 100; k++) {
      Box box = { .x1 = i / 10.0, .x2 = (i + k) / 10.0, .y1 = -i / 10.0, .y2 = k / 10.0 };

      box_place (&box, 640, 480);
      g_assert_true (box_extent_agrees (box.x1, box.x2, box.x, box.w, 640));
      g_assert_true (box_extent_agrees (box.y1, box.y2, box.y, box.h, 480));
      g_assert_cmpint (box.w > 0, ==, k > 0);
      g_assert_cmpfloat (box.x_min, ==, box.x1 / 640);
      g_assert_cmpfloat (box.y_max, ==, box.y2 / 480);
      box_place (&box, 640, 0);
      g_assert_cmphex (box.flags, ==, 0);
    }
}

/* Coordinates that no integer of 32 bits holds. */
static void
test_place_huge (void)
{
  Box box = { .x1 = -1e300, .x2 = INFINITY, .y1 = NAN, .y2 = 1e10 };

  box_place (&box, 0, 0);
  g_assert_cmpint (box.x, ==, G_MININT32);
  g_assert_cmpint (box.w, ==, (gint64) G_MAXINT32 - G_MININT32);
  g_assert_cmpint (box.y, ==, 0);
  g_assert_cmpint (box.h, ==, G_MAXINT32);
}

static const TestCase cases[] = { CASE (test_orient), CASE (test_uneven), CASE (test_move_all),
  CASE (test_place), CASE (test_place_huge), { NULL } };

GST_TEST_PROGRAM (cases);
