/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paint: the expected load is a dozen to a few hundred rectangles and short texts
 * in each frame. Rows of single bytes are left to memset and to the compiler's
 * vectorizer; all other layouts share one strided loop.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "paint.h"

#include <math.h>
#include <string.h>

/* Coordinates are limited to this: far outside any frame, and small enough that
 * sums do not overflow. */
#define PAINT_FAR ((gdouble) (G_GINT64_CONSTANT (1) << 40))

static gboolean
paint_component_fits (const GstVideoFormatInfo *finfo, guint c)
{
  gint depth = finfo->depth[c], pstride = finfo->pixel_stride[c];

  /* GStreamer's table lists the components of many packed formats of 10 bits and
   * more at the same offset, so that they cannot be told apart. */
  for (guint d = 0; d < c; d++) {
    if (finfo->plane[d] == finfo->plane[c] && finfo->poffset[d] == finfo->poffset[c])
      return FALSE;
  }
  if (depth == 8)
    return finfo->shift[c] == 0 && pstride >= 1;
  if (depth < 8 || depth > 16 || depth + finfo->shift[c] > 16)
    return FALSE;
  /* Words: the table is exact for planes of one component (pixel stride 2), planes
   * of chroma pairs (4) and pixels of four words (8). For other packed formats it
   * does not give the position of each word. */
  return pstride == 2 || (pstride == 4 && finfo->plane[c] == 1) || (pstride == 8 && depth == 16);
}

/* Returns whether each component has bytes or words of its own. */
static gboolean
paint_is_plain (const GstVideoFormatInfo *finfo)
{
  if ((finfo->flags & GST_VIDEO_FORMAT_FLAG_COMPLEX) != 0)
    return FALSE;
  for (guint c = 0; c < finfo->n_components; c++) {
    if (!paint_component_fits (finfo, c))
      return FALSE;
  }
  return TRUE;
}

gboolean
paint_can_paint (const GstVideoFormatInfo *finfo)
{
  const guint refused = GST_VIDEO_FORMAT_FLAG_PALETTE | GST_VIDEO_FORMAT_FLAG_TILED;
  const guint needed = GST_VIDEO_FORMAT_FLAG_YUV | GST_VIDEO_FORMAT_FLAG_RGB
      | GST_VIDEO_FORMAT_FLAG_GRAY;

  return (finfo->flags & refused) == 0 && (finfo->flags & needed) != 0;
}

static void
paint_plane_init (PaintPlane *plane, GstVideoFrame *frame, guint c)
{
  const GstVideoFormatInfo *finfo = frame->info.finfo;
  gint poffset = finfo->poffset[c];

  plane->word = finfo->depth[c] > 8;
  plane->swap = plane->word
      && ((finfo->flags & GST_VIDEO_FORMAT_FLAG_LE) != 0) != (G_BYTE_ORDER == G_LITTLE_ENDIAN);
  plane->shift = finfo->shift[c];
  /* The table lists the second word of a chroma pair at offset 1, because it counts words there. */
  if (plane->word && (poffset & 1))
    poffset *= 2;
  /* The table lists VYUY with the offsets of UYVY. */
  if (GST_VIDEO_FORMAT_INFO_FORMAT (finfo) == GST_VIDEO_FORMAT_VYUY && c > 0)
    poffset = c == 1 ? 2 : 0;
  plane->offset = poffset;
  plane->data = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, finfo->plane[c]) + poffset;
  plane->stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, finfo->plane[c]);
  plane->pstride = finfo->pixel_stride[c];
  plane->w_sub = finfo->w_sub[c];
  plane->h_sub = finfo->h_sub[c];
}

gboolean
paint_canvas_measure (PaintCanvas *canvas, const GstVideoInfo *info)
{
  memset (canvas, 0, sizeof *canvas);
  if (!paint_can_paint (info->finfo))
    return FALSE;
  canvas->width = GST_VIDEO_INFO_WIDTH (info);
  canvas->height = GST_VIDEO_INFO_HEIGHT (info);
  canvas->step_x = canvas->step_y = 1;
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    canvas->step_x = MAX (canvas->step_x, 1 << info->finfo->w_sub[c]);
    canvas->step_y = MAX (canvas->step_y, 1 << info->finfo->h_sub[c]);
  }
  return TRUE;
}

/* Returns an empty frame for the rows that GStreamer's functions unpack. These functions may read
 * and write up to a group of pixels beyond the end of a row, so rows have space for it. */
