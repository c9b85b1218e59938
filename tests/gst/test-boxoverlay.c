/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxoverlay: outlines in every format, buffers that are not changed, hostile boxes. */
#include <math.h>
#include <string.h>

#include "checkrunner.h"
#include "pictures.h"

/* Draws one box without a label on an empty frame. */
static Picture *
draw_box (const GstVideoInfo *info, const gchar *launch, guint x, guint y, guint w, guint h)
{
  GstHarness *harness = overlay_new (launch, info);
  GstBuffer *buffer = video_buffer_new (info);
  Picture *picture;

  video_buffer_add_box (buffer, "person", x, y, w, h, NAN, 0, NULL);
  picture = overlay_draw (harness, info, buffer);
  gst_harness_teardown (harness);
  return picture;
}

static Picture *
blank (const GstVideoInfo *info)
{
  GstBuffer *buffer = video_buffer_new (info);
  Picture *picture = picture_read (info, buffer);

  gst_buffer_unref (buffer);
  return picture;
}

static guint32
color_of_person (void)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_BGRx, PICTURE_WIDTH, PICTURE_HEIGHT);
  Picture *picture = draw_box (&info, OUTLINES, 8, 8, 40, 40);
  guint32 rgb = picture_rgb (picture, 8, 8);

  picture_free (picture);
  return rgb;
}

static gint
snap (gint v, gint step)
{
  return (2 * v + step) / (2 * step) * step;
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

/* Checks each pixel of one drawn box: the outline has the expected colour, all other
 * pixels are as before. */
static void
check_format (GstVideoFormat format, gint width, gint height, guint32 rgb)
{
  GstVideoInfo info = video_info_of (format, width, height);
  const GstVideoFormatInfo *finfo = info.finfo;
  gint step_x = 1 << MAX (finfo->w_sub[1], 0), step_y = 1 << MAX (finfo->h_sub[1], 0);
  gint x1, y1, x2, y2, tx, ty;
  GstHarness *harness = overlay_new (OUTLINES, &info);
  GstBuffer *buffer = mixed_new (&info);
  Picture *before = picture_read (&info, buffer), *after;

  video_buffer_add_box (buffer, "person", 13, 11, 50, 34, NAN, 0, NULL);
  after = overlay_draw (harness, &info, buffer);
  gst_harness_teardown (harness);
  if (finfo->n_components < 3)
    step_x = step_y = 1;
  x1 = snap (13, step_x);
  x2 = snap (63, step_x);
  y1 = snap (11, step_y);
  y2 = snap (45, step_y);
  tx = MAX (2, step_x);
  ty = MAX (2, step_y);
  if (GST_VIDEO_INFO_IS_GRAY (&info)) {
    guint luma = (guint) lrint (
        0.299 * (rgb >> 16) + 0.587 * ((rgb >> 8) & 255) + 0.114 * (rgb & 255));

    rgb = luma << 16 | luma << 8 | luma;
  }
  for (gint y = 0; y < height; y++) {
    for (gint x = 0; x < width; x++) {
      gboolean inside = x >= x1 && x < x2 && y >= y1 && y < y2;
      gboolean hollow = x >= x1 + tx && x < x2 - tx && y >= y1 + ty && y < y2 - ty;

      if (!inside || hollow) {
        if (!picture_same (before, after, x, y))
          g_error ("%s: pixel %d,%d changed", finfo->name, x, y);
      } else if (rgb_distance (picture_rgb (after, x, y), rgb) > 4) {
        g_error ("%s: pixel %d,%d is %06x, not %06x", finfo->name, x, y, picture_rgb (after, x, y),
            rgb);
      } else if (after->has_alpha) {
        /* two bits unpack to 192 */
        g_assert_cmpuint (picture_alpha (after, x, y), ==, finfo->depth[3] == 2 ? 192 : 255);
      }
    }
  }
  picture_free (before);
  picture_free (after);
}

static const GValue *
template_formats (GstElement *element)
{
  GstPadTemplate *template = gst_element_get_pad_template (element, "sink");
  GstCaps *caps = gst_pad_template_get_caps (template);
  const GValue *list = gst_structure_get_value (gst_caps_get_structure (caps, 0), "format");

  g_assert_cmpuint (gst_caps_get_size (caps), >=, 1); /* those of batches follow */
  gst_caps_unref (caps);                              /* the template keeps a reference */
  return list;
}

GST_START_TEST (paints_each_listed_format)
{
  GstElement *element = gst_element_factory_make ("boxoverlay", NULL);
  const GValue *list = template_formats (element);
  guint32 rgb = color_of_person ();

  for (guint i = 0; i < gst_value_list_get_size (list); i++) {
    const gchar *name = g_value_get_string (gst_value_list_get_value (list, i));
    GstVideoFormat format = gst_video_format_from_string (name);

    check_format (format, PICTURE_WIDTH, PICTURE_HEIGHT, rgb);
    check_format (format, PICTURE_WIDTH + 1, PICTURE_HEIGHT + 1, rgb);
  }
  gst_object_unref (element);
}
GST_END_TEST

GST_START_TEST (lists_all_formats_but_palettes_and_tiles)
{
  GstElement *element = gst_element_factory_make ("boxoverlay", NULL);
  GstCaps *caps = gst_pad_template_get_caps (gst_element_get_pad_template (element, "sink"));
  guint n;
  const GstVideoFormat *formats = gst_video_formats_raw (&n);

  for (guint i = 0; i < n; i++) {
    const GstVideoFormatInfo *finfo = gst_video_format_get_info (formats[i]);
    gboolean listed,
        wanted = !GST_VIDEO_FORMAT_INFO_HAS_PALETTE (finfo)
        && !GST_VIDEO_FORMAT_INFO_IS_TILED (finfo);
    GstCaps *one = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, finfo->name, NULL);

    listed = gst_caps_can_intersect (caps, one);
    if (listed != wanted)
      g_error ("%s is %slisted", finfo->name, listed ? "" : "not ");
    gst_caps_unref (one);
  }
  gst_caps_unref (caps);
  gst_object_unref (element);
}
GST_END_TEST

