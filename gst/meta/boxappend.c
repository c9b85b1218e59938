/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxappend: appends ODs first, because the ids of their regions are theirs; then chooses all
 * ids, because a parent may follow its part; then appends regions.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "boxappend.h"

#include "boxrewrite.h"
#include "odappend.h"
#include "odmeta.h"
#include "roifields.h"

typedef struct
{
  GstBuffer *target;
  gint width, height;   /* frame size of the target */
  gboolean move;        /* structures are moved, not copied */
  GstStructure *source; /* "source", to be copied to each region; or NULL */
  const gint *od_ids;   /* new ids of ODs by old id, or NULL */
  gboolean has_ods;     /* the target has ODs */
  GHashTable *reserved; /* ids of regions on the target; NULL if no id is above next_id */
  gint next_id;         /* greater than all ids of mtds and all new ids */
  BoxMove *box_move;    /* how the boxes were moved */
  gint *box_ids;        /* [boxes] new ids, 0 for boxes that were not appended */
  guint count;          /* boxes that were appended */
} Appending;

static GHashTable *
ids_of_regions (GstBuffer *buffer)
{
  const GType api = GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
  GHashTable *ids = g_hash_table_new (NULL, NULL);
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, api)) != NULL)
    g_hash_table_add (ids, GINT_TO_POINTER (((GstVideoRegionOfInterestMeta *) meta)->id));
  return ids;
}

/* Returns the highest id of a region, at least 0. */
static gint
highest_id (GstBuffer *buffer)
{
  const GType api = GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
  gpointer state = NULL;
  GstMeta *meta;
  gint id = 0;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, api)) != NULL)
    id = MAX (id, ((GstVideoRegionOfInterestMeta *) meta)->id);
  return id;
}

/* Returns whether the ids of the target's regions have to be known: ODs have ids that cannot be
 * chosen, and there may be no ids above the highest one. */
static gboolean
needs_reserved (GstBuffer *target, const GArray *boxes, gint highest)
{
  guint i;

  if (od_meta_has_frame (target) || highest > G_MAXINT - (gint) boxes->len)
    return TRUE;
  for (i = 0; i < boxes->len; i++)
    if (g_array_index (boxes, Box, i).od >= 0)
      return TRUE;
  return FALSE;
}

/* Makes box_rewrite_region and od_append write the places of all boxes. */
static void
mark_moved (GArray *boxes)
{
  guint i;

  for (i = 0; i < boxes->len; i++)
    g_array_index (boxes, Box, i).flags |= BOX_MOVED;
}

/* Returns whether an appended region does not get this structure. */
static gboolean
is_left_out (const Appending *self, const GstStructure *s)
{
  return roi_structure_is (s, &roi_names.recorded)
      || (self->source && roi_structure_is (s, &roi_names.source));
}

static void
copy_structures (const Appending *self, const GstVideoRegionOfInterestMeta *from,
    GstVideoRegionOfInterestMeta *to)
{
  for (const GList *l = from->params; l; l = l->next)
    if (!is_left_out (self, l->data))
      gst_video_region_of_interest_meta_add_param (to, gst_structure_copy (l->data));
}

/* Moves the structures to a region that has none. */
static void
move_structures (const Appending *self, GstVideoRegionOfInterestMeta *from,
    GstVideoRegionOfInterestMeta *to)
{
  GList *next;

  to->params = g_steal_pointer (&from->params);
  for (GList *l = to->params; l; l = next) {
    next = l->next;
    if (is_left_out (self, l->data)) {
      gst_structure_free (l->data);
      to->params = g_list_delete_link (to->params, l);
    }
  }
}

/* Completes the structures of an appended region. */
static void
finish_structures (const Appending *self, GstVideoRegionOfInterestMeta *roi)
{
  for (GList *l = roi->params; l; l = l->next)
    if (roi_structure_is (l->data, &roi_names.nms))
      gst_structure_remove_field (l->data, "suppressed-by");
  if (self->source)
    gst_video_region_of_interest_meta_add_param (roi, gst_structure_copy (self->source));
}

/* Returns the structure "source" of a branch. Its name is interned, because GLib copies a value
 * with an interned text without copying the text. */
