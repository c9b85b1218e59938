/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmap: each step is a matrix of which two elements are 0, so upright boxes are mapped by
 * their corners.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "boxmap.h"

#include <math.h>

void
box_map_shift (BoxMap *self, gdouble dx, gdouble dy)
{
  self->x0 += dx;
  self->y0 += dy;
}

void
box_map_scale (BoxMap *self, gdouble sx, gdouble sy)
{
  self->xx *= sx;
  self->xy *= sx;
  self->x0 *= sx;
  self->yx *= sy;
  self->yy *= sy;
  self->y0 *= sy;
}

static void
swap_axes (BoxMap *self)
{
  *self = (BoxMap) { self->yx, self->yy, self->y0, self->xx, self->xy, self->x0 };
}

static void
mirror_x (BoxMap *self, gdouble width)
{
  self->xx = -self->xx;
  self->xy = -self->xy;
  self->x0 = width - self->x0;
}

static void
mirror_y (BoxMap *self, gdouble height)
{
  self->yx = -self->yx;
  self->yy = -self->yy;
  self->y0 = height - self->y0;
}

void
box_map_orient (BoxMap *self, GstVideoOrientationMethod method, gdouble width, gdouble height)
{
  switch (method) {
    case GST_VIDEO_ORIENTATION_90R:
      swap_axes (self);
      mirror_x (self, height);
      break;
    case GST_VIDEO_ORIENTATION_180:
      mirror_x (self, width);
      mirror_y (self, height);
      break;
    case GST_VIDEO_ORIENTATION_90L:
      swap_axes (self);
      mirror_y (self, width);
      break;
    case GST_VIDEO_ORIENTATION_HORIZ:
      mirror_x (self, width);
      break;
    case GST_VIDEO_ORIENTATION_VERT:
      mirror_y (self, height);
      break;
    case GST_VIDEO_ORIENTATION_UL_LR:
      swap_axes (self);
      break;
    case GST_VIDEO_ORIENTATION_UR_LL:
      swap_axes (self);
      mirror_x (self, height);
      mirror_y (self, width);
      break;
    default:
      break;
  }
}

gboolean
box_map_flips (const BoxMap *self)
{
  return self->xy != 0 || self->yx != 0 || self->xx < 0 || self->yy < 0;
}

/* Changes the sides and the angle of a box whose sides were scaled as if they were upright. */
static void
correct_rotated (Box *box, gdouble sx, gdouble sy)
{
  const gdouble x = (box->x1 + box->x2) / 2, y = (box->y1 + box->y2) / 2;
  const gdouble c = cos (box->rotation), s = sin (box->rotation);
  const gdouble w = (box->x2 - box->x1) / sx * hypot (sx * c, sy * s);
  const gdouble h = (box->y2 - box->y1) / sy * hypot (sx * s, sy * c);

  box->x1 = x - w / 2;
  box->x2 = x + w / 2;
  box->y1 = y - h / 2;
  box->y2 = y + h / 2;
  box->rotation = atan2 (sy * s, sx * c);
}

void
box_map_move (const BoxMap *self, Box *box)
{
  const gdouble sx = fabs (self->xx + self->xy), sy = fabs (self->yx + self->yy);
  const gdouble ax = self->xx * box->x1 + self->xy * box->y1 + self->x0;
  const gdouble bx = self->xx * box->x2 + self->xy * box->y2 + self->x0;
  const gdouble ay = self->yx * box->x1 + self->yy * box->y1 + self->y0;
  const gdouble by = self->yx * box->x2 + self->yy * box->y2 + self->y0;

  box->x1 = MIN (ax, bx);
  box->x2 = MAX (ax, bx);
  box->y1 = MIN (ay, by);
  box->y2 = MAX (ay, by);
  box->flags |= BOX_MOVED;
  if (box->rotation == 0)
    return;
  if (self->xx * self->yy - self->xy * self->yx < 0) /* a mirror */
    box->rotation = -box->rotation;
  if (sx != sy)
    correct_rotated (box, sx, sy);
}

/* Returns whether no part of the box is inside a frame of width x height. A rotated box counts
 * as the upright box around it. */
static gboolean
is_outside (const Box *box, gint width, gint height)
{
  const Box upright = box_upright (box);

  return upright.x2 <= 0 || upright.y2 <= 0 || upright.x1 >= width || upright.y1 >= height;
}

/* Clips x1 .. y2 of an upright box that is not outside to the frame, and sets BOX_MOVED and
 * BOX_RESHAPED if that changes it. Does not change a rotated box, because the part inside is not a
 * rectangle. */
static void
clip_box (Box *box, gint width, gint height)
{
  if (box->rotation != 0 || (box->x1 >= 0 && box->y1 >= 0 && box->x2 <= width && box->y2 <= height))
    return;
  box->x1 = CLAMP (box->x1, 0, width);
  box->x2 = CLAMP (box->x2, 0, width);
  box->y1 = CLAMP (box->y1, 0, height);
  box->y2 = CLAMP (box->y2, 0, height);
  box->flags |= BOX_MOVED | BOX_RESHAPED;
}

guint
box_map_move_all (const BoxMap *self, GArray *boxes, gint width, gint height, gboolean clip)
{
  const gboolean known = width > 0 && height > 0;
  const guint flags = box_map_flips (self) ? BOX_RESHAPED : 0;
  guint i, outside = 0;

  for (i = 0; i < boxes->len; i++) {
    Box *box = &g_array_index (boxes, Box, i);

    box_map_move (self, box);
    box->flags |= flags;
    if (known && is_outside (box, width, height)) {
      box->state = BOX_STATE_INVALID;
      outside++;
    } else if (known && clip) {
      clip_box (box, width, height);
    }
  }
  return outside;
}
