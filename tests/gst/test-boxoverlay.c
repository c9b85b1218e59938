/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxoverlay: outlines in every format, buffers that are not changed, hostile boxes, segments and
 * cropped pictures.
 */
#include <math.h>
#include <string.h>

#include "gstrunner.h"
#include "pictures.h"
#include "playing.h"

#define PERSON 0xff6a95 /* the colour of the class person */
#define GREY 0xb4b4b4   /* the colour of dropped boxes */

/* What an outline looks like along an axis. */
typedef struct
{
  gint from, to, thickness, dash;
} Axis;

/* A box is rounded to the chroma grid, and at least as large as its line is thick. */
static Axis
axis_of (gint start, gint length, gint step, gint thickness, gboolean dropped)
{
  const gint from = GST_ROUND_DOWN_N (start + step / 2, step);
  const gint to = GST_ROUND_DOWN_N (start + length + step / 2, step);
  const gint thick = GST_ROUND_UP_N (thickness, step);

  return (Axis) { from, MAX (to, from + thick), thick,
    dropped ? GST_ROUND_UP_N (3 * thickness, step) : 0 };
}

/* Returns whether a position is on one of the two lines across the axis; on a dash of those along
 * it. */
static gboolean
on_line (const Axis *axis, gint at)
{
  return at < axis->from + axis->thickness || at >= axis->to - axis->thickness;
}

static gboolean
on_dash (const Axis *axis, gint at)
{
  return axis->dash == 0 || (at - axis->from) / axis->dash % 2 == 0;
}

/* Returns a frame of which neighboring pixels differ. The unused lower bits of 16-bit words with
 * 10 or 12 bits are 0. */
static GstBuffer *
mixed_new (const GstVideoInfo *info)
{
  GstBuffer *buffer = video_buffer_new (info);
  GstMapInfo map;

  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (guint8) ((i * i + i / 7) << 6);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

static guint32
grey_of (guint32 rgb)
{
  return (guint32) lrint (0.299 * (rgb >> 16) + 0.587 * ((rgb >> 8) & 255) + 0.114 * (rgb & 255))
      * 0x010101;
}

/* Draws a random box, solid or dashed, on or off the frame, at times empty. Checks each pixel: the
 * outline has the expected colour, all other pixels are as before. */
static void
check_random_box (GRand *rand, GstVideoFormat format, gint width, gint height)
{
  const GstVideoInfo info = video_info_of (format, width, height);
  const GstVideoFormatInfo *finfo = info.finfo;
  const gboolean dropped = g_rand_boolean (rand), colored = finfo->n_components >= 3;
  const gint thickness = 1 + g_rand_int_range (rand, 0, 8) * g_rand_int_range (rand, 0, 10);
  const gint x1 = g_rand_int_range (rand, -60, width + 20);
  const gint y1 = g_rand_int_range (rand, -60, height + 20);
  const gint w = g_rand_int_range (rand, 0, 6) * g_rand_int_range (rand, 0, 20);
  const gint h = g_rand_int_range (rand, 0, 6) * g_rand_int_range (rand, 0, 20);
  const Axis across = axis_of (x1, w, colored ? 1 << finfo->w_sub[1] : 1, thickness, dropped);
  const Axis down = axis_of (y1, h, colored ? 1 << finfo->h_sub[1] : 1, thickness, dropped);
  g_autofree gchar *box = g_strdup_printf ("0 person %d,%d,%d,%d tagged %s", x1, y1, w, h,
      dropped ? "suppressed" : "kept");
  g_autofree gchar *launch = g_strdup_printf (OUTLINES " thickness=%d", thickness);
  GstBuffer *buffer = mixed_new (&info);
  g_autoptr (Picture) before = picture_read (&info, buffer), after = NULL;
  guint32 rgb = dropped ? GREY : PERSON;

  if (GST_VIDEO_INFO_IS_GRAY (&info))
    rgb = grey_of (rgb);
  add_boxes (buffer, box);
  after = overlay_once (launch, &info, buffer);
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      const gboolean inside = x >= across.from && x < across.to && y >= down.from && y < down.to;
      const gboolean drawn = inside
          && ((on_line (&down, y) && on_dash (&across, x))
              || (on_line (&across, x) && on_dash (&down, y)));

      if (drawn ? rgb_distance (picture_rgb (after, x, y), rgb) > 4
                : !picture_same (before, after, x, y))
        g_error ("%s %dx%d, box %s, thickness %d: pixel %d,%d is %06x", finfo->name, width, height,
            box, thickness, x, y, picture_rgb (after, x, y));
      if (drawn && finfo->n_components == 4) /* two bits unpack to 192 */
        g_assert_cmpuint (picture_component (after, x, y, 0), ==, finfo->depth[3] == 2 ? 192 : 255);
    }
}

