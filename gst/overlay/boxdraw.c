/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxdraw: draws all outlines, then all labels, so that no line crosses a text. A
 * label consists of up to three pieces, class, track and score. They are cached
 * separately because scores change in every frame but take only about 100 different
 * values. A colour depends only on the bytes of the text of the class or of the track.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "boxdraw.h"

#include "labelcache.h"
#include "labelplacement.h"
#include "paintrotated.h"

#include <math.h>
#include <stdlib.h>

#define MAX_PIECES 3
#define PIECE_SIZE 32

/* A box on the frame that may get a label. */
typedef struct
{
  const Box *box;
  PaintRect rect, visible; /* the outline, of a rotated box the upright rectangle around
                                 * it; and its part on the frame */
  gboolean is_rotated;
  PaintRotated rotated;
  gdouble score; /* the confidence; -inf if the box has none */
  gboolean dropped;
} Candidate;

struct _BoxDraw
{
  LabelCache *label_cache;
  LabelPlacement placement;
  GArray *candidates;
};

BoxDraw *
box_draw_new (void)
{
  BoxDraw *draw = g_new0 (BoxDraw, 1);

  draw->label_cache = label_cache_new ();
  draw->candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  return draw;
}

void
box_draw_free (BoxDraw *draw)
{
  label_cache_free (draw->label_cache);
  label_placement_clear (&draw->placement);
  g_array_unref (draw->candidates);
  g_free (draw);
}

/* -------------------------------------------------------------------- colours */

/* The colour of boxes that a filter tagged as dropped. */
#define PALETTE_GREY 0xb4b4b4
/* The colour of texts. Its contrast to each other colour is at least 5.4, and WCAG asks for 4.5. */
#define PALETTE_BLACK 0x000000

/* 72 colours of three lightnesses (0.72, 0.82 and 0.64 of OKLCh, hues 15 degrees apart,
 * chroma as large as sRGB allows), so that each is visible on dark and on bright pictures
 * and a label on it is legible. They are a table because powers and cosines differ in the
 * last bit between machines. */
static const guint32 colors[] = { 0xff6a95, 0xff7076, 0xff7553, 0xfe7802, 0xe88c03, 0xd59801,
  0xc2a205, 0xabac01, 0x8bb700, 0x3dc403, 0x00c471, 0x04c097, 0x08beaf, 0x04bbc3, 0x02b8d6,
  0x04b4ec, 0x3cacff, 0x6da4ff, 0x8b9bfe, 0xa491ff, 0xc082ff, 0xe365ff, 0xfc54e1, 0xff61b7,
  0xffa9b2, 0xffaba0, 0xffad8d, 0xffb074, 0xffb344, 0xf2bc05, 0xdac700, 0xbbd300, 0x87e103,
  0x03eb5d, 0x05e7a1, 0x05e3c3, 0x07e0dc, 0x09ddf2, 0x53d6ff, 0x81ceff, 0x99c8ff, 0xabc3ff,
  0xbbbdff, 0xcbb6ff, 0xe0acff, 0xff98fd, 0xffa1db, 0xffa6c4, 0xfe1361, 0xff2628, 0xe65801,
  0xcf6f00, 0xbe7c03, 0xad8604, 0x9c8e01, 0x869701, 0x5fa100, 0x03a940, 0x02a672, 0x02a38b,
  0x05a19e, 0x069eae, 0x059bc0, 0x0496d6, 0x018cfd, 0x5981ff, 0x7f74ff, 0x9f63ff, 0xbe4af5,
  0xd63cd7, 0xe82cb4, 0xf61d8d };

/* Hashes by FNV-1a and two rounds of mixing, because short texts such as "1", "2",
 * "3" differ in few bits and the choice of the colour needs all bits. The start
 * value was chosen so that person, car, face, bicycle, truck, bus, dog, cat and
 * motorcycle, which often appear together, get very different colours. */
static guint32
palette_hash (const gchar *text)
{
  guint32 h = 9545;

  for (; *text != '\0'; text++)
    h = (h ^ (guint8) *text) * 16777619u;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}

static guint32
palette_color (const gchar *text)
{
  return colors[palette_hash (text) % G_N_ELEMENTS (colors)];
}

/* ----------------------------------------------------------------------- boxes */

static gboolean
box_dropped (const Box *box)
{
  return box->state != BOX_STATE_NONE && box->state != BOX_STATE_KEPT;
}

/* Returns the text for the box's class: the label, or else "class" and the number,
 * or else an empty text. `text` is memory for the result. */
static const gchar *
box_class_text (const Box *box, gchar text[PIECE_SIZE])
{
  if (box->label != 0)
    return g_quark_to_string (box->label);
  if ((box->flags & BOX_HAS_LABEL_ID) != 0)
    g_snprintf (text, PIECE_SIZE, "class %d", box->label_id);
  else
    text[0] = '\0';
  return text;
}