static GstVideoFrame
paint_unpacked_new (PaintCanvas *canvas, const GstVideoFrame *frame)
{
  GstVideoFrame unpacked = *frame;
  GstVideoInfo *info = &unpacked.info;

  info->finfo = gst_video_format_get_info (frame->info.finfo->unpack_format);
  info->stride[0] = (info->width + 16) * info->finfo->pixel_stride[0];
  canvas->unpacked = g_malloc0_n (info->height, info->stride[0]);
  canvas->touched = g_new0 (gboolean, info->height);
  unpacked.data[0] = canvas->unpacked;
  return unpacked;
}

gboolean
paint_canvas_init (PaintCanvas *canvas, GstVideoFrame *frame)
{
  GstVideoFrame painted = *frame;
  const GstVideoInfo *info = &painted.info;

  if (!paint_canvas_measure (canvas, info))
    return FALSE;
  canvas->frame = frame;
  if (!paint_is_plain (info->finfo))
    painted = paint_unpacked_new (canvas, frame);
  canvas->n_planes = GST_VIDEO_FRAME_N_COMPONENTS (&painted);
  for (guint c = 0; c < canvas->n_planes; c++)
    paint_plane_init (&canvas->planes[c], &painted, c);

  canvas->packed = canvas->n_planes >= 3 && GST_VIDEO_FRAME_N_PLANES (&painted) == 1
      && canvas->step_x == 1 && canvas->step_y == 1 && !canvas->planes[0].word;

  canvas->luma = !GST_VIDEO_INFO_IS_RGB (info);
  if (!gst_video_color_matrix_get_Kr_Kb (info->colorimetry.matrix, &canvas->kr, &canvas->kb))
    gst_video_color_matrix_get_Kr_Kb (GST_VIDEO_COLOR_MATRIX_BT601, &canvas->kr, &canvas->kb);
  gst_video_color_range_offsets (info->colorimetry.range, info->finfo, canvas->offset,
      canvas->scale);
  return TRUE;
}

/* Packs a row of unpacked pixels into the frame, or unpacks it. */
static void
convert_row (const PaintCanvas *canvas, gint y, gboolean pack)
{
  const GstVideoInfo *info = &canvas->frame->info;
  const GstVideoFormatInfo *finfo = info->finfo;
  const gint stride = canvas->planes[0].stride;
  guint8 *pixels = canvas->unpacked + (gsize) y * (gsize) stride, *row = NULL, *groups = NULL;
  gpointer data[GST_VIDEO_MAX_PLANES];
  gsize bytes = 0;

  memcpy (data, canvas->frame->data, sizeof data);
  /* GStreamer reads and writes whole groups of two pixels in 5 bytes, which end behind a row of odd
   * width. */
  if (GST_VIDEO_FORMAT_INFO_FORMAT (finfo) == GST_VIDEO_FORMAT_UYVP) {
    bytes = (gsize) MIN (info->width / 2 * 5 + info->width % 2 * 4, info->stride[0]);
    row = (guint8 *) data[0] + (gsize) y * (gsize) info->stride[0];
    data[0] = groups = g_malloc0 (bytes + 5);
    memcpy (groups, row, bytes);
    y = 0;
  }
  if (pack)
    finfo->pack_func (finfo, GST_VIDEO_PACK_FLAG_NONE, pixels, stride, data, info->stride,
        info->chroma_site, y, info->width);
  else
    finfo->unpack_func (finfo, GST_VIDEO_PACK_FLAG_NONE, pixels, data, info->stride, 0, y,
        info->width);
  if (pack && groups)
    memcpy (row, groups, bytes);
  g_free (groups);
}

void
paint_canvas_finish (PaintCanvas *canvas)
{
  for (gint y = 0; canvas->unpacked && y < canvas->frame->info.height; y++) {
    if (canvas->touched[y])
      convert_row (canvas, y, TRUE);
  }
  g_clear_pointer (&canvas->unpacked, g_free);
  g_clear_pointer (&canvas->touched, g_free);
}