/* Draws a label, whose text begins at 4, 0 on each chroma grid. Its samples are those of ARGB or
 * AYUV: of the first one of the pixels that share a sample where GStreamer packs them, else of all
 * on average. */
static void
check_label (GstVideoFormat format)
{
  static const gchar launch[] = "boxoverlay font-desc=\"Sans 16px\"", box[] = "0 Wag 0,0,96,64";
  const GstVideoInfo info = video_info_of (format, PICTURE_WIDTH, PICTURE_HEIGHT);
  const GstVideoFormatInfo *finfo = info.finfo;
  GstVideoInfo plain = video_info_of (GST_VIDEO_INFO_IS_RGB (&info) ? GST_VIDEO_FORMAT_ARGB
                                                                    : GST_VIDEO_FORMAT_AYUV,
      PICTURE_WIDTH, PICTURE_HEIGHT);
  g_autoptr (Picture) found = overlay_boxes (launch, &info, box), expected = NULL;
  const gboolean packs = GST_VIDEO_FORMAT_INFO_PSTRIDE (finfo, 0) == 0
      || (finfo->depth[0] > 8 && finfo->n_planes == 1);

  plain.colorimetry = info.colorimetry;
  expected = overlay_boxes (launch, &plain, box);
  for (guint c = 0; c < MIN (finfo->n_components, 3); c++) {
    const gint w = 1 << finfo->w_sub[c], h = 1 << finfo->h_sub[c], count = packs ? 1 : w * h;
    const gint rounding = finfo->depth[c] < 8 ? 1 << (8 - finfo->depth[c])
                                              : (finfo->depth[c] > 8) + (count > 1);

    for (gint y = 0; y < 16; y += h)
      for (gint x = 0; x < 40; x += w) {
        gint sum = 0;

        for (gint i = 0; i < count; i++)
          sum += picture_component (found, x + i % w, y + i / w, c + 1)
              - picture_component (expected, x + i % w, y + i / w, c + 1);
        if (ABS (sum) > rounding * count)
          g_error ("%s: component %u at %d,%d differs by %d", finfo->name, c, x, y, sum / count);
      }
  }
}

/* Paints on all raw formats but those with a palette or tiles, which it does not list. */
static void
test_formats (void)
{
  g_autoptr (GstElement) element = element_new ("boxoverlay");
  g_autoptr (GstCaps)
      caps = gst_pad_template_get_caps (gst_element_get_pad_template (element, "sink"));
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  guint n;
  const GstVideoFormat *formats = gst_video_formats_raw (&n);

  for (guint i = 0; i < n; i++) {
    const GstVideoFormatInfo *finfo = gst_video_format_get_info (formats[i]);
    const gboolean wanted = !GST_VIDEO_FORMAT_INFO_HAS_PALETTE (finfo)
        && !GST_VIDEO_FORMAT_INFO_IS_TILED (finfo);
    GstCaps *one = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, finfo->name, NULL);

    if (gst_caps_can_intersect (caps, one) != wanted)
      g_error ("%s is %slisted", finfo->name, wanted ? "not " : "");
    gst_caps_unref (one);
    if (!wanted)
      continue;
    /* (GStreamer 1.28 unpacks the last pixel of VYUY with swapped chroma if the width is odd.) */
    for (gint k = 0; k < 6; k++)
      check_random_box (rand, formats[i],
          PICTURE_WIDTH + (formats[i] != GST_VIDEO_FORMAT_VYUY ? k % 2 : 0),
          PICTURE_HEIGHT + k % 2);
    check_label (formats[i]);
  }
}

