/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* picturechange: is computed anew for each buffer, because that takes less than 100 ns. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "picturechange.h"

/* Returns whether the flip exchanges width and height. */
static gboolean
swaps (const PictureChange *self)
{
  return self->direction == GST_VIDEO_ORIENTATION_90R
      || self->direction == GST_VIDEO_ORIENTATION_90L
      || self->direction == GST_VIDEO_ORIENTATION_UL_LR
      || self->direction == GST_VIDEO_ORIENTATION_UR_LL;
}

/* Returns the size before the crop along one axis; 0: unknown. `frame` is the size of the frame
 * along that axis before the flip. */
static gint64
size_before (gint set, gint frame, gint start, gint end)
{
  if (set > 0)
    return set;
  return frame > 0 ? (gint64) frame + start + end : 0;
}

static gchar *
find_fault (const PictureChange *self, gint64 width, gint64 height, gint frame_width)
{
  const gboolean scaled = self->width > 0 || self->height > 0;

  if (frame_width == 0 && (scaled || self->stretched || self->direction != 0))
    return g_strdup ("The caps state no frame size, which width, height, stretched and "
                     "video-direction need.");
  if (frame_width > 0
      && (width - self->left - self->right <= 0 || height - self->top - self->bottom <= 0
          || width <= 0 || height <= 0 || width > G_MAXINT || height > G_MAXINT))
    return g_strdup_printf ("The crop (left %d, right %d, top %d, bottom %d) leaves nothing of a "
                            "picture of %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT ".",
        self->left, self->right, self->top, self->bottom, width, height);
  return NULL;
}

gchar *
picture_change_plan (const PictureChange *self, gint width, gint height, PictureChangePlan *plan)
{
  const gboolean swap = swaps (self);
  const gint64 before_width = size_before (self->width, swap ? height : width, self->left,
      self->right);
  const gint64 before_height = size_before (self->height, swap ? width : height, self->top,
      self->bottom);
  const gint64 cropped_width = before_width - self->left - self->right;
  const gint64 cropped_height = before_height - self->top - self->bottom;
  gchar *fault = find_fault (self, before_width, before_height, width);
  BoxMap *map = &plan->map;

  if (fault)
    return fault;
  box_map_init (map);
  if (self->stretched)
    box_map_scale (map, (gdouble) before_width / width, (gdouble) before_height / height);
  box_map_shift (map, -(gdouble) self->left, -(gdouble) self->top);
  if (width > 0) {
    box_map_orient (map, self->direction, cropped_width, cropped_height);
    box_map_scale (map, (gdouble) width / (swap ? cropped_height : cropped_width),
        (gdouble) height / (swap ? cropped_width : cropped_height));
  }
  plan->read_width = self->stretched ? width : (gint) before_width;
  plan->read_height = self->stretched ? height : (gint) before_height;
  plan->width = width;
  plan->height = height;
  return NULL;
}