/* The colour is the same with each matrix and range, interlaced or not. */
GST_START_TEST (follows_the_colorimetry)
{
  static const gchar *const colorimetry[] = { "bt601", "bt709", "bt2020", "1:4:0:0", "1:3:0:0" };
  guint32 rgb = color_of_person ();

  for (guint i = 0; i < G_N_ELEMENTS (colorimetry); i++) {
    GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_Y444, PICTURE_WIDTH, PICTURE_HEIGHT);
    Picture *picture;

    g_assert_true (gst_video_colorimetry_from_string (&info.colorimetry, colorimetry[i]));
    if (i % 2 == 0)
      info.interlace_mode = GST_VIDEO_INTERLACE_MODE_INTERLEAVED;
    picture = draw_box (&info, OUTLINES, 8, 8, 40, 40);
    g_assert_cmpint (rgb_distance (picture_rgb (picture, 9, 9), rgb), <=, 3);
    picture_free (picture);
  }
}
GST_END_TEST

GST_START_TEST (passes_buffers_without_boxes_as_they_are)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  GstHarness *h = overlay_new ("boxoverlay", &info);
  GstBuffer *in, *out;

  gst_buffer_unref (overlay_push (h, video_buffer_new (&info))); /* marked as DISCONT */
  for (guint hint = 0; hint < 2; hint++) {
    in = video_buffer_new (&info);
    if (hint == 1)
      gst_video_region_of_interest_meta_add_param (gst_buffer_add_video_region_of_interest_meta (in,
                                                       "hint", 8, 8, 30, 30),
          gst_structure_new ("roi/x264enc", "delta-qp", G_TYPE_FLOAT, -5.0f, NULL));
    gst_buffer_ref (in); /* another branch holds it */
    out = overlay_push (h, in);
    g_assert_true (out == in);
    gst_buffer_unref (out);
    gst_buffer_unref (in);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (paints_in_place_where_it_may)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  GstHarness *h = overlay_new ("boxoverlay", &info);
  GstBuffer *in = video_buffer_new (&info), *out;
  GstMemory *memory = gst_buffer_peek_memory (in, 0);

  video_buffer_add_box (in, "person", 8, 8, 40, 40, 0.5, 0, NULL);
  out = overlay_push (h, in);
  g_assert_true (out == in && gst_buffer_peek_memory (out, 0) == memory);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (leaves_other_branches_untouched)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_NV12, PICTURE_WIDTH, PICTURE_HEIGHT);
  GstHarness *h = overlay_new ("boxoverlay", &info);
  GstBuffer *in = video_buffer_new (&info), *out;
  Picture *before = picture_read (&info, in), *branch, *drawn;

  video_buffer_add_box (in, "person", 8, 8, 40, 40, 0.5, 0, NULL);
  out = overlay_push (h, gst_buffer_ref (in));
  branch = picture_read (&info, in);
  drawn = picture_read (&info, out);
  g_assert_true (out != in);
  g_assert_cmpuint (picture_changed (before, branch, 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT), ==, 0);
  g_assert_cmpuint (picture_changed (before, drawn, 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT), >, 200);
  g_assert_nonnull (gst_buffer_get_video_region_of_interest_meta_id (out, 0));
  picture_free (before);
  picture_free (branch);
  picture_free (drawn);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST

