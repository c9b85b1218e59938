/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * labelplacement: uses a map of cells instead of a list of labels. The cost of a label in a
 * map does not grow with the number of labels, and a frame may have 100,000 boxes.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "labelplacement.h"

#include <string.h>

#define CELL_BITS 2 /* cells of 4 x 4 pixels */

void
label_placement_begin (LabelPlacement *placement, gint width, gint height)
{
  gsize size;

  placement->width = width;
  placement->height = height;
  placement->columns = ((width - 1) >> CELL_BITS) + 1;
  size = (gsize) placement->columns * (((height - 1) >> CELL_BITS) + 1);
  if (size > placement->size) {
    g_free (placement->cells);
    placement->cells = g_malloc (size);
    placement->size = size;
  }
  memset (placement->cells, 0, size);
}

void
label_placement_clear (LabelPlacement *placement)
{
  g_free (placement->cells);
  memset (placement, 0, sizeof *placement);
}

/* Returns the cells that a rectangle on the frame touches. */
static PaintRect
label_placement_cells (const PaintRect *r)
{
  PaintRect cells = { r->x1 >> CELL_BITS, r->y1 >> CELL_BITS, ((r->x2 - 1) >> CELL_BITS) + 1,
    ((r->y2 - 1) >> CELL_BITS) + 1 };

  return cells;
}

static gboolean
label_placement_is_free (const LabelPlacement *placement, const PaintRect *label)
{
  PaintRect cells = label_placement_cells (label);

  for (gint64 y = cells.y1; y < cells.y2; y++) {
    if (memchr (placement->cells + y * placement->columns + cells.x1, 1,
            (gsize) (cells.x2 - cells.x1))
        != NULL)
      return FALSE;
  }
  return TRUE;
}

void
label_placement_occupy (LabelPlacement *placement, const PaintRect *label)
{
  PaintRect cells = label_placement_cells (label);

  for (gint64 y = cells.y1; y < cells.y2; y++)
    memset (placement->cells + y * placement->columns + cells.x1, 1, (gsize) (cells.x2 - cells.x1));
}

gboolean
label_placement_find (const LabelPlacement *placement, const PaintCanvas *canvas,
    const PaintRect *box, gint width, gint height, PaintRect *label)
{
  /* Round down to the chroma grid, so that a label that is moved left or up is
   * still on the frame. */
  gint64 max_x = (placement->width - width) & ~(gint64) (canvas->step_x - 1);
  gint64 max_y = (placement->height - height) & ~(gint64) (canvas->step_y - 1);
  gint64 left = MIN (box->x1, max_x);
  gint64 right = CLAMP ((box->x2 - width) & ~(gint64) (canvas->step_x - 1), 0, MAX (max_x, 0));
  gint64 above = box->y1 - height;
  gint64 below = (box->y2 + canvas->step_y - 1) & ~(gint64) (canvas->step_y - 1);
  gint64 low = (box->y2 - height) & ~(gint64) (canvas->step_y - 1);
  /* Try positions inside the box last because there a label hides the object. At
   * the top of the frame, where no label fits above the box, inside comes first. */
  gint64 xy[][2] = {
    { left, above >= 0 ? above : box->y1 },
    { right, above },
    { left, below },
    { right, below },
    { left, box->y1 },
    { right, box->y1 },
    { left, low },
    { right, low },
  };

  if (max_x < 0 || max_y < 0)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (xy); i++) {
    PaintRect r = { xy[i][0], xy[i][1], xy[i][0] + width, xy[i][1] + height };

    if (r.y1 < 0 || r.y1 > max_y || !label_placement_is_free (placement, &r))
      continue;
    *label = r;
    return TRUE;
  }
  return FALSE;
}
