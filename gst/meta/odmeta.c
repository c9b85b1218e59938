/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odmeta: GstAnalyticsODMtd <-> Box. GStreamer stores relations as a matrix, so
 * finding the relations of one mtd reads a row with an element for every other mtd.
 * Reading does that once for every OD, because any OD may be a part of another one,
 * and keeps the result for the removal.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "odmeta.h"

#include <math.h>
#include <string.h>

#include "odremove.h"

#define STATE_PREFIX "nms:"

GType
od_meta_api (void)
{
  return GST_ANALYTICS_RELATION_META_API_TYPE;
}

gboolean
od_meta_has_frame (GstBuffer *buffer)
{
  return gst_buffer_get_analytics_relation_meta (buffer) != NULL;
}

gint
od_meta_length (GstBuffer *buffer)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);

  return meta ? (gint) gst_analytics_relation_get_length (meta) : 0;
}

gboolean
od_meta_any (GstBuffer *buffer, gboolean places)
{
  GstAnalyticsRelationMeta *meta = od_relations_meta (buffer);
  const guint count = meta ? (guint) gst_analytics_relation_get_length (meta) : 0;

  for (guint i = 0; i < count; i++) {
    GstAnalyticsMtd mtd = { i, meta };
    const GstAnalyticsMtdType type = gst_analytics_mtd_get_mtd_type (&mtd);

    if (type == gst_analytics_od_mtd_get_mtd_type ()
        || (places && (od_relations_type_is_mask (type) || od_relations_type_is_unknown (type))))
      return TRUE;
  }
  return FALSE;
}

/* ------------------------------------------------------------------ reading */

const gchar *
od_meta_class_suffix (const GstAnalyticsMtd *mtd, const gchar *prefix)
{
  const GstAnalyticsClsMtd *cls = (const GstAnalyticsClsMtd *) mtd;
  const gchar *name;

  if (gst_analytics_cls_mtd_get_length ((GstAnalyticsClsMtd *) cls) != 1)
    return NULL;
  name = g_quark_to_string (gst_analytics_cls_mtd_get_quark ((GstAnalyticsClsMtd *) cls, 0));
  if (name == NULL || !g_str_has_prefix (name, prefix))
    return NULL;
  return name + strlen (prefix);
}

/* Returns the state in a class such as "nms:kept". */
static BoxState
state_of_class (const GstAnalyticsMtd *mtd)
{
  return box_state_from_name (od_meta_class_suffix (mtd, STATE_PREFIX));
}

static void
read_source (const GstAnalyticsMtd *mtd, Box *box)
{
  const gchar *name = od_meta_class_suffix (mtd, OD_META_SOURCE_PREFIX);

  if (name)
    box->source = g_quark_from_string (name);
}

static void
read_track (GstAnalyticsMtd *mtd, Box *box)
{
  GstClockTime first, last;
  gboolean lost;
  guint64 id;

  if (gst_analytics_tracking_mtd_get_info ((GstAnalyticsTrackingMtd *) mtd, &id, &first, &last,
          &lost)
      && id <= G_MAXINT) {
    box->track_id = (gint) id;
    box->flags |= BOX_HAS_TRACK_ID;
  }
}

/* Returns whether this is a GstAnalyticsClsMtd with only the class `name`. */
static gboolean
is_class (const GstAnalyticsMtd *mtd, GQuark name)
{
  GstAnalyticsClsMtd *cls = (GstAnalyticsClsMtd *) mtd;

  return gst_analytics_mtd_get_mtd_type (mtd) == gst_analytics_cls_mtd_get_mtd_type ()
      && gst_analytics_cls_mtd_get_length (cls) == 1
      && gst_analytics_cls_mtd_get_quark (cls, 0) == name;
}

/* Reads the first track, the first state, the first source and, if `cut` is the quark of its
 * class, the mark of a cut box among the mtds that an OD is related to. */