static GstStructure *
source_new (const gchar *name)
{
  GstStructure *source = gst_structure_new_empty ("source");
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_STRING);
  g_value_set_interned_string (&value, g_intern_string (name));
  gst_structure_take_value (source, "name", &value);
  return source;
}

/* Marks a region whose structures are complete as cut. */
static void
mark_cut (GstVideoRegionOfInterestMeta *roi)
{
  GstStructure *source = gst_video_region_of_interest_meta_get_param (roi, "source");

  if (source == NULL) {
    source = gst_structure_new_empty ("source");
    gst_video_region_of_interest_meta_add_param (roi, source);
  }
  gst_structure_set (source, "cut", G_TYPE_BOOLEAN, TRUE, NULL);
}

/* Returns an id that no region and no OD has; or 0 for a region that had 0, if that cannot be
 * mistaken for the id of an OD. */
static gint
unused_id (Appending *self, gint old_id)
{
  if (old_id == 0 && !self->has_ods)
    return 0;
  while (self->reserved && g_hash_table_contains (self->reserved, GINT_TO_POINTER (self->next_id)))
    self->next_id++;
  return self->next_id++;
}

/* Writes the new ids of the boxes, and counts the appended boxes. */
static void
choose_ids (Appending *self, const GArray *boxes)
{
  guint i;

  for (i = 0; i < boxes->len; i++) {
    const Box *box = &g_array_index (boxes, Box, i);
    const gint od = box->od >= 0 && self->od_ids ? self->od_ids[box->od] : -1;

    self->box_ids[i] = 0;
    if (box_state_is_drop (box->state) || (od < 0 && box->position == BOX_NO_POSITION))
      continue;
    self->box_ids[i] = od >= 0 ? od : unused_id (self, box->region_id);
    self->count++;
  }
}

static void
append_region (const Appending *self, GstVideoRegionOfInterestMeta *from, const Box *box, gint id)
{
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta_id (self->target,
      from->roi_type, from->x, from->y, from->w, from->h);

  if (self->move)
    move_structures (self, from, roi);
  else
    copy_structures (self, from, roi);
  finish_structures (self, roi);
  if (box->flags & BOX_CUT)
    mark_cut (roi);
  box_rewrite_region (roi, box, self->width, self->height, self->box_move);
  roi->id = id;
  roi->parent_id = box->parent >= 0 ? self->box_ids[box->parent] : 0;
}

static void
append_regions (const Appending *self, GstBuffer *source, const GArray *boxes)
{
  const GType api = GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
  gpointer state = NULL;
  guint position, next = 0;
  GstMeta *meta;

  for (position = 0;
       next < boxes->len && (meta = gst_buffer_iterate_meta_filtered (source, &state, api)) != NULL;
       position++) {
    const Box *box = &g_array_index (boxes, Box, next);

    if (box->position != position)
      continue;
    if (!box_state_is_drop (box->state))
      append_region (self, (GstVideoRegionOfInterestMeta *) meta, box, self->box_ids[next]);
    next++;
  }
}

guint
box_append (GstBuffer *target, GstBuffer *source, BoxMetaReading *reading, gint width, gint height,
    const gchar *name, gboolean move)
{
  GArray *boxes = reading->boxes;
  Appending self = { target, width, height, move, .box_move = &reading->move };
  const gint highest = highest_id (target);
  gint *od_ids;

  if (boxes->len == 0)
    return 0;
  roi_names_init ();
  mark_moved (boxes);
  if (name)
    self.source = source_new (name);
  if (needs_reserved (target, boxes, highest))
    self.reserved = ids_of_regions (target);
  self.od_ids = od_ids = od_append (target, source, boxes, reading->relations, self.reserved, name,
      self.box_move);
  self.has_ods = od_meta_any (target, FALSE);
  self.next_id = self.reserved ? od_meta_length (target) + 1 : highest + 1;
  self.box_ids = g_new (gint, boxes->len);
  choose_ids (&self, boxes);
  append_regions (&self, source, boxes);
  g_free (self.box_ids);
  g_free (od_ids);
  g_clear_pointer (&self.reserved, g_hash_table_unref);
  g_clear_pointer (&self.source, gst_structure_free);
  return self.count;
}
