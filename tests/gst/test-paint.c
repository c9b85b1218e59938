/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-paint: the parts that boxoverlay draws with: planes, label placement and label
 * cache. */
#include <math.h>
#include <string.h>

#include "gstrunner.h"
#include "overlay/labelcache.h"
#include "overlay/labelplacement.h"
#include "overlay/paint.h"
#include "pictures.h"

static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12,
  GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_Y41B, GST_VIDEO_FORMAT_YUV9, GST_VIDEO_FORMAT_RGB,
  GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_ARGB, GST_VIDEO_FORMAT_ARGB64, GST_VIDEO_FORMAT_GRAY8,
  GST_VIDEO_FORMAT_I420_10BE, GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_v210,
  GST_VIDEO_FORMAT_RGB16, GST_VIDEO_FORMAT_r210, GST_VIDEO_FORMAT_IYU1 };

typedef struct
{
  GstVideoInfo info;
  GstBuffer *buffer;
  GstVideoFrame frame;
  PaintCanvas canvas;
} Fixture;

static void
fixture_open (Fixture *f, GstVideoFormat format, gint width, gint height)
{
  gst_video_info_init (&f->info);
  gst_video_info_set_format (&f->info, format, width, height);
  f->buffer = video_buffer_new (&f->info);
  g_assert_true (gst_video_frame_map (&f->frame, &f->info, f->buffer, GST_MAP_READWRITE));
  g_assert_true (paint_canvas_init (&f->canvas, &f->frame));
}

static Picture *
fixture_close (Fixture *f)
{
  Picture *picture;

  paint_canvas_finish (&f->canvas);
  gst_video_frame_unmap (&f->frame);
  picture = picture_read (&f->info, f->buffer);
  gst_buffer_unref (f->buffer);
  return picture;
}

static gint64
random_on_grid (GRand *rand, gint size, gint step)
{
  return (gint64) g_rand_int_range (rand, -size / step, 2 * size / step) * step;
}

/* Returns a random size, or a random position on the frame. */
static gint64
random_size (GRand *rand, gint size, gint step)
{
  return (gint64) g_rand_int_range (rand, 0, MAX (size / step, 1)) * step;
}

/* Returns whether a pixel belongs to the shape, decided for each pixel by itself. */
typedef gboolean (*Expect) (const PaintRect *r, gint tx, gint ty, gint dx, gint dy, gint x, gint y);

static gboolean
expect_fill (const PaintRect *r, gint tx, gint ty, gint dx, gint dy, gint x, gint y)
{
  return x >= r->x1 && x < r->x2 && y >= r->y1 && y < r->y2;
}

static gboolean
expect_outline (const PaintRect *r, gint tx, gint ty, gint dx, gint dy, gint x, gint y)
{
  gboolean horizontal = y < r->y1 + ty || y >= r->y2 - ty;
  gboolean vertical = x < r->x1 + tx || x >= r->x2 - tx;

  if (!expect_fill (r, 0, 0, 0, 0, x, y))
    return FALSE;
  return (horizontal && (dx == 0 || (x - r->x1) / dx % 2 == 0))
      || (vertical && (dy == 0 || (y - r->y1) / dy % 2 == 0));
}

static gint
ceil_to (gint v, gint step)
{
  return (v + step - 1) / step * step;
}

static void
check_random_shapes (gboolean outline)
{
  GRand *rand = g_rand_new_with_seed (11);

  for (guint round = 0; round < 40 * G_N_ELEMENTS (formats); round++) {
    const gint width = g_rand_int_range (rand, 1, 70), height = g_rand_int_range (rand, 1, 50);
    const gint thickness = g_rand_int_range (rand, 1, 12);
    const gint dash = g_rand_boolean (rand) ? 0 : g_rand_int_range (rand, 1, 9);
    Expect belongs = outline ? expect_outline : expect_fill;
    Fixture f;
    Picture *before, *after;
    PaintRect r;
    PaintColor color;
    gint sx, sy;

    fixture_open (&f, formats[round % G_N_ELEMENTS (formats)], width, height);
    before = fixture_close (&f);
    fixture_open (&f, formats[round % G_N_ELEMENTS (formats)], width, height);
    sx = f.canvas.step_x;
    sy = f.canvas.step_y;
    r.x1 = random_on_grid (rand, 80, sx);
    r.y1 = random_on_grid (rand, 60, sy);
    r.x2 = r.x1 + random_size (rand, 160, sx) + sx;
    r.y2 = r.y1 + random_size (rand, 120, sy) + sy;
    color = paint_color (&f.canvas, 0xff8000);
    if (outline)
      paint_outline (&f.canvas, &r, thickness, dash, &color);
    else
      paint_fill (&f.canvas, &r, &color);
    after = fixture_close (&f);

    for (gint y = 0; y < height; y++)
      for (gint x = 0; x < width; x++)
        if (picture_same (before, after, x, y)
            == belongs (&r, ceil_to (thickness, sx), ceil_to (thickness, sy), ceil_to (dash, sx),
                ceil_to (dash, sy), x, y))
          g_error ("round %u, %s %dx%d: pixel %d,%d, rectangle %d,%d to %d,%d, thickness %d, "
                   "dash %d",
              round, f.info.finfo->name, width, height, x, y, (gint) r.x1, (gint) r.y1, (gint) r.x2,
              (gint) r.y2, thickness, dash);
    picture_free (before);
    picture_free (after);
  }
  g_rand_free (rand);
}