gboolean
paint_canvas_crop (PaintCanvas *canvas, guint x, guint y, guint width, guint height)
{
  if (x >= (guint) canvas->width || y >= (guint) canvas->height || width == 0 || height == 0)
    return FALSE;
  canvas->left = (gint) x & (canvas->step_x - 1);
  canvas->top = (gint) y & (canvas->step_y - 1);
  canvas->width = canvas->left + (gint) MIN (width, (guint) canvas->width - x);
  canvas->height = canvas->top + (gint) MIN (height, (guint) canvas->height - y);
  for (guint c = 0; c < canvas->n_planes; c++) {
    PaintPlane *plane = &canvas->planes[c];

    plane->data += (gssize) (((gint) y - canvas->top) >> plane->h_sub) * plane->stride
        + (gssize) (((gint) x - canvas->left) >> plane->w_sub) * plane->pstride;
  }
  return TRUE;
}

PaintColor
paint_color (const PaintCanvas *canvas, guint32 rgb)
{
  gdouble r = ((rgb >> 16) & 0xff) / 255.0;
  gdouble g = ((rgb >> 8) & 0xff) / 255.0;
  gdouble b = (rgb & 0xff) / 255.0;
  gdouble part[GST_VIDEO_MAX_COMPONENTS] = { r, g, b, 1.0 };
  PaintColor color = { { 0 } };

  if (canvas->luma) {
    part[0] = canvas->kr * r + (1.0 - canvas->kr - canvas->kb) * g + canvas->kb * b;
    part[1] = (b - part[0]) / (2.0 * (1.0 - canvas->kb));
    part[2] = (r - part[0]) / (2.0 * (1.0 - canvas->kr));
  }
  /* An alpha component has offset 0 and full scale, whatever the range of the colours. */
  for (guint c = 0; c < canvas->n_planes; c++)
    color.value[c] = (guint16) CLAMP (lrint (canvas->offset[c] + canvas->scale[c] * part[c]), 0,
        65535);
  return color;
}

static gint64
paint_ceil (gint64 v, gint step)
{
  return (v + step - 1) & ~(gint64) (step - 1);
}

gint
paint_ceil_x (const PaintCanvas *canvas, gint x)
{
  return (gint) paint_ceil (x, canvas->step_x);
}

gint
paint_ceil_y (const PaintCanvas *canvas, gint y)
{
  return (gint) paint_ceil (y, canvas->step_y);
}

/* Orders two corners and rounds each to the nearest multiple of step. */
static void
paint_snap_pair (gdouble a, gdouble b, gint step, gint thickness, gint64 *from, gint64 *to)
{
  gdouble lo = CLAMP (MIN (a, b), -PAINT_FAR, PAINT_FAR);
  gdouble hi = CLAMP (MAX (a, b), -PAINT_FAR, PAINT_FAR);
  gint64 least = paint_ceil (thickness, step);

  *from = (gint64) floor (lo / step + 0.5) * step;
  *to = (gint64) floor (hi / step + 0.5) * step;
  if (*to - *from < least)
    *to = *from + least;
}

gboolean
paint_snap (const PaintCanvas *canvas, gdouble x1, gdouble y1, gdouble x2, gdouble y2,
    gint thickness, PaintRect *rect)
{
  if (isnan (x1) || isnan (y1) || isnan (x2) || isnan (y2))
    return FALSE;
  paint_snap_pair (x1, x2, canvas->step_x, thickness, &rect->x1, &rect->x2);
  paint_snap_pair (y1, y2, canvas->step_y, thickness, &rect->y1, &rect->y2);
  return TRUE;
}

/* Unpacks the rows of a rectangle, if they are not yet. */
static void
paint_touch (const PaintCanvas *canvas, const PaintRect *r)
{
  const PaintPlane *plane = &canvas->planes[0];
  gint top;

  if (canvas->unpacked == NULL)
    return;
  top = (gint) ((plane->data - canvas->unpacked) / plane->stride); /* row 0 of a crop */
  for (gint y = top + (gint) r->y1; y < top + (gint) r->y2; y++) {
    if (!canvas->touched[y])
      convert_row (canvas, y, FALSE);
    canvas->touched[y] = TRUE;
  }
}

gboolean
paint_clip (const PaintCanvas *canvas, const PaintRect *rect, PaintRect *out)
{
  PaintRect r = { MAX (rect->x1, 0), MAX (rect->y1, 0), MIN (rect->x2, canvas->width),
    MIN (rect->y2, canvas->height) };

  *out = r;
  return r.x1 < r.x2 && r.y1 < r.y2;
}

static inline guint16
paint_to_word (const PaintPlane *plane, guint value)
{
  guint16 word = (guint16) (value << plane->shift);

  return plane->swap ? GUINT16_SWAP_LE_BE (word) : word;
}