static const gchar *
box_score_text (const Box *box, gchar text[PIECE_SIZE])
{
  gdouble score = box->confidence;

  /* Two decimals below a million, three significant digits from there on; no "-0.00". */
  if (fabs (score) < 0.005)
    score = 0.0;
  return g_ascii_formatd (text, PIECE_SIZE, fabs (score) < 1e6 ? "%.2f" : "%.3g", score);
}

static guint32
box_color (const Box *box, BoxDrawColorBy color_by)
{
  gchar text[PIECE_SIZE];

  if (box_dropped (box))
    return PALETTE_GREY;
  if (color_by == BOX_DRAW_COLOR_BY_TRACK && (box->flags & BOX_HAS_TRACK_ID) != 0) {
    g_snprintf (text, PIECE_SIZE, "#%d", box->track_id);
    return palette_color (text);
  }
  return palette_color (box_class_text (box, text));
}

/* Orders kept boxes before dropped ones, then by descending score, then by
 * position. The position counts because a detector may report its boxes in another
 * order in every frame, and labels should not jump. */
static gint
candidate_compare (gconstpointer a, gconstpointer b)
{
  const Candidate *p = a, *q = b;

  if (p->dropped != q->dropped)
    return p->dropped ? 1 : -1;
  if (p->score != q->score)
    return p->score > q->score ? -1 : 1;
  if (p->visible.y1 != q->visible.y1)
    return p->visible.y1 < q->visible.y1 ? -1 : 1;
  if (p->visible.x1 != q->visible.x1)
    return p->visible.x1 < q->visible.x1 ? -1 : 1;
  return p->box < q->box ? -1 : p->box > q->box;
}

/* Collects the boxes that are on the frame, best first. */
static void
box_draw_find (BoxDraw *draw, const PaintCanvas *canvas, const GArray *boxes, gint thickness)
{
  g_array_set_size (draw->candidates, 0);
  for (guint i = 0; i < boxes->len; i++) {
    const Box *box = &g_array_index (boxes, Box, i);
    Candidate candidate = { box };
    gdouble x1 = box->x1 + canvas->left, y1 = box->y1 + canvas->top;
    gdouble x2 = box->x2 + canvas->left, y2 = box->y2 + canvas->top;

    if (box->rotation != 0) {
      if (!paint_rotated_init (&candidate.rotated, x1, y1, x2, y2, box->rotation))
        continue;
      candidate.is_rotated = TRUE;
      paint_rotated_bounds (&candidate.rotated, &x1, &y1, &x2, &y2);
    }
    if (!paint_snap (canvas, x1, y1, x2, y2, thickness, &candidate.rect)
        || !paint_clip (canvas, &candidate.rect, &candidate.visible))
      continue;
    candidate.dropped = box_dropped (box);
    candidate.score = -INFINITY;
    if ((box->flags & BOX_HAS_CONFIDENCE) != 0 && !isnan (box->confidence))
      candidate.score = box->confidence;
    g_array_append_val (draw->candidates, candidate);
  }
  g_array_sort (draw->candidates, candidate_compare);
}

/* Writes the texts of a box's label to `piece` and returns their number. */
static guint
box_draw_pieces (const Box *box, const BoxDrawOptions *options, gchar text[MAX_PIECES][PIECE_SIZE],
    const gchar *piece[MAX_PIECES])
{
  guint n = 0;

  if (options->show_label) {
    piece[n] = box_class_text (box, text[n]);
    n += piece[n][0] != '\0';
    if ((box->flags & BOX_HAS_TRACK_ID) != 0) {
      g_snprintf (text[n], PIECE_SIZE, "#%d", box->track_id);
      piece[n] = text[n];
      n++;
    }
  }
  if (options->show_score && (box->flags & BOX_HAS_CONFIDENCE) != 0) {
    piece[n] = box_score_text (box, text[n]);
    n++;
  }
  return n;
}

static void
box_draw_outline (const PaintCanvas *canvas, const Candidate *candidate,
    const BoxDrawOptions *options)
{
  PaintColor color = paint_color (canvas, box_color (candidate->box, options->color_by));
  gint dash = candidate->dropped ? 3 * options->thickness : 0;

  if (candidate->is_rotated)
    paint_rotated_outline (canvas, &candidate->rotated, options->thickness, dash, &color);
  else
    paint_outline (canvas, &candidate->rect, options->thickness, dash, &color);
}

