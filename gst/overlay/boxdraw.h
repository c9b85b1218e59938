/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxdraw: draws the boxes of a frame, with their labels, into its pixels. */
#pragma once

#include "meta/box.h"
#include "paint.h"

G_BEGIN_DECLS

typedef enum
{
  BOX_DRAW_COLOR_BY_CLASS = 0,
  BOX_DRAW_COLOR_BY_TRACK = 1,
} BoxDrawColorBy;

typedef struct
{
  gint thickness;      /* pixels, >= 1 */
  gboolean show_label; /* write class and track */
  gboolean show_score;
  BoxDrawColorBy color_by;
  const gchar *font_desc; /* see label_cache_set_font () */
} BoxDrawOptions;

/* Holds the label cache and the working memory of one stream. One thread at a time may use it. */
typedef struct _BoxDraw BoxDraw;

BoxDraw *box_draw_new (void);
void box_draw_free (BoxDraw *draw);

/* Loads the font and renders the characters of ASCII for frames of this format, so that the
 * first frame with labels does not wait for it: 10 to 40 ms if the process has used no font
 * before, then 3 ms. Does nothing for formats that cannot be painted on. */
void box_draw_load_font (BoxDraw *draw, const GstVideoInfo *info, const gchar *font_desc);

/* Draws `boxes`, an array of Box, into a frame that is mapped for writing. If its buffer has a
 * GstVideoCropMeta, draws into that crop, and coordinates count from the corner of the crop.
 * Boxes that a filter tagged as dropped are grey and dashed and lie below the others.
 * Labels never overlap each other, and a label of a dropped box never covers the
 * outline of a kept box. Labels are placed in the order of kept before dropped,
 * then by descending score; a label that fits nowhere is left out. Sets `drawn` to the
 * number of boxes that are at least partly on the frame. Returns FALSE, and leaves
 * `drawn` unchanged, if frames of this format cannot be painted on or the crop lies off
 * the frame. */
gboolean box_draw_frame (BoxDraw *draw, GstVideoFrame *frame, const GArray *boxes,
    const BoxDrawOptions *options, guint *drawn);

G_END_DECLS