static void
read_related (GstAnalyticsRelationMeta *meta, const OdRelation *relations, guint count, guint flags,
    GQuark cut, Box *box)
{
  guint i;

  for (i = 0; i < count; i++) {
    GstAnalyticsMtd mtd = { relations[i].to, meta };
    const GstAnalyticsMtdType type = gst_analytics_mtd_get_mtd_type (&mtd);

    if ((flags & BOX_READ_TRACK) && !(box->flags & BOX_HAS_TRACK_ID)
        && type == gst_analytics_tracking_mtd_get_mtd_type ())
      read_track (&mtd, box);
    if ((flags & BOX_READ_STATE) && box->state == BOX_STATE_NONE
        && type == gst_analytics_cls_mtd_get_mtd_type ())
      box->state = state_of_class (&mtd);
    if ((flags & BOX_READ_SOURCE) && box->source == 0
        && type == gst_analytics_cls_mtd_get_mtd_type ())
      read_source (&mtd, box);
    if (cut && is_class (&mtd, cut))
      box->flags |= BOX_CUT;
  }
}

/* Reads an OD. `empty` is the quark of "", which stands for an absent label. */
static void
read_od (const GstAnalyticsMtd *mtd, GQuark empty, Box *box)
{
  const OdData od = od_relations_read_od (mtd);

  box_init (box, MIN (od.x, (gint64) od.x + od.w), MIN (od.y, (gint64) od.y + od.h),
      ABS ((gint64) od.w), ABS ((gint64) od.h));
  box->confidence = od.confidence;
  box->rotation = od.rotation;
  box->flags = BOX_HAS_CONFIDENCE;
  box->label = od.label == empty ? 0 : od.label;
  box->region_id = box->od = (gint) mtd->id;
}

/* Returns whether the box and the OD, both clipped to the frame, agree within a
 * pixel. */
static gboolean
same_place (const Box *box, const Box *od, gint width, gint height)
{
  return box_extent_agrees (box->x1, box->x2, od->x, od->w, width > 0 ? width : G_MAXINT)
      && box_extent_agrees (box->y1, box->y2, od->y, od->h, height > 0 ? height : G_MAXINT);
}

/* Adds to the box of a region what only its OD states. */
static void
complete (Box *box, const Box *od, gint width, gint height)
{
  box->od = od->od;
  /* the region may be the upright box around a rotated OD */
  if (od->rotation != 0 && !same_place (box, od, width, height)) {
    box->flags &= ~BOX_HAS_NORMALIZED;
    box->x = od->x;
    box->y = od->y;
    box->w = od->w;
    box->h = od->h;
    box->x1 = od->x1;
    box->y1 = od->y1;
    box->x2 = od->x2;
    box->y2 = od->y2;
  }
#if GST_CHECK_VERSION(1, 26, 0)
  box->rotation = od->rotation;
#endif
  /* an OD without a confidence has 0 */
  if (!(box->flags & BOX_HAS_CONFIDENCE) && od->confidence != 0) {
    box->confidence = od->confidence;
    box->flags |= BOX_HAS_CONFIDENCE;
  }
  if (box->label == 0)
    box->label = od->label;
}

/* Returns a table by id of an OD: index + 1 of the first region with that id, or 0.
 * Free it with g_free. */
static guint *
regions_by_id (const GArray *boxes, guint count)
{
  guint *by_id = g_new0 (guint, count + 1);
  guint i;

  for (i = boxes->len; i-- > 0;) {
    gint id = g_array_index (boxes, Box, i).region_id;

    if (id > 0 && (guint) id < count)
      by_id[id] = i + 1;
  }
  return by_id;
}

/* Returns index + 1 of the region of OD 0: one with id 0, at the same place and of the
 * same class; 0 if there is none. */
static guint
region_of_first (const GArray *boxes, const Box *od, guint regions, gint width, gint height)
{
  guint i;

  for (i = 0; i < regions; i++) {
    const Box *box = &g_array_index (boxes, Box, i);

    if (box->region_id == 0 && (box->label == od->label || box->label == 0)
        && same_place (box, od, width, height))
      return i + 1;
  }
  return 0;
}