static void
test_fill (void)
{
  check_random_shapes (FALSE);
}

static void
test_outlines (void)
{
  check_random_shapes (TRUE);
}

/* Drawing a bar 2^41 pixels long takes no longer than one as long as the frame. */
static void
test_endless_dashes (void)
{
  Fixture f;
  PaintRect r;
  PaintColor color;

  fixture_open (&f, GST_VIDEO_FORMAT_I420, 64, 64);
  color = paint_color (&f.canvas, 0xffffff);
  g_assert_true (paint_snap (&f.canvas, -1e300, 10, INFINITY, 1e19, 2, &r));
  paint_outline (&f.canvas, &r, 2, 6, &color);
  picture_free (fixture_close (&f));
}

static void
test_snap (void)
{
  static const struct
  {
    GstVideoFormat format;
    gdouble x1, x2;
    gint thickness;
    gint64 from, to;
  } rows[] = {
    { GST_VIDEO_FORMAT_RGB, 1.4, 7.5, 1, 1, 8 },
    { GST_VIDEO_FORMAT_RGB, 7.5, 1.4, 1, 1, 8 },
    { GST_VIDEO_FORMAT_I420, 1.0, 6.9, 1, 2, 6 },
    { GST_VIDEO_FORMAT_I420, 0.9, 7.0, 1, 0, 8 },
    { GST_VIDEO_FORMAT_I420, 5, 5, 3, 6, 10 },
    { GST_VIDEO_FORMAT_I420, -3.1, -1, 1, -4, 0 },
    { GST_VIDEO_FORMAT_YUV9, 5, 18, 2, 4, 20 },
    { GST_VIDEO_FORMAT_RGB, 5, 5, 64, 5, 69 },
    { GST_VIDEO_FORMAT_RGB, -1e300, 1e300, 1, -(G_GINT64_CONSTANT (1) << 40),
        G_GINT64_CONSTANT (1) << 40 },
  };
  PaintRect r = { 77, 77, 77, 77 };
  Fixture f;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    fixture_open (&f, rows[i].format, 32, 32);
    g_assert_true (paint_snap (&f.canvas, rows[i].x1, 0, rows[i].x2, 8, rows[i].thickness, &r));
    g_assert_cmpint (r.x1, ==, rows[i].from);
    g_assert_cmpint (r.x2, ==, rows[i].to);
    picture_free (fixture_close (&f));
  }
  fixture_open (&f, GST_VIDEO_FORMAT_I420, 32, 32);
  r.x1 = 77;
  for (guint i = 0; i < 4; i++)
    g_assert_false (paint_snap (&f.canvas, i == 0 ? NAN : 1, i == 1 ? NAN : 1, i == 2 ? NAN : 9,
        i == 3 ? NAN : 9, 1, &r));
  g_assert_cmpint (r.x1, ==, 77);
  picture_free (fixture_close (&f));
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
    const guint ink = inks[i / G_N_ELEMENTS (blended)] & 255;

    for (guint from = 0; from < 256; from++) {
      Fixture f;
      PaintColor color;
      gint pstride, padding;

      fixture_open (&f, format, 256, 1);
      pstride = GST_VIDEO_FRAME_COMP_PSTRIDE (&f.frame, 0);
      padding = format == GST_VIDEO_FORMAT_xRGB ? 0 : format == GST_VIDEO_FORMAT_BGRx ? 3 : -1;
      memset (f.frame.data[0], (gint) from, (gsize) (256 * pstride));
      color = paint_color (&f.canvas, ink * 0x010101);
      paint_mask (&f.canvas, 0, 0, &mask, &color);
      for (gint k = 0; k < 256 * pstride; k++) {
        const guint a = k % pstride == padding ? 0 : (guint) (k / pstride);
        const gint exact = (gint) floor ((from * (255 - a) + ink * a) / 255.0 + 0.5);

        g_assert_cmpint (((guint8 *) f.frame.data[0])[k], ==, exact);
      }
      picture_free (fixture_close (&f));
    }
  }
}