/* The colour is the same with each matrix and range, interlaced or not. */
static void
test_colorimetry (void)
{
  static const gchar *const colorimetry[] = { "bt601", "bt709", "bt2020", "1:4:0:0", "1:3:0:0" };

  for (guint i = 0; i < G_N_ELEMENTS (colorimetry); i++) {
    GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_Y444, PICTURE_WIDTH, PICTURE_HEIGHT);
    g_autoptr (Picture) picture = NULL;

    g_assert_true (gst_video_colorimetry_from_string (&info.colorimetry, colorimetry[i]));
    if (i % 2 == 0)
      info.interlace_mode = GST_VIDEO_INTERLACE_MODE_INTERLEAVED;
    picture = overlay_boxes (OUTLINES, &info, "0 person 8,8,40,40");
    g_assert_cmpint (rgb_distance (picture_rgb (picture, 9, 9), PERSON), <=, 3);
  }
}

/* The buffer that came leaves, or a copy if it is shared and has boxes to draw. The flag GAP, by
 * which downstream elements may skip the pixels, is removed where a box is painted, and only
 * there. */
static void
test_which_buffer (void)
{
  static const gchar *const boxes[] = { "", "0 hint 8,8,30,30", "0 person 96,10,40,20",
    "0 person 8,8,40,40" };
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_NV12, PICTURE_WIDTH, PICTURE_HEIGHT);
  g_autoptr (GstHarness) h = overlay_new ("boxoverlay", &info);
  g_autoptr (Picture) before = picture_blank (&info);

  gst_buffer_unref (through (h, video_buffer_new (&info))); /* marked as DISCONT */
  for (guint i = 0; i < 2 * G_N_ELEMENTS (boxes); i++) {
    const gboolean painted = i / 2 == 3, shared = i % 2;
    GstBuffer *in = boxed_buffer_new (&info, boxes[i / 2]);
    const GstMemory *memory = gst_buffer_peek_memory (in, 0);
    g_autoptr (GstBuffer) held = NULL, out = NULL;
    g_autoptr (Picture) after = NULL;

    GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_GAP);
    if (i / 2 == 1)
      add_structure (gst_buffer_get_video_region_of_interest_meta (in),
          "roi/x264enc, delta-qp=(float)-5.0;");
    if (shared)
      held = gst_buffer_ref (in);
    out = through (h, in);
    after = picture_read (&info, out);
    g_assert_true ((out == in) == !(shared && i / 2 >= 2));
    g_assert_true ((gst_buffer_peek_memory (out, 0) == memory) == (out == in));
    g_assert_true ((picture_all_changed (before, after) > 200) == painted);
    g_assert_true (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_GAP) != painted);
    g_assert_cmpuint (count_on (out), ==, i / 2 > 0);
    if (shared) {
      picture_assert_same (picture_blank (&info), picture_read (&info, held));
      g_assert_true (GST_BUFFER_FLAG_IS_SET (held, GST_BUFFER_FLAG_GAP));
    }
  }
}