/* Sets the parents of boxes whose regions set none. Returns whether it found any. */
static gboolean
read_parents (GstAnalyticsRelationMeta *meta, GArray *boxes, const GArray *relations)
{
  const guint wanted = GST_ANALYTICS_REL_TYPE_IS_PART_OF | GST_ANALYTICS_REL_TYPE_CONTAIN;
  gint *box_of = NULL; /* index of the box of each mtd id; -1: the mtd is no OD */
  gboolean any = FALSE;
  guint i, k, count = (guint) gst_analytics_relation_get_length (meta);

  for (i = 0; i < relations->len; i++) {
    const OdRelation *relation = &g_array_index (relations, OdRelation, i);
    gint part, whole;

    if (!(relation->types & wanted) || relation->from == relation->to)
      continue;
    if (box_of == NULL) {
      box_of = g_new (gint, count);
      for (k = 0; k < count; k++)
        box_of[k] = -1;
      for (k = 0; k < boxes->len; k++)
        if (g_array_index (boxes, Box, k).od >= 0)
          box_of[g_array_index (boxes, Box, k).od] = (gint) k;
    }
    part = box_of[relation->from];
    whole = box_of[relation->to];
    if (!(relation->types & GST_ANALYTICS_REL_TYPE_IS_PART_OF)) {
      part = box_of[relation->to];
      whole = box_of[relation->from];
    }
    if (part < 0 || whole < 0)
      continue;
    any = TRUE;
    if (g_array_index (boxes, Box, part).parent < 0)
      g_array_index (boxes, Box, part).parent = whole;
  }
  g_free (box_of);
  return any;
}

GArray *
od_meta_relations_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (OdRelation));
}

gboolean
od_meta_read (GstBuffer *buffer, gint width, gint height, guint flags, GArray *boxes,
    GArray *relations)
{
  GstAnalyticsRelationMeta *meta = od_relations_meta (buffer);
  const GstAnalyticsMtdType type = gst_analytics_od_mtd_get_mtd_type ();
  const GQuark empty = g_quark_from_static_string ("");
  /* 0 if no element of the process has marked a box; then no class is compared */
  const GQuark cut = flags & BOX_READ_CUT ? g_quark_try_string (OD_META_SOURCE_CUT) : 0;
  guint regions = boxes->len, count = regions, *by_id = NULL, used = 0, i, length;
  GArray *found;
  gboolean parents;

  if (meta == NULL)
    return FALSE;
  found = relations ? g_array_ref (relations) : od_meta_relations_new ();
  length = (guint) gst_analytics_relation_get_length (meta);
  if (regions > 0)
    by_id = regions_by_id (boxes, length);
  for (i = 0; i < length; i++) { /* takes half the time of GStreamer's iterator */
    GstAnalyticsMtd mtd = { i, meta };
    guint region = 0;
    Box *box;

    if (gst_analytics_mtd_get_mtd_type (&mtd) != type)
      continue;
    if (count >= boxes->len) /* in large steps, because each call takes time */
      g_array_set_size (boxes, 2 * count + 32);
    box = &g_array_index (boxes, Box, count);
    read_od (&mtd, empty, box);
    if (regions > 0)
      region = i > 0 ? by_id[i] : region_of_first (boxes, box, regions, width, height);
    if (region > 0)
      complete (&g_array_index (boxes, Box, region - 1), box, width, height);
    else
      count++;
  }
  g_array_set_size (boxes, count);
  g_free (by_id);
  for (i = 0; i < count; i++) {
    Box *box = &g_array_index (boxes, Box, i);
    guint first = used;

    if (box->od < 0)
      continue;
    used = od_relations_append (meta, (guint) box->od, found, used);
    if (used > first && (cut || (flags & (BOX_READ_TRACK | BOX_READ_STATE | BOX_READ_SOURCE))))
      read_related (meta, &g_array_index (found, OdRelation, first), used - first, flags, cut, box);
  }
  g_array_set_size (found, used);
  parents = read_parents (meta, boxes, found);
  g_array_unref (found);
  return parents;
}

