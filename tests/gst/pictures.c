/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Picture *
picture_read (const GstVideoInfo *info, GstBuffer *buffer)
{
  Picture *picture = g_new (Picture, 1);
  const GstVideoFormatInfo *finfo = info->finfo;
  const gsize bytes = (gsize) gst_video_format_get_info (finfo->unpack_format)->pixel_stride[0];
  GstVideoFrame frame;
  g_autofree guint8 *row = NULL;

  g_assert_true (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  *picture = (Picture) { *info, info->width, info->height, bytes,
    g_malloc ((gsize) info->width * info->height * bytes) };
  /* The buffer is aligned because GStreamer 1.22 swaps the chroma of VYUY if it is not.
   * It is larger because some functions write whole groups of pixels. */
  row = g_malloc0 ((gsize) (info->width + 64) * bytes);
  for (gint y = 0; y < info->height; y++) {
    finfo->unpack_func (finfo, GST_VIDEO_PACK_FLAG_NONE, row, frame.data, frame.info.stride, 0, y,
        info->width);
    memcpy (picture->unpacked + (gsize) y * info->width * bytes, row, (gsize) info->width * bytes);
  }
  gst_video_frame_unmap (&frame);
  return picture;
}

void
picture_free (Picture *picture)
{
  g_free (picture->unpacked);
  g_free (picture);
}

static const guint8 *
pixel_at (const Picture *picture, gint x, gint y)
{
  return picture->unpacked + ((gsize) y * picture->width + x) * picture->bytes;
}

guint8
picture_component (const Picture *picture, gint x, gint y, guint c)
{
  const guint8 *pixel = pixel_at (picture, x, y);

  return picture->bytes == 8 ? ((const guint16 *) pixel)[c] >> 8 : pixel[c];
}

/* Converts YUV by the formulas of the colour standards. */
guint32
picture_rgb (const Picture *picture, gint x, gint y)
{
  const GstVideoInfo *info = &picture->info;
  const gboolean full = info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  const gint a = picture_component (picture, x, y, 1), b = picture_component (picture, x, y, 2),
             c = picture_component (picture, x, y, 3);
  gdouble kr = 0.299, kb = 0.114, luma, u, v, rgb[3];
  guint32 result = 0;

  if (GST_VIDEO_FORMAT_INFO_IS_RGB (gst_video_format_get_info (info->finfo->unpack_format)))
    return (guint32) (a << 16 | b << 8 | c);
  gst_video_color_matrix_get_Kr_Kb (info->colorimetry.matrix, &kr, &kb);
  luma = full ? a / 255.0 : (a - 16) / 219.0;
  u = GST_VIDEO_INFO_IS_GRAY (info) ? 0 : (b - 128) / (full ? 255.0 : 224.0);
  v = GST_VIDEO_INFO_IS_GRAY (info) ? 0 : (c - 128) / (full ? 255.0 : 224.0);
  rgb[0] = luma + 2 * (1 - kr) * v;
  rgb[2] = luma + 2 * (1 - kb) * u;
  rgb[1] = (luma - kr * rgb[0] - kb * rgb[2]) / (1 - kr - kb);
  for (guint i = 0; i < 3; i++)
    result = result << 8 | (guint32) CLAMP (lrint (255 * rgb[i]), 0, 255);
  return result;
}

gboolean
picture_same (const Picture *a, const Picture *b, gint x, gint y)
{
  return memcmp (pixel_at (a, x, y), pixel_at (b, x, y), a->bytes) == 0;
}

guint
picture_changed (const Picture *a, const Picture *b, gint x1, gint y1, gint x2, gint y2)
{
  guint n = 0;

  for (gint y = MAX (y1, 0); y < MIN (y2, a->height); y++)
    for (gint x = MAX (x1, 0); x < MIN (x2, a->width); x++)
      n += !picture_same (a, b, x, y);
  return n;
}

guint
picture_all_changed (const Picture *a, const Picture *b)
{
  return picture_changed (a, b, 0, 0, a->width, a->height);
}

void
picture_assert_same (Picture *a, Picture *b)
{
  g_assert_cmpuint (picture_all_changed (a, b), ==, 0);
  picture_free (a);
  picture_free (b);
}

void
picture_expect (Picture *picture, Picture *before, const gchar *found)
{
  gchar **list = g_strsplit (found, " ", -1);

  for (guint i = 0; list[i]; i++) {
    guint value;
    gint at[4];

    if (sscanf (list[i], "%d,%d=%x", &at[0], &at[1], &value) == 3) {
      g_assert_cmphex (picture_rgb (picture, at[0], at[1]), ==, value);
    } else {
      g_assert_cmpint (sscanf (list[i], "%d,%d,%d,%d:%u", &at[0], &at[1], &at[2], &at[3], &value),
          ==, 5);
      if (picture_changed (before, picture, at[0], at[1], at[2], at[3]) != value)
        g_error ("%s are not what has changed", list[i]);
    }
  }
  g_strfreev (list);
  picture_free (picture);
  picture_free (before);
}

gint
rgb_distance (guint32 a, guint32 b)
{
  gint d = 0;

  for (guint shift = 0; shift < 24; shift += 8)
    d = MAX (d, ABS ((gint) ((a >> shift) & 0xff) - (gint) ((b >> shift) & 0xff)));
  return d;
}

GstBuffer *
video_buffer_new (const GstVideoInfo *info)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);

  gst_buffer_memset (buffer, 0, 0x50, GST_VIDEO_INFO_SIZE (info));
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

