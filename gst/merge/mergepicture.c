/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergepicture: maps the boxes of a picture to the main frame, and appends them. */
#include "mergepicture.h"

#include "meta/boxappend.h"
#include "meta/boxmap.h"
#include "meta/edgecut.h"

typedef struct
{
  GstVideoRectangle rect; /* in the main frame */
  GstVideoOrientationMethod direction;
  gboolean clip;
  gchar *source;      /* NULL: no tag */
  FrameLength margin; /* distance from an edge within which a box is cut */
} Placing;

/* Returns NULL, or why the place is unknown. */
static gchar *
take_placing (const MergePicture *self, GstObject *pad, const MergeSettings *settings,
    const MergeTarget *target, Placing *placing)
{
  const GstVideoCropMeta *crop = self->crop;
  const gchar *source;
  gchar *error = NULL;
  MergePlace place;

  GST_OBJECT_LOCK (pad);
  place = settings->place;
  place.tile_index += self->slice;
  if (crop)
    placing->rect = (GstVideoRectangle) { (gint) crop->x, (gint) crop->y, (gint) crop->width,
      (gint) crop->height };
  else
    error = merge_place_rect (&place, target->width, target->height, self->width, self->height,
        &placing->rect);
  placing->direction = settings->place.direction;
  placing->clip = settings->clip;
  placing->margin = settings->margin;
  source = settings->source ? settings->source : GST_OBJECT_NAME (pad);
  placing->source = error || *source == '\0' ? NULL : g_strdup (source);
  GST_OBJECT_UNLOCK (pad);
  return error;
}

/* Maps the pixels of the picture to those of the main frame. */
static void
make_map (const MergePicture *self, const Placing *placing, BoxMap *map)
{
  const gboolean sideways = merge_place_is_sideways (placing->direction);
  const gint width = sideways ? self->height : self->width;
  const gint height = sideways ? self->width : self->height;
  GstVideoOrientationMethod back = placing->direction;

  if (back == GST_VIDEO_ORIENTATION_90R)
    back = GST_VIDEO_ORIENTATION_90L;
  else if (back == GST_VIDEO_ORIENTATION_90L)
    back = GST_VIDEO_ORIENTATION_90R;
  box_map_init (map);
  box_map_orient (map, back, self->width, self->height);
  if (width > 0 && height > 0 && placing->rect.w > 0 && placing->rect.h > 0)
    box_map_scale (map, (gdouble) placing->rect.w / width, (gdouble) placing->rect.h / height);
  box_map_shift (map, placing->rect.x, placing->rect.y);
}

/* Marks the boxes, which lie in the main frame, that an edge of the branch's picture cuts. Marks
 * none if the size of the main frame is unknown, because its own edges do not cut. */
static void
mark_cut_boxes (const Placing *placing, GArray *boxes, gint width, gint height)
{
  const GstVideoRectangle *rect = &placing->rect;
  EdgeCutBorder border = {
    .rectangle = { rect->x, rect->y, (gdouble) rect->x + rect->w, (gdouble) rect->y + rect->h },
    .margin_x = frame_length_pixels (&placing->margin, rect->w),
    .margin_y = frame_length_pixels (&placing->margin, rect->h),
  };

  border.sides = edge_cut_inner_sides (&border.rectangle, width, height);
  if (placing->margin.value >= 0 && width > 0 && height > 0 && rect->w > 0 && rect->h > 0)
    edge_cut_mark_all (boxes, &border);
}

static guint
append_boxes (const MergePicture *self, const MergeTarget *target, const Placing *placing)
{
  const gint width = target->width, height = target->height;
  GArray *boxes = box_meta_reading_boxes (target->reading);
  GstBuffer **main = target->main;
  BoxMap map;

  make_map (self, placing, &map);
  box_meta_reading_take (target->reading, self->buffer, self->width, self->height, BOX_READ_CUT);
  box_meta_reading_map (target->reading, &map, width, height, placing->clip);
  mark_cut_boxes (placing, boxes, width, height);
  *main = gst_buffer_make_writable (*main);
  return box_append (*main, self->buffer, target->reading, width, height, placing->source,
      self->move);
}

gboolean
merge_picture_append (const MergePicture *self, GstObject *pad, const MergeSettings *settings,
    MergeTarget *target)
{
  Placing placing;

  target->error = take_placing (self, pad, settings, target, &placing);
  if (target->error)
    return FALSE;
  if (box_meta_any (self->buffer))
    target->boxes += append_boxes (self, target, &placing);
  g_free (placing.source);
  return TRUE;
}