/* ----------------------------------------------------------------- changing */

/* Prepares the removal. Returns FALSE if there is nothing to remove. */
static gboolean
begin_removal (OdRemove *removal, GstAnalyticsRelationMeta *meta, const GArray *boxes,
    const GArray *relations)
{
  gboolean any = FALSE;
  guint i;

  od_remove_init (removal, meta);
  removal->relations = relations;
  for (i = 0; i < boxes->len; i++) {
    const Box *box = &g_array_index (boxes, Box, i);
    const gboolean drop = box_state_is_drop (box->state);

    if (box->od >= 0) {
      od_remove_mark_od (removal, (guint) box->od, drop);
      any = any || drop;
    }
    if (!drop && box->position != BOX_NO_POSITION && (box->od >= 0 || box->region_id != 0))
      removal->keep_ids = TRUE;
  }
  return any;
}

void
od_meta_remove (GstBuffer *buffer, const GArray *boxes, const GArray *relations, BoxMove *move)
{
  GstAnalyticsRelationMeta *meta = od_relations_meta (buffer);
  OdRemove removal;
  gboolean any;

  if (meta == NULL)
    return;
  any = begin_removal (&removal, meta, boxes, relations);
  removal.move = move;
  if (any || od_remove_loses_any (&removal))
    od_remove_in_place (&removal, buffer);
  od_remove_clear (&removal);
}

void
od_meta_copy_without (GstBuffer *copy, GstBuffer *buffer, const GArray *boxes,
    const GArray *relations)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  OdRemove removal;

  if (meta == NULL)
    return;
  if (od_relations_meta (buffer) && begin_removal (&removal, meta, boxes, relations)) {
    od_remove_copy (&removal, buffer, copy);
  } else {
    GstMetaTransformCopy whole = { FALSE, 0, (gsize) -1 };
    ((GstMeta *) meta)
        ->info->transform_func (copy, (GstMeta *) meta, buffer, _gst_meta_transform_copy, &whole);
    if (od_relations_meta (buffer) == NULL)
      return;
  }
  od_remove_clear (&removal);
}

/* Steps to the next mtd of one type that `id` is related to. */
static gboolean
next_related (GstAnalyticsRelationMeta *meta, guint id, GstAnalyticsMtdType type, gpointer *state,
    GstAnalyticsMtd *other)
{
  return gst_analytics_relation_meta_get_direct_related (meta, id, GST_ANALYTICS_REL_TYPE_ANY, type,
      state, other);
}

void
od_meta_add_class (GstAnalyticsRelationMeta *meta, guint od, const gchar *prefix,
    const gchar *suffix)
{
  gchar *name = g_strconcat (prefix, suffix, NULL);
  GstAnalyticsClsMtd cls;

  if (gst_analytics_relation_meta_add_one_cls_mtd (meta, 1.0f, g_quark_from_string (name), &cls))
    gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, od, cls.id);
  g_free (name);
}

void
od_meta_tag (GstBuffer *buffer, const GArray *boxes)
{
  GstAnalyticsRelationMeta *meta = od_relations_meta (buffer);
  OdRemove removal;
  guint i;

  if (meta == NULL)
    return;
  od_remove_init (&removal, meta);
  for (i = 0; i < boxes->len; i++) {
    const Box *box = &g_array_index (boxes, Box, i);
    gpointer state = NULL;
    GstAnalyticsMtd mtd;

    if (box->position != BOX_NO_POSITION && (box->od >= 0 || box->region_id != 0))
      removal.keep_ids = TRUE;
    if (box->od < 0 || box_state_name (box->state) == NULL)
      continue;
    removal.extra++;
    while (
        next_related (meta, (guint) box->od, gst_analytics_cls_mtd_get_mtd_type (), &state, &mtd))
      removal.remove[mtd.id] |= state_of_class (&mtd) != BOX_STATE_NONE;
  }
  if (removal.extra > 0) {
    meta = od_remove_in_place (&removal, buffer);
    for (i = 0; i < boxes->len; i++) {
      const Box *box = &g_array_index (boxes, Box, i);

      if (box->od >= 0 && box_state_name (box->state))
        od_meta_add_class (meta, (guint) removal.new_id[box->od], STATE_PREFIX,
            box_state_name (box->state));
    }
  }
  od_remove_clear (&removal);
}