/* Only the memory of the picture is written, for boxes at any position. */
GST_START_TEST (clips_boxes_to_the_frame)
{
  static const gint64 at[] = { G_MININT32, -1000, -20, -1, 0, 1, 90, 95, 96, 97, 5000, G_MAXINT32 };
  static const guint size[] = { 0, 1, 2, 3, 30, 200, G_MAXINT32, G_MAXUINT32 };
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YUY2,
    GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_P010_10LE };
  const gsize guard = 4096;

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    GstVideoInfo info = video_info_of (formats[f], PICTURE_WIDTH + 1, PICTURE_HEIGHT + 1);
    GstHarness *h = overlay_new ("boxoverlay thickness=5", &info);
    gsize bytes = GST_VIDEO_INFO_SIZE (&info);
    guint8 *memory = g_malloc (bytes + 2 * guard);

    /* each format draws a fifth of all combinations; 5 has no common factor with their
     * number */
    for (guint k = f; k < G_N_ELEMENTS (at) * G_N_ELEMENTS (at) * G_N_ELEMENTS (size); k += 5) {
      GstBuffer *buffer = gst_buffer_new_wrapped_full (0, memory, bytes + 2 * guard, guard, bytes,
          NULL, NULL);

      memset (memory, 0x50, bytes + 2 * guard);
      video_buffer_add_box (buffer, "person", (guint) at[k % G_N_ELEMENTS (at)],
          (guint) at[k / G_N_ELEMENTS (at) % G_N_ELEMENTS (at)],
          size[k / (G_N_ELEMENTS (at) * G_N_ELEMENTS (at))], size[(k + k / 7) % 8], 0.5, 3,
          k % 3 == 0 ? "suppressed" : NULL);
      gst_buffer_unref (overlay_push (h, buffer));
      for (gsize i = 0; i < guard; i++)
        g_assert_true (memory[i] == 0x50 && memory[guard + bytes + i] == 0x50);
    }
    g_free (memory);
    gst_harness_teardown (h);
  }
}
GST_END_TEST

GST_START_TEST (draws_nothing_for_boxes_off_the_frame)
{
  static const gint boxes[][4] = { { -50, 10, 40, 20 }, { 96, 10, 40, 20 }, { 10, -30, 20, 30 },
    { 10, 64, 20, 10 }, { 3000, 3000, 5, 5 } };
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  Picture *before = blank (&info);

  for (guint i = 0; i < G_N_ELEMENTS (boxes); i++) {
    Picture *after = draw_box (&info, "boxoverlay", (guint) boxes[i][0], (guint) boxes[i][1],
        (guint) boxes[i][2], (guint) boxes[i][3]);

    g_assert_cmpuint (picture_changed (before, after, 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT), ==, 0);
    picture_free (after);
  }
  picture_free (before);
}
GST_END_TEST

