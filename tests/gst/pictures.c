/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Converts one pixel by the formulas of the colour standards. */
static void
to_rgb (const GstVideoInfo *info, const guint8 ayuv[4], guint8 argb[4])
{
  gboolean full = info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  gdouble kr = 0.299, kb = 0.114, kg, y, u, v, rgb[3];

  gst_video_color_matrix_get_Kr_Kb (info->colorimetry.matrix, &kr, &kb);
  kg = 1 - kr - kb;
  y = full ? ayuv[1] / 255.0 : (ayuv[1] - 16) / 219.0;
  u = (ayuv[2] - 128) / (full ? 255.0 : 224.0);
  v = (ayuv[3] - 128) / (full ? 255.0 : 224.0);
  if (GST_VIDEO_INFO_IS_GRAY (info))
    u = v = 0;
  rgb[0] = y + 2 * (1 - kr) * v;
  rgb[2] = y + 2 * (1 - kb) * u;
  rgb[1] = (y - kr * rgb[0] - kb * rgb[2]) / kg;
  argb[0] = ayuv[0];
  for (guint i = 0; i < 3; i++)
    argb[i + 1] = (guint8) CLAMP (lrint (255 * rgb[i]), 0, 255);
}

Picture *
picture_read (const GstVideoInfo *info, GstBuffer *buffer)
{
  Picture *picture = g_new0 (Picture, 1);
  const GstVideoFormatInfo *finfo = info->finfo;
  const GstVideoFormatInfo *unpacked = gst_video_format_get_info (finfo->unpack_format);
  guint bytes = unpacked->pixel_stride[0];
  GstVideoFrame frame;
  g_autofree guint8 *row = NULL;

  g_assert_true (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  picture->width = info->width;
  picture->height = info->height;
  picture->wide = bytes == 8;
  picture->has_alpha = GST_VIDEO_FORMAT_INFO_HAS_ALPHA (finfo) || finfo->n_components == 4;
  picture->unpacked = g_malloc0 ((gsize) info->width * info->height * bytes);
  /* The buffer is aligned because GStreamer 1.22 swaps the chroma of VYUY if it is not.
   * It is larger because some functions write whole groups of pixels. */
  row = g_malloc0 ((gsize) (info->width + 64) * bytes);
  picture->argb = g_malloc0 ((gsize) info->width * info->height * 4);
  for (gint y = 0; y < info->height; y++) {
    guint8 *line = picture->unpacked + (gsize) y * info->width * bytes;
    guint8 *argb = picture->argb + (gsize) y * info->width * 4;

    finfo->unpack_func (finfo, GST_VIDEO_PACK_FLAG_NONE, row, frame.data, frame.info.stride, 0, y,
        info->width);
    memcpy (line, row, (gsize) info->width * bytes);
    for (gint x = 0; x < info->width; x++, argb += 4) {
      guint8 part[4];

      for (guint c = 0; c < 4; c++)
        part[c] = picture->wide ? ((guint16 *) line)[4 * x + c] >> 8 : line[4 * x + c];
      if (GST_VIDEO_FORMAT_INFO_IS_RGB (unpacked))
        memcpy (argb, part, 4);
      else
        to_rgb (info, part, argb);
    }
  }
  gst_video_frame_unmap (&frame);
  return picture;
}

void
picture_free (Picture *picture)
{
  g_free (picture->argb);
  g_free (picture->unpacked);
  g_free (picture);
}

guint32
picture_rgb (const Picture *picture, gint x, gint y)
{
  const guint8 *p = picture->argb + ((gsize) y * picture->width + x) * 4;

  return (guint32) p[1] << 16 | (guint32) p[2] << 8 | p[3];
}

guint8
picture_alpha (const Picture *picture, gint x, gint y)
{
  return picture->argb[((gsize) y * picture->width + x) * 4];
}

gboolean
picture_same (const Picture *a, const Picture *b, gint x, gint y)
{
  gsize bytes = a->wide ? 8 : 4, at = ((gsize) y * a->width + x) * bytes;

  return memcmp (a->unpacked + at, b->unpacked + at, bytes) == 0;
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

void
video_buffer_add_box (GstBuffer *buffer, const gchar *label, const gchar *place, const gchar *has)
{
  gchar **words = g_strsplit (has ? has : "", " ", -1);
  GstVideoRegionOfInterestMeta *meta;
  gchar **numbers = g_strsplit (place, ",", -1);
  guint at[4];

  g_assert_cmpuint (g_strv_length (numbers), ==, 4);
  for (guint i = 0; i < 4; i++)
    at[i] = (guint) g_ascii_strtoll (numbers[i], NULL, 10); /* negative numbers wrap */
  g_strfreev (numbers);
  meta = gst_buffer_add_video_region_of_interest_meta (buffer, label, at[0], at[1], at[2], at[3]);
  for (guint i = 0; words[i]; i++) {
    gchar *end;
    gdouble confidence = g_ascii_strtod (words[i], &end);
    GstStructure *s;

    if (words[i][0] == '#')
      s = gst_structure_new ("object_id", "id", G_TYPE_INT, atoi (words[i] + 1), NULL);
    else if (*end == '\0')
      s = gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, confidence, NULL);
    else
      s = gst_structure_new ("nms", "state", G_TYPE_STRING, words[i], "suppressed-by", G_TYPE_INT,
          -1, NULL);
    gst_video_region_of_interest_meta_add_param (meta, s);
  }
  g_strfreev (words);
}

GstBuffer *
boxed_buffer_new (const GstVideoInfo *info, const gchar *boxes)
{
  GstBuffer *buffer = video_buffer_new (info);
  gchar **list = g_strsplit (boxes, "; ", -1);

  for (guint i = 0; list[i]; i++) {
    gchar **words = g_strsplit (list[i], " ", 3);

    video_buffer_add_box (buffer, *words[0] == '-' ? "" : words[0], words[1], words[2]);
    g_strfreev (words);
  }
  g_strfreev (list);
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