/* A mask of full coverage paints the same pixels as a fill, at any position. */
static void
test_masks (void)
{
  guint8 full[40 * 24];
  GRand *rand = g_rand_new_with_seed (3);

  memset (full, 255, sizeof full);
  for (guint round = 0; round < 40 * G_N_ELEMENTS (formats); round++) {
    GstVideoFormat format = formats[round % G_N_ELEMENTS (formats)];
    PaintMask mask = { 40, 24, 40, 0, full, NULL };
    Fixture a, b;
    Picture *filled, *masked;
    PaintRect r;
    PaintColor color;

    fixture_open (&a, format, 61, 47);
    fixture_open (&b, format, 61, 47);
    r.x1 = random_on_grid (rand, 60, a.canvas.step_x);
    r.y1 = random_on_grid (rand, 48, a.canvas.step_y);
    r.x2 = r.x1 + 40;
    r.y2 = r.y1 + 24;
    color = paint_color (&a.canvas, 0x20c040);
    paint_mask_shrink (&a.canvas, &mask);
    paint_fill (&a.canvas, &r, &color);
    paint_mask (&b.canvas, (gint) r.x1, (gint) r.y1, &mask, &color);
    filled = fixture_close (&a);
    masked = fixture_close (&b);
    g_assert_cmpuint (picture_changed (filled, masked, 0, 0, 61, 47), ==, 0);
    g_free ((gpointer) mask.sub);
    picture_free (filled);
    picture_free (masked);
  }
  g_rand_free (rand);
}

static void
test_shrink (void)
{
  static const guint8 data[] = { 10, 20, 30, 40, 200, 0, 0, 1, 2, 255, 50, 50, 50, 50, 50 };
  static const guint8 means[] = { 7, 18, 113, 25, 25, 12 };
  PaintMask mask = { 5, 3, 5, 0, data, NULL };
  Fixture f;

  fixture_open (&f, GST_VIDEO_FORMAT_I420, 8, 8);
  g_assert_cmpuint (paint_mask_shrink (&f.canvas, &mask), ==, 6);
  g_assert_cmpint (mask.sub_stride, ==, 3);
  g_assert_cmpmem (mask.sub, 6, means, 6);
  g_free ((gpointer) mask.sub);
  picture_free (fixture_close (&f));
}

static void
test_places (void)
{
  GRand *rand = g_rand_new_with_seed (5);

  for (guint round = 0; round < 20; round++) {
    const gint width = g_rand_int_range (rand, 20, 200), height = g_rand_int_range (rand, 15, 200);
    guint8 *taken = g_malloc0 ((gsize) width * height);
    LabelPlacement placement = { 0 };
    guint placed = 0;
    Fixture f;

    fixture_open (&f, formats[round % 4], width, height);
    label_placement_begin (&placement, width, height);
    for (guint i = 0; i < 2000; i++) {
      PaintRect box, label = { 0 };
      gint w = f.canvas.step_x * g_rand_int_range (rand, 1, 20);
      gint h = f.canvas.step_y * g_rand_int_range (rand, 1, 8);

      box.x1 = random_size (rand, width, f.canvas.step_x);
      box.y1 = random_size (rand, height, f.canvas.step_y);
      box.x2 = MIN (box.x1 + g_rand_int_range (rand, 1, 80), width);
      box.y2 = MIN (box.y1 + g_rand_int_range (rand, 1, 80), height);
      if (!label_placement_find (&placement, &f.canvas, &box, w, h, &label))
        continue;
      label_placement_occupy (&placement, &label);
      placed++;
      g_assert_true (label.x1 >= 0 && label.y1 >= 0 && label.x2 <= width && label.y2 <= height);
      g_assert_true (label.x2 - label.x1 == w && label.y2 - label.y1 == h);
      g_assert_true (label.x1 % f.canvas.step_x == 0 && label.y1 % f.canvas.step_y == 0);
      for (gint64 y = label.y1; y < label.y2; y++) {
        for (gint64 x = label.x1; x < label.x2; x++)
          g_assert_true (taken[y * width + x]++ == 0);
      }
    }
    g_assert_cmpuint (placed, >, 0);
    g_assert_cmpuint (placed, <, 2000);
    label_placement_clear (&placement);
    picture_free (fixture_close (&f));
    g_free (taken);
  }
  g_rand_free (rand);
}