/* The edges of a box that lie outside of the frame are not drawn. */
GST_START_TEST (draws_the_visible_edges_only)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_GRAY8, PICTURE_WIDTH, PICTURE_HEIGHT);
  Picture *before = blank (&info);
  Picture *after = draw_box (&info, OUTLINES, (guint) -20, 10, 60, 30);

  g_assert_cmpuint (picture_changed (before, after, 0, 12, 38, 38), ==, 0);
  g_assert_cmpuint (picture_changed (before, after, 0, 10, 40, 12), ==, 80);
  g_assert_cmpuint (picture_changed (before, after, 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT), ==,
      2 * 80 + 2 * 26);
  picture_free (before);
  picture_free (after);
}
GST_END_TEST

GST_START_TEST (shows_an_empty_box_as_a_dot)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  Picture *before = blank (&info), *after = draw_box (&info, OUTLINES " thickness=3", 20, 20, 0, 0);

  g_assert_cmpuint (picture_changed (before, after, 20, 20, 24, 24), ==, 16);
  g_assert_cmpuint (picture_changed (before, after, 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT), ==, 16);
  picture_free (before);
  picture_free (after);
}
GST_END_TEST

GST_START_TEST (draws_in_the_given_thickness)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_BGRx, 200, 200);

  for (gint thickness = 1; thickness <= 64; thickness++) {
    gchar *launch = g_strdup_printf (OUTLINES " thickness=%d", thickness);
    Picture *before = blank (&info), *after = draw_box (&info, launch, 10, 10, 150, 150);
    gint hole = MAX (150 - 2 * thickness, 0);

    g_assert_cmpuint (picture_changed (before, after, 0, 0, 200, 200), ==, 150 * 150 - hole * hole);
    picture_free (before);
    picture_free (after);
    g_free (launch);
  }
}
GST_END_TEST

/* The doubles are used if they agree with the integers; invalid doubles are ignored. */
/* Numbers that contradict the pixels of a region do not count. */
GST_START_TEST (survives_any_numbers)
{
  static const gdouble odd[] = { NAN, INFINITY, -INFINITY, 1e300, -1e300, 0.0, 0.5, -0.0 };
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  GstHarness *h = overlay_new (OUTLINES, &info);
  Picture *expected = draw_box (&info, OUTLINES, 10, 10, 20, 20);

  for (guint k = 0; k < 8 * 8 * 8; k++) {
    GstBuffer *buffer = video_buffer_new (&info);
    Picture *picture;

    gst_video_region_of_interest_meta_add_param (
        gst_buffer_add_video_region_of_interest_meta (buffer, "person", 10, 10, 20, 20),
        gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, odd[k % 8], "y_min", G_TYPE_DOUBLE,
            odd[k / 8 % 8], "x_max", G_TYPE_DOUBLE, odd[k / 64], "y_max", G_TYPE_DOUBLE,
            odd[(k + 3) % 8], "confidence", G_TYPE_DOUBLE, odd[k % 7], NULL));
    picture = overlay_draw (h, &info, buffer);
    g_assert_cmpuint (picture_changed (expected, picture, 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT), ==,
        0);
    picture_free (picture);
  }
  picture_free (expected);
  gst_harness_teardown (h);
}
GST_END_TEST