Picture *
picture_blank (const GstVideoInfo *info)
{
  g_autoptr (GstBuffer) buffer = video_buffer_new (info);
  Picture *picture = picture_read (info, buffer);

  return picture;
}

GstBuffer *
boxed_buffer_new (const GstVideoInfo *info, const gchar *boxes)
{
  GstBuffer *buffer = video_buffer_new (info);

  add_boxes (buffer, boxes);
  return buffer;
}

guint8 *
guard_buffer (GstBuffer *buffer, gsize bytes)
{
  guint8 *memory = g_malloc (bytes + 2 * GUARD);

  memset (memory, 0x50, bytes + 2 * GUARD);
  gst_buffer_replace_all_memory (buffer,
      gst_memory_new_wrapped (0, memory, bytes + 2 * GUARD, GUARD, bytes, NULL, NULL));
  return memory;
}

gboolean
guards_are_intact (const guint8 *memory, gsize bytes)
{
  for (gsize i = 0; i < GUARD; i++)
    if (memory[i] != 0x50 || memory[GUARD + bytes + i] != 0x50)
      return FALSE;
  return TRUE;
}

GstHarness *
overlay_new (const gchar *launch, const GstVideoInfo *info)
{
  GstHarness *h = harness_new_caps (launch, NULL);

  gst_harness_set_src_caps (h, gst_video_info_to_caps ((GstVideoInfo *) info));
  return h;
}

GstVideoInfo
video_info_of (GstVideoFormat format, gint width, gint height)
{
  GstVideoInfo info;

  gst_video_info_init (&info);
  g_assert_true (gst_video_info_set_format (&info, format, width, height));
  return info;
}

Picture *
overlay_draw (GstHarness *h, const GstVideoInfo *info, GstBuffer *buffer)
{
  g_autoptr (GstBuffer) out = through (h, buffer);
  Picture *picture = picture_read (info, out);

  return picture;
}

Picture *
overlay_once (const gchar *launch, const GstVideoInfo *info, GstBuffer *buffer)
{
  g_autoptr (GstHarness) h = overlay_new (launch, info);
  Picture *picture = overlay_draw (h, info, buffer);

  return picture;
}

Picture *
overlay_boxes (const gchar *launch, const GstVideoInfo *info, const gchar *boxes)
{
  return overlay_once (launch, info, boxed_buffer_new (info, boxes));
}