/* Only the memory of the picture is written, for boxes at any position. */
static void
test_clipping (void)
{
  static const gint at[] = { G_MININT32, -1000, -20, -1, 0, 1, 90, 95, 96, 97, 5000, G_MAXINT32 };
  static const guint size[] = { 0, 1, 2, 3, 30, 200, G_MAXINT32, G_MAXUINT32 };
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YUY2,
    GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_P010_10LE,
    GST_VIDEO_FORMAT_UYVP };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    GstVideoInfo info = video_info_of (formats[f], PICTURE_WIDTH + 1, PICTURE_HEIGHT + 1);
    g_autoptr (GstHarness) h = overlay_new ("boxoverlay thickness=5", &info);

    /* each format draws a fifth of all combinations; 5 has no common factor with their
     * number */
    for (guint k = f; k < 12 * 12 * G_N_ELEMENTS (size); k += 5) {
      GstBuffer *buffer = gst_buffer_new ();
      g_autofree guint8 *memory = guard_buffer (buffer, info.size);
      const Rect place = { at[k % 12], at[k / 12 % 12], size[k / (12 * 12)],
        size[(k + k / 7) % 8] };

      add_structure (add_scored (buffer, 0, "person", place, 0.5),
          k % 3 == 0 ? "nms, state=suppressed;" : "object_id, id=3;");
      gst_buffer_unref (through (h, buffer));
      g_assert_true (guards_are_intact (memory, info.size));
    }
  }
}

/* The planes have odd strides, gaps between them, and separate memories. */
static void
test_video_meta (void)
{
  const gint width = 33, height = 17, strides[] = { 41, 23, 29 };
  const gsize plane_bytes[] = { 41 * 17, 23 * 9, 29 * 9 };
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, width, height);
  GstBuffer *buffer = gst_buffer_new ();
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0, plane_bytes[0], plane_bytes[0] + plane_bytes[1] };
  gint meta_strides[GST_VIDEO_MAX_PLANES] = { strides[0], strides[1], strides[2] };

  for (guint i = 0; i < 3; i++)
    gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, plane_bytes[i], NULL));
  gst_buffer_memset (buffer, 0, 0x50, gst_buffer_get_size (buffer));
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, width,
      height, 3, offsets, meta_strides);
  add_boxes (buffer, "0 person 4,4,20,10");
  picture_assert_same (overlay_boxes (OUTLINES, &info, "0 person 4,4,20,10"),
      overlay_once (OUTLINES, &info, buffer));
}

static void
test_short_buffers (void)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  g_autoptr (GstHarness) h = overlay_new ("boxoverlay", &info);
  GstBus *bus = harness_bus (h);

  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstBuffer) buffer = gst_buffer_new_allocate (NULL, 100, NULL);

    add_boxes (buffer, "0 person 4,4,20,10");
    buffer = through (h, buffer);
    g_assert_cmpuint (gst_buffer_get_size (buffer), ==, 100);
  }
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING), "Cannot paint on a video frame");
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR));
}

static void
test_read_only_memory (void)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  GstBuffer *buffer = boxed_buffer_new (&info, "0 person 4,4,20,10");

  GST_MINI_OBJECT_FLAG_SET (gst_buffer_peek_memory (buffer, 0), GST_MEMORY_FLAG_READONLY);
  picture_assert_same (overlay_boxes (OUTLINES, &info, "0 person 4,4,20,10"),
      overlay_once (OUTLINES, &info, buffer));
}

static void
test_caps_that_change (void)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_RGB,
    GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_I420 };
  GstVideoInfo info = video_info_of (formats[0], 320, 240);
  g_autoptr (GstHarness) h = overlay_new ("boxoverlay", &info);

  for (guint i = 0; i < 12; i++) {
    info = video_info_of (formats[i % 4], 320 - 20 * (gint) i, 240 + 100 * (gint) (i % 3));
    gst_harness_set_src_caps (h, gst_video_info_to_caps (&info));
    picture_assert_same (overlay_draw (h, &info, boxed_buffer_new (&info, "0 person 20,40,80,60")),
        overlay_boxes ("boxoverlay", &info, "0 person 20,40,80,60"));
  }
}