/* The planes have odd strides, gaps between them, and separate memories. */
GST_START_TEST (honours_the_video_meta)
{
  const gint width = 33, height = 17, strides[] = { 41, 23, 29 };
  const gsize plane_bytes[] = { 41 * 17, 23 * 9, 29 * 9 };
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, width, height);
  GstHarness *h = overlay_new (OUTLINES, &info);
  GstBuffer *buffer = gst_buffer_new ();
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0, plane_bytes[0], plane_bytes[0] + plane_bytes[1] };
  gint meta_strides[GST_VIDEO_MAX_PLANES] = { strides[0], strides[1], strides[2] };
  Picture *expected = draw_box (&info, OUTLINES, 4, 4, 20, 10), *picture;

  for (guint i = 0; i < 3; i++) {
    gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, plane_bytes[i], NULL));
  }
  gst_buffer_memset (buffer, 0, 0x50, gst_buffer_get_size (buffer));
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, width,
      height, 3, offsets, meta_strides);
  video_buffer_add_box (buffer, "person", 4, 4, 20, 10, NAN, 0, NULL);
  picture = overlay_draw (h, &info, buffer);
  g_assert_cmpuint (picture_changed (expected, picture, 0, 0, width, height), ==, 0);
  picture_free (expected);
  picture_free (picture);
  gst_harness_teardown (h);
}
GST_END_TEST

/* A gap buffer, which repeats the previous frame, is drawn too. */
GST_START_TEST (paints_gap_buffers)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  GstHarness *h = overlay_new ("boxoverlay", &info);
  GstBuffer *buffer = video_buffer_new (&info);
  Picture *before = picture_read (&info, buffer), *after;

  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  GST_BUFFER_PTS (buffer) = GST_CLOCK_TIME_NONE;
  video_buffer_add_box (buffer, "person", 8, 20, 40, 40, 0.5, 0, NULL);
  after = overlay_draw (h, &info, buffer);
  g_assert_cmpuint (picture_changed (before, after, 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT), >, 300);
  picture_free (before);
  picture_free (after);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (warns_once_of_short_buffers)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  GstHarness *h = overlay_new ("boxoverlay", &info);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;

  gst_element_set_bus (h->element, bus);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 100, NULL);

    gst_buffer_memset (buffer, 0, 0, 100);
    video_buffer_add_box (buffer, "person", 4, 4, 20, 10, NAN, 0, NULL);
    buffer = overlay_push (h, buffer);
    g_assert_cmpuint (gst_buffer_get_size (buffer), ==, 100);
    gst_buffer_unref (buffer);
  }
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_WARNING);
  gst_message_unref (message);
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR));
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (copies_read_only_memory)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  GstHarness *h = overlay_new (OUTLINES, &info);
  gsize bytes = GST_VIDEO_INFO_SIZE (&info);
  guint8 *memory = g_malloc (bytes);
  GstBuffer *buffer = gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY, memory, bytes, 0,
      bytes, memory, g_free);
  Picture *expected = draw_box (&info, OUTLINES, 4, 4, 20, 10), *picture;

  memset (memory, 0x50, bytes);
  video_buffer_add_box (buffer, "person", 4, 4, 20, 10, NAN, 0, NULL);
  picture = overlay_draw (h, &info, buffer);
  g_assert_cmpuint (picture_changed (expected, picture, 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT), ==,
      0);
  picture_free (expected);
  picture_free (picture);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (follows_caps_that_change)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_RGB,
    GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_I420 };
  GstVideoInfo info = video_info_of (formats[0], 320, 240);
  GstHarness *h = overlay_new ("boxoverlay", &info);

  for (guint i = 0; i < 12; i++) {
    GstBuffer *buffer;
    Picture *picture, *fresh;

    info = video_info_of (formats[i % 4], 320 - 20 * (gint) i, 240 + 100 * (gint) (i % 3));
    overlay_set_info (h, &info);
    buffer = video_buffer_new (&info);
    video_buffer_add_box (buffer, "person", 20, 40, 80, 60, NAN, 0, NULL);
    picture = overlay_draw (h, &info, buffer);
    fresh = draw_box (&info, "boxoverlay", 20, 40, 80, 60);
    g_assert_cmpuint (picture_changed (picture, fresh, 0, 0, info.width, info.height), ==, 0);
    picture_free (picture);
    picture_free (fresh);
  }
  gst_harness_teardown (h);
}
GST_END_TEST

