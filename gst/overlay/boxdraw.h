/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxdraw: a frame's boxes with their labels, drawn into its pixels. */
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
  gint thickness;               /* pixels, >= 1 */
  gboolean show_label;          /* class and track */
  gboolean show_score;
  BoxDrawColorBy color_by;
  const gchar *font_desc;       /* see label_cache_set_font () */
} BoxDrawOptions;

/* Masks, places and order of one stream; used by one thread at a time. */
typedef struct _BoxDraw BoxDraw;

BoxDraw *box_draw_new (void);
void box_draw_free (BoxDraw * draw);

/* Draws an array of Box. Boxes that a filter tagged as dropped lie grey and
 * dashed below the others. Labels never cover each other, nor those of dropped
 * boxes the lines of kept ones: kept boxes with the best scores choose places
 * first, and where none is left the label is left out. FALSE if the frame's
 * format cannot be painted on. */
gboolean box_draw_frame (BoxDraw * draw, GstVideoFrame * frame, const GArray * boxes,
    const BoxDrawOptions * options);

G_END_DECLS
