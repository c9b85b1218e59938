/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmap: moves boxes from the pixels of one picture to those of another one, which was made
 * from it by cropping, adding borders, scaling and turning.
 *
 *     BoxMap map;
 *
 *     box_map_init (&map);
 *     box_map_shift (&map, -40, -20);              crops 40 pixels left and 20 at the top
 *     box_map_orient (&map, GST_VIDEO_ORIENTATION_90R, 600, 460);  then turns the 600 x 460
 *     box_map_scale (&map, 0.5, 0.5);              then scales
 *     outside = box_map_move_all (&map, boxes, 230, 300, TRUE);
 *
 * Each of these functions adds a step after the steps before it.
 */
#pragma once

#include "box.h"

#include <gst/video/video.h>

G_BEGIN_DECLS

/* x' = xx * x + xy * y + x0 and y' = yx * x + yy * y + y0, in pixels. xy and yx are 0, or xx and
 * yy are. */
typedef struct
{
  gdouble xx, xy, x0;
  gdouble yx, yy, y0;
} BoxMap;

/* A move of boxes and of the metadata that belongs to them. */
typedef struct
{
  BoxMap map;
  const gchar *lost; /* name of a type of metadata that was removed, because its positions or ids
                      * cannot be changed; NULL if all could be changed */
} BoxMove;

/* Makes a map that changes nothing. */
static inline void
box_map_init (BoxMap *self)
{
  *self = (BoxMap) { .xx = 1, .yy = 1 };
}

/* Adds dx and dy to the coordinates: negative for a crop at the left and the top, positive for a
 * border there, or for the place of a picture within a larger one. */
void box_map_shift (BoxMap *self, gdouble dx, gdouble dy);

/* Multiplies the coordinates by sx and sy, which are above 0. */
void box_map_scale (BoxMap *self, gdouble sx, gdouble sy);

/* Adds a turn or flip as videoflip's property video-direction does it. width and height are the
 * size of the picture before this step, in pixels; 90R, 90L, UL_LR and UR_LL exchange them. AUTO
 * and CUSTOM add nothing. */
void box_map_orient (BoxMap *self, GstVideoOrientationMethod method, gdouble width, gdouble height);

/* Returns whether the method exchanges width and height. */
static inline gboolean
box_map_swaps (GstVideoOrientationMethod method)
{
  return method == GST_VIDEO_ORIENTATION_90R || method == GST_VIDEO_ORIENTATION_90L
      || method == GST_VIDEO_ORIENTATION_UL_LR || method == GST_VIDEO_ORIENTATION_UR_LL;
}

/* Returns whether the map changes nothing. */
static inline gboolean
box_map_is_identity (const BoxMap *self)
{
  return self->xx == 1 && self->xy == 0 && self->x0 == 0 && self->yx == 0 && self->yy == 1
      && self->y0 == 0;
}

/* Returns whether the map flips or turns pictures. */
gboolean box_map_flips (const BoxMap *self);

/* Changes x1 .. y2 and the rotation of a box, and sets BOX_MOVED. If sx and sy differ, a rotated
 * box would become a parallelogram: the result is the rotated box with its centre, the direction
 * of its width, and the lengths of its sides. */
void box_map_move (const BoxMap *self, Box *box);

/* Moves all boxes of a GArray of Box, and clips them to the frame of width x height if `clip`.
 * Sets the state of boxes outside the frame to BOX_STATE_INVALID, for box_remove and
 * box_append, and returns their number. With width or height 0 (unknown) no box is outside. */
guint box_map_move_all (const BoxMap *self, GArray *boxes, gint width, gint height, gboolean clip);

G_END_DECLS
