/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-paint: the parts that boxoverlay draws with: blending, label placement and label
 * cache. */
#include <math.h>
#include <string.h>

#include "gstrunner.h"
#include "overlay/labelcache.h"
#include "overlay/labelplacement.h"
#include "overlay/paint.h"
#include "pictures.h"

/* Returns a random position on the frame. */
static gint64
random_place (GRand *rand, gint size, gint step)
{
  return (gint64) g_rand_int_range (rand, 0, MAX (size / step, 1)) * step;
}

/* Returns a canvas of which only size and chroma grid are used. */
static PaintCanvas
canvas_of (GstVideoFormat format, gint width, gint height)
{
  const GstVideoInfo info = video_info_of (format, width, height);
  PaintCanvas canvas;

  g_assert_true (paint_canvas_measure (&canvas, &info));
  return canvas;
}

/* Blends every coverage with every value; the result is exact after rounding. Padding keeps its
 * value. */
static void
test_blend (void)
{
  static const GstVideoFormat blended[] = { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_RGB,
    GST_VIDEO_FORMAT_xRGB, GST_VIDEO_FORMAT_BGRx };
  static const guint32 inks[] = { 0x000000, 0xffffff, 0x808080, 0x010101, 0x7f7f7f };
  guint8 ramp[256];
  PaintMask mask = { 256, 1, 256, 0, ramp, NULL };

  for (guint a = 0; a < 256; a++)
    ramp[a] = (guint8) a;
  for (guint i = 0; i < G_N_ELEMENTS (inks) * G_N_ELEMENTS (blended); i++) {
    const GstVideoFormat format = blended[i % G_N_ELEMENTS (blended)];
    const GstVideoInfo info = video_info_of (format, 256, 1);
    const gint pstride = GST_VIDEO_INFO_COMP_PSTRIDE (&info, 0);
    const gint padding = format == GST_VIDEO_FORMAT_xRGB ? 0
        : format == GST_VIDEO_FORMAT_BGRx                ? 3
                                                         : -1;
    const guint ink = inks[i / G_N_ELEMENTS (blended)] & 255;
    g_autoptr (GstBuffer) buffer = video_buffer_new (&info);
    GstVideoFrame frame;
    PaintCanvas canvas;
    PaintColor color;

    g_assert_true (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READWRITE));
    g_assert_true (paint_canvas_init (&canvas, &frame));
    color = paint_color (&canvas, ink * 0x010101);
    for (guint from = 0; from < 256; from++) {
      memset (frame.data[0], (gint) from, (gsize) (256 * pstride));
      paint_mask (&canvas, 0, 0, &mask, &color);
      for (gint k = 0; k < 256 * pstride; k++) {
        const guint a = k % pstride == padding ? 0 : (guint) (k / pstride);
        const gint exact = (gint) floor ((from * (255 - a) + ink * a) / 255.0 + 0.5);

        g_assert_cmpint (((guint8 *) frame.data[0])[k], ==, exact);
      }
    }
    paint_canvas_finish (&canvas);
    gst_video_frame_unmap (&frame);
  }
}

static void
test_places (void)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_RGB,
    GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_Y41B };
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);

  for (guint round = 0; round < 20; round++) {
    const gint width = g_rand_int_range (rand, 20, 200), height = g_rand_int_range (rand, 15, 200);
    g_autofree guint8 *taken = g_malloc0 ((gsize) width * height);
    LabelPlacement placement = { 0 };
    const PaintCanvas canvas = canvas_of (formats[round % 4], width, height);
    guint placed = 0;

    label_placement_begin (&placement, width, height);
    for (guint i = 0; i < 2000; i++) {
      PaintRect box, label = { 0 };
      gint w = canvas.step_x * g_rand_int_range (rand, 1, 20);
      gint h = canvas.step_y * g_rand_int_range (rand, 1, 8);

      box.x1 = random_place (rand, width, canvas.step_x);
      box.y1 = random_place (rand, height, canvas.step_y);
      box.x2 = MIN (box.x1 + g_rand_int_range (rand, 1, 80), width);
      box.y2 = MIN (box.y1 + g_rand_int_range (rand, 1, 80), height);
      if (!label_placement_find (&placement, &canvas, &box, w, h, &label))
        continue;
      label_placement_occupy (&placement, &label);
      placed++;
      g_assert_true (label.x1 >= 0 && label.y1 >= 0 && label.x2 <= width && label.y2 <= height);
      g_assert_true (label.x2 - label.x1 == w && label.y2 - label.y1 == h);
      g_assert_true (label.x1 % canvas.step_x == 0 && label.y1 % canvas.step_y == 0);
      for (gint64 y = label.y1; y < label.y2; y++) {
        for (gint64 x = label.x1; x < label.x2; x++)
          g_assert_true (taken[y * width + x]++ == 0);
      }
    }
    g_assert_cmpuint (placed, >, 0);
    g_assert_cmpuint (placed, <, 2000);
    label_placement_clear (&placement);
  }
}

/* A text is rendered once. All masks are valid until label_cache_trim, which holds the limits, or
 * until another font is set. */
static void
test_cache (void)
{
  const PaintCanvas canvas = canvas_of (GST_VIDEO_FORMAT_I420, 1920, 1080);
  LabelCache *cache = label_cache_new ();

  for (guint pass = 0; pass < 2; pass++) {
    g_autofree gchar *fill = g_strnfill (pass == 0 ? 5 : 300, 'W');
    guint cleared = 0, masks = 0;

    label_cache_set_font (cache, pass == 0 ? "Sans 12" : "Sans 300px", &canvas);
    for (guint i = 0; i < 2000 / (1 + 19 * pass); i++) {
      g_autofree gchar *text = g_strdup_printf ("%u %s", i, fill);
      const LabelMask *often, *once;

      label_cache_trim (cache);
      cleared += label_cache_usage (cache).masks < masks;
      g_assert_cmpuint (label_cache_usage (cache).masks, <=, LABEL_CACHE_MAX_MASKS);
      g_assert_cmpuint (label_cache_usage (cache).bytes, <=, LABEL_CACHE_MAX_BYTES);
      often = label_cache_get (cache, "often used");
      once = label_cache_get (cache, text);
      g_assert_true (often == label_cache_get (cache, "often used"));
      g_assert_true (once == label_cache_get (cache, text));
      masks = label_cache_usage (cache).masks;
    }
    g_assert_cmpuint (cleared, >=, 3);
    g_assert_cmpuint (cleared, <=, 30);
  }
  label_cache_set_font (cache, "Sans 13", &canvas);
  g_assert_cmpuint (label_cache_usage (cache).masks, ==, 0);
  g_assert_cmpuint (label_cache_usage (cache).bytes, ==, 0);
  g_assert_cmpint (label_cache_get (cache, "")->mask.width, ==, 0);
  g_assert_cmpint (label_cache_get (cache, "person")->mask.width, >, 20);
  label_cache_free (cache);
}

static const TestCase cases[] = { CASE (test_blend), CASE (test_places), CASE (test_cache),
  { NULL } };

GST_TEST_PROGRAM (cases);
