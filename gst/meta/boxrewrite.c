/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxrewrite: one pass over the regions, and one over the ODs. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "boxrewrite.h"

#include "odrewrite.h"
#include "roifields.h"

static GstStructure *
find_structure (const GstVideoRegionOfInterestMeta *roi, const RoiName *name)
{
  const GList *l;

  for (l = roi->params; l; l = l->next)
    if (roi_structure_is (l->data, name))
      return l->data;
  return NULL;
}

static GstStructure *
add_structure (GstVideoRegionOfInterestMeta *roi, const gchar *name)
{
  GstStructure *s = gst_structure_new_empty (name);

  gst_video_region_of_interest_meta_add_param (roi, s);
  return s;
}

static void
write_normalized (GstStructure *s, const Box *box)
{
  if (!(box->flags & BOX_HAS_NORMALIZED)) {
    gst_structure_remove_fields (s, "x_min", "x_max", "y_min", "y_max", NULL);
    return;
  }
  roi_field_set_number (s, &roi_names.x_min, box->x_min);
  roi_field_set_number (s, &roi_names.x_max, box->x_max);
  roi_field_set_number (s, &roi_names.y_min, box->y_min);
  roi_field_set_number (s, &roi_names.y_max, box->y_max);
}

/* Returns the type of a structure whose numbers are relative to the box, as DL Streamer writes it;
 * else NULL. */
static const gchar *
relative_type (const GstStructure *s)
{
  const gchar *type = gst_structure_get_string (s, "type");

  return g_strcmp0 (type, "keypoints") == 0   ? "keypoints"
      : g_strcmp0 (type, "segmentation") == 0 ? "segmentation"
                                              : NULL;
}

/* Removes the structures whose numbers are relative to the box. */
static void
remove_relative (GstVideoRegionOfInterestMeta *roi, BoxMove *move)
{
  GList *next;

  for (GList *l = roi->params; l; l = next) {
    const gchar *type = relative_type (l->data);

    next = l->next;
    if (type) {
      gst_structure_free (l->data);
      roi->params = g_list_delete_link (roi->params, l);
      move->lost = type;
    }
  }
}

static void
write_place (GstVideoRegionOfInterestMeta *roi, const Box *box, gint width, gint height)
{
  GstStructure *detection = find_structure (roi, &roi_names.detection);
  GstStructure *rotation = find_structure (roi, &roi_names.rotation);
  const gboolean od_is_rotated = box->od >= 0 && rotation == NULL;
  Box placed = od_is_rotated ? box_upright (box) : *box;

  box_place (&placed, width, height);
  roi->x = (guint) (gint32) placed.x;
  roi->y = (guint) (gint32) placed.y;
  roi->w = (guint) placed.w;
  roi->h = (guint) placed.h;
  if (detection)
    write_normalized (detection, &placed);
  if (rotation == NULL && placed.rotation != 0)
    rotation = add_structure (roi, "rotation");
  if (rotation)
    roi_field_set_number (rotation, &roi_names.angle, placed.rotation);
}

void
box_rewrite_region (GstVideoRegionOfInterestMeta *roi, const Box *box, gint width, gint height,
    BoxMove *move)
{
  if (box->flags & BOX_RESHAPED)
    remove_relative (roi, move);
  if (box->flags & BOX_MOVED)
    write_place (roi, box, width, height);
  if (box->flags & BOX_RESCORED) {
    GstStructure *detection = find_structure (roi, &roi_names.detection);

    if (detection == NULL)
      detection = add_structure (roi, "detection");
    roi_field_set_number (detection, &roi_names.confidence, box->confidence);
  }
  if (box->flags & BOX_TRACKED) {
    GstStructure *track = find_structure (roi, &roi_names.object_id);

    if (track == NULL)
      track = add_structure (roi, "object_id");
    gst_structure_set (track, "id", G_TYPE_INT, box->track_id, NULL);
  }
}

void
box_rewrite (GstBuffer *buffer, BoxMetaReading *reading, gint width, gint height)
{
  const GArray *boxes = reading->boxes;
  BoxMove *move = &reading->move;
  const GType api = GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
  gpointer state = NULL;
  guint position, next = 0;
  GstMeta *meta;

  roi_names_init ();
  for (position = 0;
       next < boxes->len && (meta = gst_buffer_iterate_meta_filtered (buffer, &state, api)) != NULL;
       position++) {
    const Box *box = &g_array_index (boxes, Box, next);

    if (box->position != position)
      continue;
    if (!box_state_is_drop (box->state))
      box_rewrite_region ((GstVideoRegionOfInterestMeta *) meta, box, width, height, move);
    next++;
  }
  od_rewrite (buffer, boxes, reading->relations, &move->map);
}