/* These caps fit the pads, but no memory can hold such a frame. */
static void
test_caps_without_layout (void)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  g_autoptr (GstHarness) h = overlay_new (OUTLINES, &info);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);

  gst_caps_set_simple (caps, "width", G_TYPE_INT, G_MAXINT, "height", G_TYPE_INT, G_MAXINT, NULL);
  gst_harness_push_event (h, gst_event_new_caps (caps));
  g_assert_cmpint (gst_harness_push (h, video_buffer_new (&info)), ==, GST_FLOW_NOT_NEGOTIATED);
}

static void
test_restart (void)
{
  g_autoptr (GstElement) pipeline = playing_new (
      "videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48 ! boxoverlay ! fakesink");

  for (guint i = 0; i < 10; i++)
    playing_to_end (pipeline);
}

/* No critical message is logged. */
static void
test_segments (void)
{
  static const GstFormat formats[] = { GST_FORMAT_BYTES, GST_FORMAT_DEFAULT, GST_FORMAT_TIME };
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  g_autoptr (Picture) before = picture_blank (&info);

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autoptr (GstHarness) h = overlay_new (OUTLINES, &info);
    g_autoptr (Picture) after = NULL;
    GstSegment segment;

    gst_segment_init (&segment, formats[i]);
    g_assert_true (gst_harness_push_event (h, gst_event_new_segment (&segment)));
    after = overlay_draw (h, &info, boxed_buffer_new (&info, "0 person 8,8,40,40"));
    g_assert_cmpuint (picture_all_changed (before, after), >, 200);
  }
}

/* The query succeeds where no element downstream answers it. */
static void
test_allocation (void)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);

  expect_allocation ("boxoverlay", caps);
}

/* Returns a buffer of frames of `full` that states a crop, with one box. */
static GstBuffer *
cropped_new (const GstVideoInfo *full, const GstVideoRectangle *crop, const gchar *box)
{
  GstBuffer *buffer = boxed_buffer_new (full, box);
  GstVideoCropMeta *meta = gst_buffer_add_video_crop_meta (buffer);

  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, full->finfo->format, full->width,
      full->height);
  meta->x = (guint) crop->x;
  meta->y = (guint) crop->y;
  meta->width = (guint) crop->w;
  meta->height = (guint) crop->h;
  return buffer;
}

/* A crop on the chroma grid is painted as a frame of its size is, with labels, and the
 * pixels around it do not change. */
static void
test_crops (void)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_I420,
    GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_UYVY, GST_VIDEO_FORMAT_Y41B,
    GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_v210,
    GST_VIDEO_FORMAT_NV12_10LE32 };
  static const GstVideoRectangle crop = { 24, 8, PICTURE_WIDTH, PICTURE_HEIGHT };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    GstVideoInfo info = video_info_of (formats[f], PICTURE_WIDTH, PICTURE_HEIGHT);
    GstVideoInfo full = video_info_of (formats[f], PICTURE_WIDTH + 32, PICTURE_HEIGHT + 16);
    g_autoptr (GstHarness) h = overlay_new ("boxoverlay", &info);
    g_autoptr (Picture) blank = picture_blank (&full), expected = NULL, picture = NULL;

    picture = overlay_draw (h, &full, cropped_new (&full, &crop, "0 person 4,30,50,20 0.5 #3"));
    expected = overlay_draw (h, &info, boxed_buffer_new (&info, "0 person 4,30,50,20 0.5 #3"));
    for (gint y = 0; y < full.height; y++) {
      for (gint x = 0; x < full.width; x++) {
        gint u = x - crop.x, v = y - crop.y;

        if (u < 0 || v < 0 || u >= crop.w || v >= crop.h)
          g_assert_true (picture_same (picture, blank, x, y));
        else
          g_assert_cmphex (picture_rgb (picture, x, y), ==, picture_rgb (expected, u, v));
      }
    }
  }
}