/* These caps fit the pads, but no memory can hold such a frame. */
GST_START_TEST (refuses_caps_without_a_layout)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  GstHarness *h = overlay_new (OUTLINES, &info);
  GstCaps *caps = gst_video_info_to_caps (&info);

  gst_caps_set_simple (caps, "width", G_TYPE_INT, G_MAXINT, "height", G_TYPE_INT, G_MAXINT, NULL);
  gst_harness_push_event (h, gst_event_new_caps (caps));
  g_assert_cmpint (gst_harness_push (h, video_buffer_new (&info)), ==, GST_FLOW_NOT_NEGOTIATED);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (passes_gaps_and_eos)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, PICTURE_WIDTH, PICTURE_HEIGHT);
  GstHarness *h = overlay_new ("boxoverlay", &info);
  gboolean gap = FALSE, eos = FALSE;
  GstEvent *event;

  gst_buffer_unref (overlay_push (h, video_buffer_new (&info)));
  g_assert_true (gst_harness_push_event (h, gst_event_new_gap (0, GST_SECOND)));
  g_assert_true (gst_harness_push_event (h, gst_event_new_eos ()));
  while ((event = gst_harness_try_pull_event (h)) != NULL) {
    gap |= GST_EVENT_TYPE (event) == GST_EVENT_GAP;
    eos |= GST_EVENT_TYPE (event) == GST_EVENT_EOS;
    gst_event_unref (event);
  }
  g_assert_true (gap && eos);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (draws_a_hundred_thousand_boxes)
{
  GstVideoInfo info = video_info_of (GST_VIDEO_FORMAT_I420, 640, 480);
  GstHarness *h = overlay_new ("boxoverlay", &info);
  GstBuffer *buffer = video_buffer_new (&info);
  Picture *before = picture_read (&info, buffer), *after;

  for (guint i = 0; i < 100000; i++) {
    gchar label[16];

    g_snprintf (label, sizeof label, "thing %u", i % 500);
    gst_buffer_add_video_region_of_interest_meta (buffer, label, i * 7919 % 600, i * 104729 % 440,
        1 + i % 300, 1 + i % 200);
  }
  after = overlay_draw (h, &info, buffer);
  g_assert_cmpuint (picture_changed (before, after, 0, 0, 640, 480), >, 200000);
  picture_free (before);
  picture_free (after);
  gst_harness_teardown (h);
}
GST_END_TEST

GST_START_TEST (starts_again_and_again)
{
  GstElement *pipeline = gst_parse_launch ("videotestsrc num-buffers=5 ! "
                                           "video/x-raw,width=64,height=48 ! boxoverlay ! fakesink",
      NULL);
  GstBus *bus;

  g_assert_nonnull (pipeline);
  bus = gst_element_get_bus (pipeline);
  for (guint i = 0; i < 10; i++) {
    GstMessage *message;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
    gst_message_unref (message);
    gst_element_set_state (pipeline, i % 2 ? GST_STATE_NULL : GST_STATE_READY);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}
GST_END_TEST

static const CheckCase cases[] = { CHECK_CASE (paints_each_listed_format),
  CHECK_CASE (lists_all_formats_but_palettes_and_tiles), CHECK_CASE (follows_the_colorimetry),
  CHECK_CASE (passes_buffers_without_boxes_as_they_are), CHECK_CASE (paints_in_place_where_it_may),
  CHECK_CASE (leaves_other_branches_untouched), CHECK_CASE (clips_boxes_to_the_frame),
  CHECK_CASE (draws_nothing_for_boxes_off_the_frame), CHECK_CASE (draws_the_visible_edges_only),
  CHECK_CASE (shows_an_empty_box_as_a_dot), CHECK_CASE (draws_in_the_given_thickness),
  CHECK_CASE (survives_any_numbers), CHECK_CASE (honours_the_video_meta),
  CHECK_CASE (paints_gap_buffers), CHECK_CASE (warns_once_of_short_buffers),
  CHECK_CASE (copies_read_only_memory), CHECK_CASE (follows_caps_that_change),
  CHECK_CASE (refuses_caps_without_a_layout), CHECK_CASE (passes_gaps_and_eos),
  CHECK_CASE (draws_a_hundred_thousand_boxes), CHECK_CASE (starts_again_and_again), { NULL } };

CHECK_PROGRAM (cases);
