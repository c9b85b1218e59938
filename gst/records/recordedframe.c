/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordedframe: fits recorded boxes to a frame in one pass, without allocating memory. */
#include "recordedframe.h"

#include <math.h>

G_DEFINE_QUARK (record - error - quark, record_error)

void
recorded_frame_init (RecordedFrame *frame)
{
  frame->boxes = g_array_new (FALSE, FALSE, sizeof (Box));
  frame->labels = NULL;
  recorded_frame_reset (frame);
}

void
recorded_frame_clear (RecordedFrame *frame)
{
  g_clear_pointer (&frame->boxes, g_array_unref);
}

/* Sets the integers of one axis from its two doubles, in any order, clipped to 0..size. */
static void
derive_extent (gdouble a, gdouble b, gint size, gint64 *start, gint64 *length)
{
  gdouble first = CLAMP (MIN (a, b), 0.0, (gdouble) size);
  gdouble last = CLAMP (MAX (a, b), 0.0, (gdouble) size);

  *start = (gint64) round (first);
  *length = MIN ((gint64) round (last - first), size - *start);
}

/* Sets the integers of a box from its normalized coordinates: position and size
 * rounded, and clipped to the frame. */
static void
derive_integers (Box *box, gint width, gint height)
{
  derive_extent (box->x_min * width, box->x_max * width, width, &box->x, &box->w);
  derive_extent (box->y_min * height, box->y_max * height, height, &box->y, &box->h);
}

static void
normalize (Box *box, gint width, gint height)
{
  box->x_min = box->x1 / width;
  box->x_max = box->x2 / width;
  box->y_min = box->y1 / height;
  box->y_max = box->y2 / height;
  box->flags |= BOX_HAS_NORMALIZED;
}

/* Returns whether the integers alone describe the box exactly on a frame of this size. */
static gboolean
integers_suffice (const Box *box, gint width, gint height)
{
  return box->x1 == box->x && box->y1 == box->y && box->x2 == box->x + box->w
      && box->y2 == box->y + box->h && box->x >= 0 && box->y >= 0 && box->x + box->w <= width
      && box->y + box->h <= height;
}

static void
fit (Box *box, gboolean same_size, gint from_width, gint from_height, gint width, gint height)
{
  gboolean keep = FALSE;

  if (box->flags & BOX_HAS_NORMALIZED) {
    keep = same_size && box->w >= 0
        && box_extent_agrees (box->x_min * width, box->x_max * width, box->x, box->w, width)
        && box_extent_agrees (box->y_min * height, box->y_max * height, box->y, box->h, height);
  } else {
    if (same_size && integers_suffice (box, width, height))
      return;
    normalize (box, from_width, from_height);
  }
  if (!keep)
    derive_integers (box, width, height);
  box->x1 = box->x_min * width;
  box->x2 = box->x_max * width;
  box->y1 = box->y_min * height;
  box->y2 = box->y_max * height;
}

gboolean
recorded_frame_fit (RecordedFrame *frame, gint width, gint height, GError **error)
{
  gboolean known = frame->width > 0 && frame->height > 0;
  gboolean same_size = !known || (frame->width == width && frame->height == height);
  guint i;

  if (width <= 0 || height <= 0) {
    for (i = 0; i < frame->boxes->len && !known; i++)
      if (g_array_index (frame->boxes, Box, i).w < 0) {
        g_set_error (error, RECORD_ERROR, RECORD_ERROR_MALFORMED,
            "objects[%u] has normalized coordinates only, and neither a resolution on the line "
            "nor the caps say of what",
            i);
        return FALSE;
      }
    for (i = 0; i < frame->boxes->len; i++) {
      Box *box = &g_array_index (frame->boxes, Box, i);
      if (box->w < 0)
        derive_integers (box, frame->width, frame->height);
    }
    return TRUE;
  }
  for (i = 0; i < frame->boxes->len; i++)
    fit (&g_array_index (frame->boxes, Box, i), same_size, known ? frame->width : width,
        known ? frame->height : height, width, height);
  return TRUE;
}