/* Scores that change in every frame are rendered 101 times in total. */
static void
test_rendered_once (void)
{
  LabelCache *cache = label_cache_new ();
  Fixture f;

  fixture_open (&f, GST_VIDEO_FORMAT_I420, 640, 480);
  label_cache_set_font (cache, "Sans 12", &f.canvas);
  for (guint i = 0; i < 5000; i++) {
    gchar text[16];

    label_cache_set_font (cache, "Sans 12", &f.canvas);
    g_snprintf (text, sizeof text, "%u.%02u", i * 7919 % 101 / 100, i * 7919 % 101 % 100);
    g_assert_cmpint (label_cache_get (cache, text)->mask.width, >, 10);
    g_assert_cmpint (label_cache_get (cache, "person")->mask.width, >, 20);
  }
  g_assert_cmpuint (label_cache_usage (cache).rendered, ==, 102);
  g_assert_cmpuint (label_cache_usage (cache).masks, ==, 102);
  label_cache_set_font (cache, "Sans 13", &f.canvas);
  g_assert_cmpuint (label_cache_usage (cache).masks, ==, 0);
  g_assert_cmpuint (label_cache_usage (cache).bytes, ==, 0);
  g_assert_cmpint (label_cache_get (cache, "")->mask.width, ==, 0);
  label_cache_free (cache);
  picture_free (fixture_close (&f));
}

/* Digits have no kerning, so that a composed number equals one that pango renders: a text with a
 * line break, which is shown as a space, is never composed. */
static void
test_composed_numbers (void)
{
  static const gchar *const numbers[] = { "0.91", "#12345", "-67", "8 8" };
  LabelCache *cache = label_cache_new ();
  Fixture f;

  fixture_open (&f, GST_VIDEO_FORMAT_GRAY8, 1920, 1080);
  label_cache_set_font (cache, "Sans 12", &f.canvas);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    gchar *spaced = g_strconcat (numbers[i], " ", NULL),
          *broken = g_strconcat (numbers[i], "\n", NULL);
    const LabelMask *composed = label_cache_get (cache, spaced);
    const LabelMask *rendered = label_cache_get (cache, broken);

    g_assert_true (composed != rendered);
    g_assert_cmpint (composed->mask.width, ==, rendered->mask.width);
    g_assert_cmpint (composed->mask.height, ==, rendered->mask.height);
    g_assert_cmpint (composed->baseline, ==, rendered->baseline);
    for (gint y = 0; y < rendered->mask.height; y++)
      g_assert_cmpmem (composed->mask.data + y * composed->mask.stride, composed->mask.width,
          rendered->mask.data + y * rendered->mask.stride, rendered->mask.width);
    g_free (spaced);
    g_free (broken);
  }
  label_cache_free (cache);
  picture_free (fixture_close (&f));
}

/* All masks are valid until label_cache_trim, which holds the limits. */
static void
test_bounded_cache (void)
{
  LabelCache *cache = label_cache_new ();
  Fixture f;

  fixture_open (&f, GST_VIDEO_FORMAT_I420, 1920, 1080);
  for (guint pass = 0; pass < 2; pass++) {
    gchar *fill = g_strnfill (pass == 0 ? 5 : 300, 'W');
    guint cleared = 0, masks = 0;

    label_cache_set_font (cache, pass == 0 ? "Sans 12" : "Sans 300px", &f.canvas);
    for (guint i = 0; i < 2000 / (1 + 19 * pass); i++) {
      gchar *text = g_strdup_printf ("%u %s", i, fill);
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
      g_free (text);
    }
    g_assert_cmpuint (cleared, >=, 3);
    g_assert_cmpuint (cleared, <=, 30);
    g_free (fill);
  }
  label_cache_free (cache);
  picture_free (fixture_close (&f));
}

static const TestCase cases[] = { { "/paint/fill", test_fill },
  { "/paint/outlines", test_outlines }, { "/paint/endless-dashes", test_endless_dashes },
  { "/paint/snap", test_snap }, { "/paint/blend", test_blend }, { "/paint/masks", test_masks },
  { "/paint/shrink", test_shrink }, { "/paint/places", test_places },
  { "/paint/rendered-once", test_rendered_once },
  { "/paint/composed-numbers", test_composed_numbers },
  { "/paint/bounded-cache", test_bounded_cache }, { NULL } };

GST_TEST_PROGRAM (cases);