static void
box_draw_label (BoxDraw *draw, const PaintCanvas *canvas, const Candidate *candidate,
    const BoxDrawOptions *options)
{
  gchar text[MAX_PIECES][PIECE_SIZE];
  const gchar *piece[MAX_PIECES];
  const LabelMask *mask[MAX_PIECES];
  guint n = box_draw_pieces (candidate->box, options, text, piece);
  gint size = label_cache_font_size (draw->label_cache);
  gint line = paint_ceil_y (canvas, label_cache_line_height (draw->label_cache));
  gint pad = paint_ceil_x (canvas, MAX (size / 4, 2));
  gint gap = paint_ceil_x (canvas, MAX (size / 3, 2));
  gint width = 2 * pad - gap, ascent = 0, descent = 0, x;
  PaintColor background, ink;
  PaintRect label;

  /* Check that a single letter fits first, because rendering a text is expensive. */
  if (n == 0
      || !label_placement_find (&draw->placement, canvas, &candidate->visible,
          MIN (paint_ceil_x (canvas, size), canvas->width), MIN (line, canvas->height), &label))
    return;

  label_cache_trim (draw->label_cache);
  for (guint i = 0; i < n; i++) {
    mask[i] = label_cache_get (draw->label_cache, piece[i]);
    width += gap + paint_ceil_x (canvas, mask[i]->mask.width);
    ascent = MAX (ascent, mask[i]->baseline);
    descent = MAX (descent, mask[i]->mask.height - mask[i]->baseline);
  }
  /* A label that is larger than the frame is clipped. */
  if (!label_placement_find (&draw->placement, canvas, &candidate->visible,
          MIN (width, canvas->width),
          MIN (paint_ceil_y (canvas, MAX (ascent + descent, line)), canvas->height), &label))
    return;
  label_placement_occupy (&draw->placement, &label);

  background = paint_color (canvas, box_color (candidate->box, options->color_by));
  ink = paint_color (canvas, PALETTE_BLACK);
  paint_fill (canvas, &label, &background);
  x = (gint) label.x1 + pad;
  for (guint i = 0; i < n; i++) {
    gint y = (gint) label.y1 + ascent - mask[i]->baseline;

    paint_mask (canvas, x, y & ~(canvas->step_y - 1), &mask[i]->mask, &ink);
    x += gap + paint_ceil_x (canvas, mask[i]->mask.width);
  }
}

/* Marks the outline of a kept box as occupied, so that no label of a dropped box covers it. */
static void
box_draw_occupy_outline (BoxDraw *draw, const PaintCanvas *canvas, const Candidate *candidate,
    gint thickness)
{
  PaintRect bars[4];

  paint_outline_bars (canvas, &candidate->rect, thickness, bars);
  for (guint i = 0; i < 4; i++) {
    if (paint_clip (canvas, &bars[i], &bars[i]))
      label_placement_occupy (&draw->placement, &bars[i]);
  }
}

void
box_draw_load_font (BoxDraw *draw, const GstVideoInfo *info, const gchar *font_desc)
{
  PaintCanvas canvas;

  if (!paint_canvas_measure (&canvas, info))
    return;
  label_cache_set_font (draw->label_cache, font_desc, &canvas);
  label_cache_load (draw->label_cache);
}

/* Writes the labels of the candidates, of which the first `kept` ones are kept. */
static void
box_draw_labels (BoxDraw *draw, const PaintCanvas *canvas, guint kept,
    const BoxDrawOptions *options)
{
  const Candidate *candidates = (const Candidate *) draw->candidates->data;
  const guint n = draw->candidates->len;

  label_cache_set_font (draw->label_cache, options->font_desc, canvas);
  label_placement_begin (&draw->placement, canvas->width, canvas->height);
  for (guint i = 0; i < kept; i++)
    box_draw_label (draw, canvas, &candidates[i], options);
  for (guint i = 0; kept < n && i < kept; i++)
    box_draw_occupy_outline (draw, canvas, &candidates[i], options->thickness);
  for (guint i = kept; i < n; i++)
    box_draw_label (draw, canvas, &candidates[i], options);
}

gboolean
box_draw_frame (BoxDraw *draw, GstVideoFrame *frame, const GArray *boxes,
    const BoxDrawOptions *options, guint *drawn)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (frame->buffer);
  PaintCanvas canvas;
  const Candidate *candidates;
  guint n, kept = 0;

  if (!paint_canvas_init (&canvas, frame))
    return FALSE;
  if (crop && !paint_canvas_crop (&canvas, crop->x, crop->y, crop->width, crop->height)) {
    paint_canvas_finish (&canvas);
    return FALSE;
  }

  /* Draw in reverse order, so that the best box lies on top. */
  box_draw_find (draw, &canvas, boxes, options->thickness);
  candidates = (const Candidate *) draw->candidates->data;
  *drawn = n = draw->candidates->len;
  while (kept < n && !candidates[kept].dropped)
    kept++;
  for (guint i = n; i > 0; i--)
    box_draw_outline (&canvas, &candidates[i - 1], options);
  if (options->show_label || options->show_score)
    box_draw_labels (draw, &canvas, kept, options);
  paint_canvas_finish (&canvas);
  return TRUE;
}
