/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmeta: buffer metadata <-> Box. Expects tens to a few hundred boxes on every frame
 * of a live stream, and must work with 100,000. Every function makes one pass over the
 * metas. Reading allocates nothing once the array has grown, unless boxes have parents.
 *
 * A box stores the position of its meta among all regions of interest on the buffer,
 * not a pointer, because the buffer that is changed is usually a copy of the one that
 * was read, with the same metas in the same order.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "boxmeta.h"

#include "odmeta.h"
#include "parentlinks.h"
#include "roifields.h"

#include <gst/video/video.h>
#include <math.h>
#include <string.h>

/* ----------------------------------------------------- what is a detection */

/* Returns whether a structure is a hint to an encoder. A region whose structures are all
 * hints is not a detection. */
static inline gboolean
is_hint (const GstStructure *s)
{
  return g_str_has_prefix (gst_structure_get_name (s), "roi/");
}

/* Returns whether a region is a detection. Locked metas are not, because only the code
 * that locked them may change them. */
static gboolean
is_detection (const GstVideoRegionOfInterestMeta *roi)
{
  const GList *l;

  if (G_UNLIKELY (GST_META_FLAG_IS_SET (&roi->meta, GST_META_FLAG_LOCKED)))
    return FALSE;
  for (l = roi->params; l; l = l->next)
    if (!is_hint (l->data))
      return TRUE;
  return roi->params == NULL;
}