static inline guint
paint_from_word (const PaintPlane *plane, guint16 word)
{
  return (plane->swap ? GUINT16_SWAP_LE_BE (word) : word) >> plane->shift;
}

/* Copies each word by memcpy because it may be unaligned: a GstVideoMeta may state any stride. */
static void
paint_fill_words (guint8 *p, gint pstride, gint n, guint16 word)
{
  for (; n > 0; n--, p += pstride)
    memcpy (p, &word, sizeof word);
}

/* Uses a loop for short rows because most calls are for the vertical bars of
 * outlines, which are 1 or 2 bytes wide. */
static inline void
paint_fill_bytes (guint8 *p, gint pstride, gint n, guint8 value)
{
  if (pstride == 1 && n > 8) {
    memset (p, value, n);
    return;
  }
  for (; n > 0; n--, p += pstride)
    *p = value;
}

/* Returns the first byte of a packed pixel. It may be a byte of padding. */
static guint8 *
packed_at (const PaintCanvas *canvas, gint64 x, gint64 y)
{
  const PaintPlane *plane = &canvas->planes[0];

  return plane->data - plane->offset + (gssize) y * plane->stride + (gssize) x * plane->pstride;
}

/* Copies the first row of a rectangle of packed pixels to its other rows. */
static void
paint_repeat (const PaintCanvas *canvas, const PaintRect *r)
{
  const gsize bytes = (gsize) (r->x2 - r->x1) * (gsize) canvas->planes[0].pstride;

  for (gint64 y = r->y1 + 1; y < r->y2; y++)
    memcpy (packed_at (canvas, r->x1, y), packed_at (canvas, r->x1, r->y1), bytes);
}

/* The samples of a plane that belong to a rectangle on the frame. */
typedef struct
{
  gint x, y; /* the first one */
  gint columns, rows;
  guint8 *data;
} PaintPart;

static PaintPart
part_of (const PaintCanvas *canvas, const PaintPlane *plane, const PaintRect *r)
{
  const gint x = MAX ((gint) r->x1, canvas->left) >> plane->w_sub;
  const gint y = MAX ((gint) r->y1, canvas->top) >> plane->h_sub;

  return (PaintPart) { x, y, (gint) (paint_ceil (r->x2, 1 << plane->w_sub) >> plane->w_sub) - x,
    (gint) (paint_ceil (r->y2, 1 << plane->h_sub) >> plane->h_sub) - y,
    plane->data + (gssize) y * plane->stride + (gssize) x * plane->pstride };
}

void
paint_fill (const PaintCanvas *canvas, const PaintRect *rect, const PaintColor *color)
{
  PaintRect r;

  if (!paint_clip (canvas, rect, &r))
    return;
  paint_touch (canvas, &r);

  for (guint c = 0; c < canvas->n_planes; c++) {
    const PaintPlane *plane = &canvas->planes[c];
    PaintPart part = part_of (canvas, plane, &r);

    if (canvas->packed)
      part.rows = 1; /* paint_repeat () fills the others */
    for (; part.rows > 0; part.rows--, part.data += plane->stride) {
      if (plane->word)
        paint_fill_words (part.data, plane->pstride, part.columns,
            paint_to_word (plane, color->value[c]));
      else
        paint_fill_bytes (part.data, plane->pstride, part.columns, (guint8) color->value[c]);
    }
  }
  if (canvas->packed)
    paint_repeat (canvas, &r);
}

/* Fills one bar of the border, in dashes along x or along y. Visits only the dashes
 * on the frame because a bar may be 2^40 pixels long. */
static void
paint_bar (const PaintCanvas *canvas, PaintRect bar, gboolean along_x, gint64 dash,
    const PaintColor *color)
{
  gint64 *from = along_x ? &bar.x1 : &bar.y1;
  gint64 *to = along_x ? &bar.x2 : &bar.y2;
  gint64 size = along_x ? canvas->width : canvas->height;
  gint64 end = MIN (*to, size), pos = *from;

  if (dash == 0) {
    paint_fill (canvas, &bar, color);
    return;
  }
  if (pos < 0)
    pos += -pos / (2 * dash) * (2 * dash);
  for (; pos < end; pos += 2 * dash) {
    *from = pos;
    *to = MIN (pos + dash, end);
    paint_fill (canvas, &bar, color);
  }
}