/* ---------------------------------------------------------------- attaching */

static gint
to_int (gdouble number)
{
  return (gint) CLAMP (round (number), G_MININT, G_MAXINT);
}

/* Adds an OD, which is not clipped to the frame, unlike a region. */
static guint
add_od (GstAnalyticsRelationMeta *meta, const Box *box, gint width, gint height)
{
  gdouble x1 = (gdouble) box->x, y1 = (gdouble) box->y;
  gdouble x2 = (gdouble) (box->x + box->w), y2 = (gdouble) (box->y + box->h);
  GstAnalyticsODMtd od;
  OdData data;

  if (box->flags & BOX_HAS_NORMALIZED && width > 0 && height > 0) {
    x1 = box->x_min * width;
    y1 = box->y_min * height;
    x2 = box->x_max * width;
    y2 = box->y_max * height;
  }
  data = (OdData) {
    /* not quark 0, because other programs read the string of the quark */
    .label = box->label ? box->label : g_quark_from_static_string (""),
    .x = to_int (x1),
    .y = to_int (y1),
    .w = to_int (x2 - x1),
    .h = to_int (y2 - y1),
    .rotation = (gfloat) box->rotation,
    .confidence = box->flags & BOX_HAS_CONFIDENCE ? (gfloat) box->confidence : 0.0f,
  };
  od_relations_add_od (meta, &data, &od);
  return od.id;
}

void
od_meta_attach (GstBuffer *buffer, GArray *boxes, gint width, gint height)
{
  GstAnalyticsRelationMetaInitParams params = { 1, 64 };
  GstAnalyticsRelationMeta *meta;
  guint i;

  for (i = 0; i < boxes->len; i++) {
    const Box *box = &g_array_index (boxes, Box, i);

    params.initial_relation_order += 1 + ((box->flags & BOX_HAS_TRACK_ID) != 0)
        + (box_state_name (box->state) != NULL);
  }
  params.initial_buf_size *= params.initial_relation_order;
  meta = gst_buffer_add_analytics_relation_meta_full (buffer, &params);
  if (GST_META_FLAG_IS_SET ((GstMeta *) meta, GST_META_FLAG_LOCKED))
    return;
  for (i = 0; i < boxes->len; i++) {
    Box *box = &g_array_index (boxes, Box, i);

    box->od = (gint) add_od (meta, box, width, height);
    if ((box->flags & BOX_HAS_TRACK_ID) && box->track_id >= 0) {
      GstAnalyticsTrackingMtd track;

      if (gst_analytics_relation_meta_add_tracking_mtd (meta, (guint64) box->track_id,
              GST_BUFFER_PTS (buffer), &track)) {
        gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO,
            (guint) box->od, track.id);
        if (box->flags & BOX_LOST)
          gst_analytics_tracking_mtd_set_lost (&track);
      }
    }
    if (box_state_name (box->state))
      od_meta_add_class (meta, (guint) box->od, STATE_PREFIX, box_state_name (box->state));
  }
  for (i = 0; i < boxes->len; i++) {
    const Box *box = &g_array_index (boxes, Box, i);

    if (box->parent >= 0)
      gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_IS_PART_OF,
          (guint) box->od, (guint) g_array_index (boxes, Box, box->parent).od);
  }
}
