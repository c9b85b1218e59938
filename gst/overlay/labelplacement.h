/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* labelplacement: finds a free position on a frame for each label. */
#pragma once

#include "paint.h"

G_BEGIN_DECLS

/* The occupied parts of a frame. Initialize it with zeros. */
typedef struct
{
  guint8 *cells;
  gsize size;
  gint width, height; /* size of the frame */
  gint columns;
} LabelPlacement;

/* Begins a frame of this size; no part of it is occupied. */
void label_placement_begin (LabelPlacement *placement, gint width, gint height);

/* Frees the memory. */
void label_placement_clear (LabelPlacement *placement);

/* Finds a free position for a label of this size. `box` is the visible part of its
 * box. The order is: above the box (inside at its top if it begins at the top of
 * the frame), below it, inside it; each time first at the left end, then at the right end.
 * The label lies wholly on the frame, with x and y on the chroma grid of the
 * canvas. Returns FALSE, and leaves `label` unchanged, if no position is free. */
gboolean label_placement_find (const LabelPlacement *placement, const PaintCanvas *canvas,
    const PaintRect *box, gint width, gint height, PaintRect *label);

/* Marks a rectangle, which must lie on the frame, as occupied. */
void label_placement_occupy (LabelPlacement *placement, const PaintRect *label);

G_END_DECLS