void
paint_outline_bars (const PaintCanvas *canvas, const PaintRect *rect, gint thickness,
    PaintRect bars[4])
{
  gint64 tx = MIN (paint_ceil (thickness, canvas->step_x), rect->x2 - rect->x1);
  gint64 ty = MIN (paint_ceil (thickness, canvas->step_y), rect->y2 - rect->y1);

  for (guint i = 0; i < 4; i++)
    bars[i] = *rect;
  bars[0].y2 = rect->y1 + ty;
  bars[1].y1 = rect->y2 - ty;
  bars[2].x2 = rect->x1 + tx;
  bars[3].x1 = rect->x2 - tx;
}

void
paint_outline (const PaintCanvas *canvas, const PaintRect *rect, gint thickness, gint dash,
    const PaintColor *color)
{
  PaintRect bars[4];

  paint_outline_bars (canvas, rect, thickness, bars);
  for (guint i = 0; i < 4; i++)
    paint_bar (canvas, bars[i], i < 2, paint_ceil (dash, i < 2 ? canvas->step_x : canvas->step_y),
        color);
}

/* Returns to * a/255 + from * (1 - a/255), rounded to nearest. All terms fit in 16
 * bits, so that the compiler vectorizes it: with x = v + 128, (x + x / 256) / 256
 * is v / 255 rounded, for every v up to 255 * 255. */
static inline guint8
mix (guint8 from, guint8 to, guint8 a)
{
  guint16 x = (guint16) (from * (255 - a) + to * a + 128);

  return (guint8) ((guint16) (x + (x >> 8)) >> 8);
}

/* Compilers vectorize a loop over adjacent bytes only; other bytes are blended where they are
 * covered. */
static void
mix_bytes (guint8 *restrict p, gint pstride, gint n, const guint8 *restrict coverage, guint8 value)
{
  if (pstride == 1) {
    for (gint i = 0; i < n; i++)
      p[i] = mix (p[i], value, coverage[i]);
    return;
  }
  for (gint i = 0; i < n; i++, p += pstride) {
    if (coverage[i] != 0)
      *p = mix (*p, value, coverage[i]);
  }
}

/* Returns the bytes of a packed pixel of 3 or 4 bytes in lanes of 16 bits, in which mix () does not
 * overflow. The constant `pstride` of the caller decides how they are loaded. */
static inline guint64
load_lanes (const guint8 *p, gint pstride)
{
  guint32 pixel;

  if (pstride == 4)
    memcpy (&pixel, p, 4);
  else
    pixel = p[0] | (guint32) p[1] << 8 | (guint32) p[2] << 16;
  return (pixel & 0x00ff00ff) | (guint64) (pixel & 0xff00ff00) << 24;
}

static inline void
store_lanes (guint8 *p, gint pstride, guint64 lanes)
{
  const guint32 pixel = (guint32) lanes | (guint32) (lanes >> 24);

  if (pstride == 4)
    memcpy (p, &pixel, 4);
  else
    for (gint b = 0; b < 3; b++)
      p[b] = (guint8) (pixel >> (8 * b));
}

/* Blends packed pixels, all bytes of one at once. Bytes that are 0 in `used` are padding and keep
 * their value. */
static inline void
mix_pixels (guint8 *p, gint pstride, gint n, const guint8 *coverage, const guint8 *value,
    const guint8 *used)
{
  const guint64 half = G_GUINT64_CONSTANT (0x0080008000800080);
  const guint64 low = G_GUINT64_CONSTANT (0x00ff00ff00ff00ff);
  const guint64 to = load_lanes (value, pstride), mixed = load_lanes (used, pstride);

  for (gint i = 0; i < n; i++, p += pstride) {
    guint64 from, x;

    if (coverage[i] == 0)
      continue; /* text covers about a third of its mask */
    from = load_lanes (p, pstride);
    x = from * (255u - coverage[i]) + to * coverage[i] + half;
    x = (x + (x >> 8 & low)) >> 8;
    store_lanes (p, pstride, (x & mixed) | (from & ~mixed));
  }
}

static inline guint
mix_word (guint from, guint to, guint a)
{
  return (from * (255 - a) + to * a + 127) / 255;
}

static void
mix_words (const PaintPlane *plane, guint8 *p, gint n, const guint8 *coverage, guint16 value)
{
  for (gint i = 0; i < n; i++, p += plane->pstride) {
    guint16 word;

    if (coverage[i] == 0)
      continue;
    memcpy (&word, p, sizeof word);
    word = paint_to_word (plane, mix_word (paint_from_word (plane, word), value, coverage[i]));
    memcpy (p, &word, sizeof word);
  }
}