/* Returns of how many pixels of an area the first component differs: the luma. */
static guint
luma_changed (const Picture *a, const Picture *b, GstVideoRectangle area)
{
  guint count = 0;

  for (gint y = area.y; y < area.y + area.h; y++)
    for (gint x = area.x; x < area.x + area.w; x++)
      count += a->unpacked[(y * a->width + x) * 4 + 1] != b->unpacked[(y * a->width + x) * 4 + 1];
  return count;
}

/* A crop off the chroma grid shares its outer chroma samples with pixels around it; the
 * luma of those does not change, and the outline of a box that fills the crop shows on
 * each side. */
static void
test_crops_off_grid (void)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12,
    GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_Y41B, GST_VIDEO_FORMAT_YUV9 };

  for (guint i = 0; i < 16 * G_N_ELEMENTS (formats); i++) {
    const gint k = (gint) i % 16, w = 40 + k % 3, h = 24 + k % 5, x = 16 + k % 4, y = 8 + k / 4;
    const GstVideoRectangle whole = { 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT }, crop = { x, y, w, h };
    const GstVideoRectangle sides[] = { { x, y, 4, h }, { x + w - 4, y, 4, h }, { x, y, w, 4 },
      { x, y + h - 4, w, 4 } };
    const GstVideoInfo info = video_info_of (formats[i / 16], w, h);
    const GstVideoInfo full = video_info_of (formats[i / 16], PICTURE_WIDTH, PICTURE_HEIGHT);
    g_autoptr (GstHarness) harness = overlay_new (k % 2 ? "boxoverlay" : OUTLINES, &info);
    g_autofree gchar *box = g_strdup_printf ("0 person 0,0,%d,%d 0.5 #3", w, h);
    g_autoptr (Picture) before = picture_blank (&full), after = NULL;

    after = overlay_draw (harness, &full, cropped_new (&full, &crop, box));
    g_assert_cmpuint (luma_changed (before, after, whole), ==, luma_changed (before, after, crop));
    for (guint s = 0; s < 4 && k % 2 == 0 && formats[i / 16] != GST_VIDEO_FORMAT_YUV9; s++)
      g_assert_cmpuint (luma_changed (before, after, sides[s]), >, 0);
  }
}

/* A crop of any numbers is cut to the frame. Only one that leaves nothing causes a
 * warning, once, because its boxes cannot be drawn. */
static void
test_crops_of_any_size (void)
{
  static const GstVideoRectangle crops[] = { { 0, 0, -1, -1 }, { 90, 60, 96, 64 },
    { 95, 63, -1, -1 }, { 0, 0, 0, 10 }, { 96, 0, 10, 10 }, { 0, 64, 10, 10 }, { -1, -1, -1, -1 } };
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  g_autoptr (GstHarness) h = overlay_new ("boxoverlay", &info);
  GstBus *bus = harness_bus (h);

  for (guint i = 0; i < G_N_ELEMENTS (crops); i++) {
    GstBuffer *buffer = cropped_new (&info, &crops[i], "0 person 0,0,96,64 0.5 #3");
    g_autofree guint8 *memory = guard_buffer (buffer, info.size);

    gst_buffer_unref (through (h, buffer));
    g_assert_true (guards_are_intact (memory, info.size));
    for (gsize k = 0; i >= 3 && k < info.size; k++)
      g_assert_true (memory[GUARD + k] == 0x50);
    g_assert_cmpuint (count_messages (bus, GST_MESSAGE_WARNING), ==, i == 3);
  }
}

static const TestCase cases[] = { CASE (test_formats), CASE (test_colorimetry),
  CASE (test_which_buffer), CASE (test_clipping), CASE (test_video_meta), CASE (test_short_buffers),
  CASE (test_read_only_memory), CASE (test_caps_that_change), CASE (test_caps_without_layout),
  CASE (test_restart), CASE (test_segments), CASE (test_allocation), CASE (test_crops),
  CASE (test_crops_off_grid), CASE (test_crops_of_any_size), { NULL } };

GST_TEST_PROGRAM (cases);