static inline GstVideoRegionOfInterestMeta *
next_roi (GstBuffer *buffer, gpointer *state, GType api)
{
  return (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (buffer, state, api);
}

/* ------------------------------------------------------------------ reading */

static inline void
read_detection (Box *box, const GstStructure *s, gint width, gint height, guint flags)
{
  gdouble x_min, y_min, x_max, y_max, x1, y1, x2, y2;

  if (roi_field_number (s, &roi_names.confidence, &box->confidence))
    box->flags |= BOX_HAS_CONFIDENCE;
  if ((!(flags & BOX_READ_LEAN) || box->label == 0)
      && roi_field_int (s, &roi_names.label_id, &box->label_id))
    box->flags |= BOX_HAS_LABEL_ID;

  if (width <= 0 || height <= 0 || !roi_field_number (s, &roi_names.x_min, &x_min)
      || !roi_field_number (s, &roi_names.x_max, &x_max)
      || !roi_field_number (s, &roi_names.y_min, &y_min)
      || !roi_field_number (s, &roi_names.y_max, &y_max))
    return;
  x1 = x_min * width;
  x2 = x_max * width;
  y1 = y_min * height;
  y2 = y_max * height;
  if (!box_extent_agrees (x1, x2, box->x, box->w, width)
      || !box_extent_agrees (y1, y2, box->y, box->h, height))
    return;
  box->flags |= BOX_HAS_NORMALIZED;
  box->x_min = x_min;
  box->y_min = y_min;
  box->x_max = x_max;
  box->y_max = y_max;
  box->x1 = x1;
  box->y1 = y1;
  box->x2 = x2;
  box->y2 = y2;
}

static void
read_state (Box *box, const GstStructure *s)
{
  const GValue *state = roi_field_value (s, &roi_names.state);

  if (state && G_VALUE_HOLDS_STRING (state))
    box->state = box_state_from_name (g_value_get_string (state));
  if (!roi_field_int (s, &roi_names.suppressed_by, &box->suppressed_by))
    box->suppressed_by = -1;
}

static void
read_source (Box *box, const GstStructure *s, guint flags)
{
  const GValue *name = flags & BOX_READ_SOURCE ? roi_field_value (s, &roi_names.name) : NULL;
  const GValue *cut = flags & BOX_READ_CUT ? roi_field_value (s, &roi_names.cut) : NULL;

  if (name && G_VALUE_HOLDS_STRING (name))
    box->source = g_quark_from_string (g_value_get_string (name));
  if (cut && G_VALUE_HOLDS_BOOLEAN (cut) && g_value_get_boolean (cut))
    box->flags |= BOX_CUT;
}

/* Reads a structure other than "detection". Returns FALSE if it is a hint to an encoder. */
static gboolean
read_other (Box *box, const GstStructure *s, guint flags)
{
  if (roi_structure_is (s, &roi_names.rotation))
    roi_field_number (s, &roi_names.angle, &box->rotation);
  else if ((flags & BOX_READ_TRACK) && roi_structure_is (s, &roi_names.object_id)
      && roi_field_int (s, &roi_names.id, &box->track_id))
    box->flags |= BOX_HAS_TRACK_ID;
  else if ((flags & BOX_READ_STATE) && roi_structure_is (s, &roi_names.nms))
    read_state (box, s);
  else if ((flags & (BOX_READ_SOURCE | BOX_READ_CUT)) && roi_structure_is (s, &roi_names.source))
    read_source (box, s, flags);
  return !is_hint (s);
}

/* Writes the fields of a region into a box. */
static inline void
read_region (Box *box, const GstVideoRegionOfInterestMeta *roi, guint position)
{
  /* x and y are unsigned; values from 2^31 on are negative numbers */
  box_init (box, (gint32) roi->x, (gint32) roi->y, roi->w, roi->h);
  box->label = roi->roi_type == roi_names.empty ? 0 : roi->roi_type;
  box->region_id = roi->id;
  box->parent_id = roi->parent_id;
  box->position = position;
}

static void
read_recorded_ids (GstBuffer *buffer, GArray *boxes)
{
  const GType api = GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  guint position, next = 0;
  const GList *l;

  for (position = 0; next < boxes->len && (roi = next_roi (buffer, &state, api)); position++) {
    Box *box = &g_array_index (boxes, Box, next);

    if (box->position != position)
      continue;
    next++;
    for (l = roi->params; l; l = l->next)
      if (roi_structure_is (l->data, &roi_names.recorded)) {
        roi_field_int (l->data, &roi_names.region_id, &box->region_id);
        roi_field_int (l->data, &roi_names.parent_id, &box->parent_id);
      }
  }
}

static guint
read_boxes (GstBuffer *buffer, gint width, gint height, guint flags, GArray *boxes,
    GArray *relations)
{
  const GType api = GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  gboolean parents = FALSE, suppressed = FALSE;
  guint position, i, count = 0;

  roi_names_init ();
  for (position = 0; (roi = next_roi (buffer, &state, api)) != NULL; position++) {
    gboolean is_box = roi->params == NULL, seen = FALSE;
    const GList *l;
    Box *box;

    if (G_UNLIKELY (GST_META_FLAG_IS_SET (&roi->meta, GST_META_FLAG_LOCKED)))
      continue;
    if (count >= boxes->len) /* in large steps, because each call takes time */
      g_array_set_size (boxes, 2 * count + 32);
    box = &g_array_index (boxes, Box, count);
    read_region (box, roi, position);
    for (l = roi->params; l; l = l->next) {
      const GstStructure *s = l->data;

      if (G_LIKELY (roi_structure_is (s, &roi_names.detection))) {
        if (!seen)
          read_detection (box, s, width, height, flags);
        seen = TRUE;
      } else if (read_other (box, s, flags)) {
        is_box = TRUE;
      }
    }
    is_box = is_box || seen;
    count += is_box;
    parents |= is_box && roi->parent_id != 0;
    suppressed |= box->suppressed_by != -1;
  }
  g_array_set_size (boxes, count);

  if (parents)
    parent_links_find (boxes);
  if (od_meta_read (buffer, width, height, flags, boxes, relations) || parents)
    parent_links_break_rings (boxes);
  if (flags & BOX_READ_RECORDED)
    read_recorded_ids (buffer, boxes);
  for (i = 0; suppressed && i < boxes->len; i++) {
    Box *box = &g_array_index (boxes, Box, i);
    if (box->suppressed_by < -1 || box->suppressed_by >= (gint) boxes->len)
      box->suppressed_by = -1;
  }
  return boxes->len;
}

guint
box_meta_read (GstBuffer *buffer, gint width, gint height, guint flags, GArray *boxes)
{
  return read_boxes (buffer, width, height, flags, boxes, NULL);
}

static gboolean
any_region (GstBuffer *buffer)
{
  const GType api = GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  roi_names_init ();
  while ((roi = next_roi (buffer, &state, api)) != NULL)
    if (is_detection (roi))
      return TRUE;
  return FALSE;
}

gboolean
box_meta_any (GstBuffer *buffer)
{
  return any_region (buffer) || od_meta_any (buffer, FALSE);
}

gboolean
box_meta_any_place (GstBuffer *buffer)
{
  return any_region (buffer) || od_meta_any (buffer, TRUE);
}

/* -------------------------------------------------------------- the reading */

BoxMetaReading *
box_meta_reading_new (void)
{
  BoxMetaReading *reading = g_new0 (BoxMetaReading, 1);

  reading->boxes = g_array_new (FALSE, FALSE, sizeof (Box));
  reading->relations = od_meta_relations_new ();
  return reading;
}

void
box_meta_reading_free (BoxMetaReading *reading)
{
  g_array_unref (reading->boxes);
  g_array_unref (reading->relations);
  g_free (reading);
}

guint
box_meta_reading_take (BoxMetaReading *reading, GstBuffer *buffer, gint width, gint height,
    guint flags)
{
  box_map_init (&reading->move.map);
  return read_boxes (buffer, width, height, flags, reading->boxes, reading->relations);
}

guint
box_meta_reading_map (BoxMetaReading *reading, const BoxMap *map, gint width, gint height,
    gboolean clip)
{
  reading->move.map = *map;
  return box_map_move_all (map, reading->boxes, width, height, clip);
}

void
box_meta_reading_warn (BoxMetaReading *reading, GstElement *element)
{
  if (reading->move.lost == NULL || reading->warned)
    return;
  reading->warned = TRUE;
  GST_ELEMENT_WARNING (element, STREAM, FORMAT,
      ("Metadata of the type \"%s\" is removed, because it cannot be moved with the boxes.",
          reading->move.lost),
      ("the same holds for all types that this plugin does not know, because they may hold "
       "positions or ids, and for masks where the picture is flipped or turned"));
}

void
box_meta_reading_reset (BoxMetaReading *reading)
{
  reading->move.lost = NULL;
  reading->warned = FALSE;
}

/* ------------------------------------------------------------------ writing */

static void
tag_one (GstVideoRegionOfInterestMeta *roi, const Box *box)
{
  GstStructure *tag = NULL;
  GList *l;

  for (l = roi->params; l && tag == NULL; l = l->next)
    if (roi_structure_is (l->data, &roi_names.nms))
      tag = l->data;
  if (tag == NULL) {
    tag = gst_structure_new_empty ("nms");
    gst_video_region_of_interest_meta_add_param (roi, tag);
  }
  gst_structure_remove_all_fields (tag);
  gst_structure_set (tag, "state", G_TYPE_STRING, box_state_name (box->state), NULL);
  if (box->suppressed_by >= 0)
    gst_structure_set (tag, "suppressed-by", G_TYPE_INT, box->suppressed_by, NULL);
}

void
box_meta_tag (GstBuffer *buffer, const BoxMetaReading *reading)
{
  const GArray *boxes = reading->boxes;
  const GType api = GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  guint position, next = 0;

  roi_names_init ();
  for (position = 0; next < boxes->len && (roi = next_roi (buffer, &state, api)); position++) {
    const Box *box = &g_array_index (boxes, Box, next);

    if (box->position != position)
      continue;
    if (box_state_name (box->state) != NULL)
      tag_one (roi, box);
    next++;
  }
  od_meta_tag (buffer, boxes);
}

/* Clips start .. start + length to 0..size, or, if size is 0 (unknown), to the 32 bits of
 * the meta. */
static void
clip (gint64 start, gint64 length, gint size, guint *start_out, guint *length_out)
{
  /* so that the sum of the two fits into 64 bits */
  start = CLAMP (start, G_MININT32, G_MAXINT32);
  length = CLAMP (length, 0, G_MAXUINT32);
  if (size > 0) {
    gint64 end = CLAMP (start + length, 0, size);
    start = CLAMP (start, 0, size);
    length = end - start;
  }
  *start_out = (guint) (gint32) start;
  *length_out = (guint) length;
}

static GstVideoRegionOfInterestMeta *
attach_region (GstBuffer *buffer, const Box *box, gint width, gint height)
{
  GstVideoRegionOfInterestMeta *roi;
  guint x, y, w, h;

  clip (box->x, box->w, width, &x, &w);
  clip (box->y, box->h, height, &y, &h);
  /* not quark 0, because other programs read the string of the quark */
  roi = gst_buffer_add_video_region_of_interest_meta_id (buffer,
      box->label ? box->label : roi_names.empty, x, y, w, h);
  roi->id = box->region_id;
  roi->parent_id = box->parent_id;

  if (box->flags & (BOX_HAS_NORMALIZED | BOX_HAS_CONFIDENCE | BOX_HAS_LABEL_ID)) {
    GstStructure *s = gst_structure_new_empty ("detection");

    if (box->flags & BOX_HAS_NORMALIZED)
      gst_structure_set (s, "x_min", G_TYPE_DOUBLE, box->x_min, "x_max", G_TYPE_DOUBLE, box->x_max,
          "y_min", G_TYPE_DOUBLE, box->y_min, "y_max", G_TYPE_DOUBLE, box->y_max, NULL);
    if (box->flags & BOX_HAS_CONFIDENCE)
      gst_structure_set (s, "confidence", G_TYPE_DOUBLE, box->confidence, NULL);
    if (box->flags & BOX_HAS_LABEL_ID)
      gst_structure_set (s, "label_id", G_TYPE_INT, box->label_id, NULL);
    gst_video_region_of_interest_meta_add_param (roi, s);
  }
  if (box->flags & BOX_HAS_TRACK_ID) {
    GstStructure *s = gst_structure_new ("object_id", "id", G_TYPE_INT, box->track_id, NULL);

    if (box->flags & BOX_LOST)
      gst_structure_set (s, "lost", G_TYPE_BOOLEAN, TRUE, NULL);
    gst_video_region_of_interest_meta_add_param (roi, s);
  }
  if (box_state_name (box->state) != NULL)
    tag_one (roi, box);
  if (box->rotation != 0)
    gst_video_region_of_interest_meta_add_param (roi,
        gst_structure_new ("rotation", "angle", G_TYPE_DOUBLE, box->rotation, NULL));
  return roi;
}

/* Gives a region the id of its OD. The ids that were recorded are kept in the structure
 * "recorded", so that boxrecord can write them again. */
static void
give_od_id (GstVideoRegionOfInterestMeta *roi, const GArray *boxes, const Box *box)
{
  gint parent_id = box->parent >= 0 ? g_array_index (boxes, Box, box->parent).od : 0;

  if (roi->id != box->od || roi->parent_id != parent_id)
    gst_video_region_of_interest_meta_add_param (roi,
        gst_structure_new ("recorded", "region_id", G_TYPE_INT, roi->id, "parent_id", G_TYPE_INT,
            roi->parent_id, NULL));
  roi->id = box->od;
  roi->parent_id = parent_id;
}

void
box_meta_attach (GstBuffer *buffer, GArray *boxes, gint width, gint height, BoxMetaKind kind)
{
  gboolean parents = FALSE;
  guint i;

  roi_names_init ();
  if (width <= 0 || height <= 0)
    width = height = 0;
  for (i = 0; i < boxes->len; i++) {
    Box *box = &g_array_index (boxes, Box, i);

    box->parent = box->od = -1;
    parents |= box->parent_id != 0;
  }
  if (kind & BOX_META_ANALYTICS) {
    if (parents) {
      parent_links_find (boxes);
      parent_links_break_rings (boxes);
    }
    od_meta_attach (buffer, boxes, width, height);
  }
  for (i = 0; (kind & BOX_META_ROI) && i < boxes->len; i++) {
    const Box *box = &g_array_index (boxes, Box, i);
    GstVideoRegionOfInterestMeta *roi = attach_region (buffer, box, width, height);

    if (box->od >= 0)
      give_od_id (roi, boxes, box);
  }
}

gboolean
box_meta_lacks_frame (GstBuffer *buffer, BoxMetaKind kind)
{
  return (kind & BOX_META_ANALYTICS) && !od_meta_has_frame (buffer);
}

void
box_meta_propose (GstQuery *query)
{
  const GType apis[] = { GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, od_meta_api () };

  for (guint i = 0; i < G_N_ELEMENTS (apis); i++)
    if (apis[i] && !gst_query_find_allocation_meta (query, apis[i], NULL))
      gst_query_add_allocation_meta (query, apis[i], NULL);
}