/* Returns the sum of the coverage of a block; its part outside the mask counts as not covered. */
static guint
block_sum (const PaintMask *mask, gint x, gint y, gint step_x, gint step_y)
{
  guint sum = 0;

  for (gint v = y; v < MIN (y + step_y, mask->height); v++) {
    for (gint u = x; u < MIN (x + step_x, mask->width); u++)
      sum += mask->data[(gssize) v * mask->stride + u];
  }
  return sum;
}

/* Writes the means of the whole blocks of 2 x 2 in two rows. Returns their number. */
static gint
shrink_pairs (const guint8 *restrict row, gint stride, gint width, guint8 *restrict sub)
{
  const gint n = width / 2;

  for (gint i = 0; i < n; i++)
    sub[i] = (guint8) ((row[2 * i] + row[2 * i + 1] + row[2 * i + stride] + row[2 * i + stride + 1])
        / 4);
  return n;
}

gsize
paint_mask_shrink (const PaintCanvas *canvas, PaintMask *mask)
{
  const gint step_x = canvas->step_x, step_y = canvas->step_y;
  const gint stride = paint_ceil_x (canvas, mask->width) / step_x;
  const gsize size = (gsize) stride * (gsize) (paint_ceil_y (canvas, mask->height) / step_y);
  guint8 *sub;

  if (step_x == 1 && step_y == 1)
    return 0;
  mask->sub = sub = g_malloc (MAX (size, 1));
  mask->sub_stride = stride;
  for (gint y = 0; y < mask->height; y += step_y, sub += stride) {
    gint i = 0;

    if (step_x == 2 && step_y == 2 && y + 1 < mask->height)
      i = shrink_pairs (mask->data + (gssize) y * mask->stride, mask->stride, mask->width, sub);
    for (; i < stride; i++)
      sub[i] = (guint8) (block_sum (mask, i * step_x, y, step_x, step_y)
          / (guint) (step_x * step_y));
  }
  return size;
}

static void
mask_packed (const PaintCanvas *canvas, const PaintRect *r, const guint8 *coverage, gint stride,
    const PaintColor *color)
{
  const PaintPlane *plane = &canvas->planes[0];
  const gint n = (gint) (r->x2 - r->x1);
  guint8 *p = packed_at (canvas, r->x1, r->y1);
  guint8 value[4] = { 0 }, used[4] = { 0 };

  for (guint c = 0; c < canvas->n_planes; c++) {
    value[canvas->planes[c].offset] = (guint8) color->value[c];
    used[canvas->planes[c].offset] = 0xff;
  }
  for (gint64 y = r->y1; y < r->y2; y++, p += plane->stride, coverage += stride) {
    if (plane->pstride == 4)
      mix_pixels (p, 4, n, coverage, value, used);
    else
      mix_pixels (p, 3, n, coverage, value, used);
  }
}

void
paint_mask (const PaintCanvas *canvas, gint x, gint y, const PaintMask *mask,
    const PaintColor *color)
{
  PaintRect r = { x, y, (gint64) x + mask->width, (gint64) y + mask->height };

  if (!paint_clip (canvas, &r, &r))
    return;
  paint_touch (canvas, &r);

  if (canvas->packed) {
    mask_packed (canvas, &r, mask->data + (gssize) (r.y1 - y) * mask->stride + (r.x1 - x),
        mask->stride, color);
    return;
  }

  for (guint c = 0; c < canvas->n_planes; c++) {
    const PaintPlane *plane = &canvas->planes[c];
    const gboolean sub = plane->w_sub != 0 || plane->h_sub != 0;
    const gint stride = sub ? mask->sub_stride : mask->stride;
    PaintPart part = part_of (canvas, plane, &r);
    const guint8 *coverage = (sub ? mask->sub : mask->data)
        + (gssize) (part.y - (y >> plane->h_sub)) * stride + (part.x - (x >> plane->w_sub));

    for (; part.rows > 0; part.rows--, part.data += plane->stride, coverage += stride) {
      if (plane->word)
        mix_words (plane, part.data, part.columns, coverage, color->value[c]);
      else
        mix_bytes (part.data, plane->pstride, part.columns, coverage, (guint8) color->value[c]);
    }
  }
}
