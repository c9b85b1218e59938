/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxremove: makes one pass over the metas of a buffer, because their number decides the time. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "boxremove.h"

#include "odmeta.h"

#include <gst/video/video.h>

typedef struct
{
  GType api;
  const Box *box; /* the first box that was not met yet */
  guint left;     /* number of boxes from `box` to the last */
  guint position; /* number of the next region on the buffer */
} Removal;

static void
removal_init (Removal *removal, const GArray *boxes)
{
  *removal = (Removal) { GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, (const Box *) boxes->data,
    boxes->len, 0 };
}

/* Steps to the next region on the buffer and returns whether it is removed. */
static inline gboolean
removal_next (Removal *removal)
{
  if (removal->left == 0 || removal->box->position != removal->position++)
    return FALSE;
  removal->left--;
  return box_state_is_drop (removal->box++->state);
}

static gboolean
remove_one (GstBuffer *buffer, GstMeta **meta, gpointer user_data)
{
  Removal *removal = user_data;

  if ((*meta)->info->api == removal->api && removal_next (removal)
      && !GST_META_FLAG_IS_SET (*meta, GST_META_FLAG_LOCKED))
    *meta = NULL;
  return TRUE;
}

/* Returns whether a box is kept without its parent. */
static inline gboolean
is_orphan (const GArray *boxes, const Box *box)
{
  return box->parent >= 0 && !box_state_is_drop (box->state)
      && box_state_is_drop (g_array_index (boxes, Box, box->parent).state);
}

/* Clears the parent id, also in the structure "recorded" that boxreplay adds. */
static void
clear_parent_id (GstVideoRegionOfInterestMeta *roi)
{
  GstStructure *recorded = gst_video_region_of_interest_meta_get_param (roi, "recorded");

  roi->parent_id = 0;
  if (recorded)
    gst_structure_set (recorded, "parent_id", G_TYPE_INT, 0, NULL);
}

/* Clears the parent ids of the kept regions whose parents were removed, because a later element
 * may give these ids to other regions. */
static void
clear_parent_ids (GstBuffer *buffer, const GArray *boxes)
{
  const GType api = GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
  guint i, orphans = 0, position = 0; /* number of the next region */
  gpointer state = NULL;
  GstMeta *meta;

  for (i = 0; i < boxes->len; i++)
    orphans += is_orphan (boxes, &g_array_index (boxes, Box, i));
  for (i = 0; i < boxes->len && orphans > 0; i++) {
    const Box *box = &g_array_index (boxes, Box, i);

    if (box->position == BOX_NO_POSITION)
      return;
    for (; position < box->position; position++)
      gst_buffer_iterate_meta_filtered (buffer, &state, api); /* a region that is no detection */
    position++;
    if (box_state_is_drop (box->state))
      continue;
    meta = gst_buffer_iterate_meta_filtered (buffer, &state, api);
    if (is_orphan (boxes, box)) {
      clear_parent_id ((GstVideoRegionOfInterestMeta *) meta);
      orphans--;
    }
  }
}

void
box_remove (GstBuffer *buffer, BoxMetaReading *reading)
{
  BoxMove *move = &reading->move;
  const GArray *boxes = reading->boxes;
  Removal removal;

  removal_init (&removal, boxes);
  gst_buffer_foreach_meta (buffer, remove_one, &removal);
  clear_parent_ids (buffer, boxes);
  od_meta_remove (buffer, boxes, reading->relations,
      box_map_is_identity (&move->map) ? NULL : move);
}

void
box_remove_all (GstBuffer *buffer)
{
  BoxMetaReading *reading = box_meta_reading_new ();

  box_meta_reading_take (reading, buffer, 0, 0, BOX_READ_LEAN);
  for (guint i = 0; i < reading->boxes->len; i++)
    g_array_index (reading->boxes, Box, i).state = BOX_STATE_SUPPRESSED;
  box_remove (buffer, reading);
  box_meta_reading_free (reading);
}

/* Copies as gst_buffer_copy does, but without the removed boxes, because copying them
 * would take most of the time. */
GstBuffer *
box_remove_copy (GstBuffer *buffer, const BoxMetaReading *reading)
{
  const GArray *boxes = reading->boxes;
  GstMetaTransformCopy how = { FALSE, 0, gst_buffer_get_size (buffer) };
  const GType od_api = od_meta_api ();
  GstBuffer *copy = gst_buffer_new ();
  gpointer state = NULL;
  Removal removal;
  GstMeta *meta;

  if (!gst_buffer_copy_into (copy, buffer,
          GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_MEMORY, 0, -1)) {
    gst_buffer_unref (copy);
    return NULL;
  }
  GST_BUFFER_FLAG_UNSET (copy, GST_BUFFER_FLAG_TAG_MEMORY);
  removal_init (&removal, boxes);
  while ((meta = gst_buffer_iterate_meta (buffer, &state)) != NULL) {
    if ((meta->info->api == removal.api && removal_next (&removal)) || meta->info->api == od_api)
      continue;
    if (meta->info->transform_func)
      meta->info->transform_func (copy, meta, buffer, _gst_meta_transform_copy, &how);
  }
  clear_parent_ids (copy, boxes);
  od_meta_copy_without (copy, buffer, boxes, reading->relations);
  return copy;
}
