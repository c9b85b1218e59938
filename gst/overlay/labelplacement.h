/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* placement: which parts of a frame the labels drawn so far occupy. */
#pragma once

#include "paint.h"

G_BEGIN_DECLS

/* All zero: an empty one. */
typedef struct
{
  guint8 *cells;
  gsize size;
  gint width, height;           /* of the frame */
  gint columns;
} LabelPlacement;

/* Forgets all; the frame has this size. */
void label_placement_begin (LabelPlacement * placement, gint width, gint height);
void label_placement_clear (LabelPlacement * placement);

/* Finds where a label of this size, for the box whose visible part is `box`,
 * covers no label taken before: above the box (inside, at its top, if the frame
 * ends there), below it, inside it; at its left end before its right. Wholly on
 * the frame, with x and y on the canvas's grid. FALSE: nowhere. */
gboolean label_placement_find (const LabelPlacement * placement, const PaintCanvas * canvas,
    const PaintRect * box, gint width, gint height, PaintRect * label);

void label_placement_occupy (LabelPlacement * placement, const PaintRect * label);

G_END_DECLS
