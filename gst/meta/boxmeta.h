/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmeta: reads, tags and attaches the boxes that a buffer carries as metadata. boxremove
 * removes some, boxrewrite changes their places and scores, boxappend appends the boxes of
 * another buffer. These and what they call for GstAnalytics (odmeta, odrewrite, odappend)
 * are the only code that knows the form of the metadata:
 *
 *   GstVideoRegionOfInterestMeta   roi_type = label, x y w h = pixels,
 *                                  id / parent_id (0 if unset), and structures:
 *     "detection"  x_min y_min x_max y_max (double, normalised), confidence
 *                  (double), label_id (int), as DL Streamer writes it
 *     "object_id"  id (int): the track; lost (boolean): TRUE if the detector did not find the
 *                  box, and boxsteady added it where it should be
 *     "nms"        state (string), suppressed-by (int): nmsfilter action=tag
 *     "rotation"   angle (double, radians) by which the region is rotated about
 *                  its centre, clockwise
 *     "recorded"   region_id, parent_id (int) as they were recorded, if boxreplay
 *                  gave the region those of an OD
 *     "source"     name (string): the branch from which box_append took the box; cut
 *                  (boolean): TRUE if a border of the branch's picture cuts it
 *
 * Each such meta is a detection, except those whose only structures are roi/... (hints
 * to an encoder) and those that are locked on the buffer. Each GstAnalyticsODMtd is one
 * too. Regions come first; a region and an OD with its id are one box.
 */
#pragma once

#include <gst/gst.h>

#include "boxmap.h"

G_BEGIN_DECLS

/* Replaces the contents of `boxes` (a GArray of Box) with the detections of the
 * buffer, in the buffer's order, and returns their number. width and height are
 * those of the caps, 0 if unknown; `flags` are BoxReadFlags. The normalised doubles
 * count only where they agree with the integers, clipped to the frame, within 1
 * pixel, because elements that scale or crop change only the integers. */
guint box_meta_read (GstBuffer *buffer, gint width, gint height, guint flags, GArray *boxes);

/* Returns whether the buffer carries at least one detection. */
gboolean box_meta_any (GstBuffer *buffer);

/* Returns whether the buffer carries a detection, or GstAnalytics metadata that may hold another
 * position. */
gboolean box_meta_any_place (GstBuffer *buffer);

/* The detections of a buffer that is changed afterwards: the boxes, and the
 * relations that GstAnalytics has between them, because finding these takes most of
 * the time of a removal. Keeps its memory from buffer to buffer; one per stream. */
typedef struct
{
  GArray *boxes;     /* Box: use box_meta_reading_boxes */
  GArray *relations; /* relations that start at ODs (OdRelation) */
  BoxMove move;      /* how box_meta_reading_map moved the boxes; the identity before that */
  gboolean warned;   /* a warning has named a lost type */
} BoxMetaReading;

BoxMetaReading *box_meta_reading_new (void);
void box_meta_reading_free (BoxMetaReading *reading);

/* Returns the boxes (a GArray of Box), which belong to the reading. The array is the
 * same one as long as the reading lives. States, and the fields that box_rewrite writes
 * back, may be written into the boxes; no box may be added, removed or reordered. */
static inline GArray *
box_meta_reading_boxes (const BoxMetaReading *reading)
{
  return reading->boxes;
}

/* Reads the detections of a buffer as box_meta_read does, and their relations. */
guint box_meta_reading_take (BoxMetaReading *reading, GstBuffer *buffer, gint width, gint height,
    guint flags);

/* Moves the boxes by box_map_move_all, so that box_rewrite, box_remove and box_append move or
 * remove with them what else may hold positions. Returns the number of boxes outside. */
guint box_meta_reading_map (BoxMetaReading *reading, const BoxMap *map, gint width, gint height,
    gboolean clip);

/* Posts a warning of the element if metadata was lost because its positions or ids could not be
 * changed; once until box_meta_reading_reset, which begins a stream. */
void box_meta_reading_warn (BoxMetaReading *reading, GstElement *element);
void box_meta_reading_reset (BoxMetaReading *reading);

/* Writes state and suppressed_by of each box whose state is not BOX_STATE_NONE as
 * its structure "nms" into a writable buffer (the one that was read, or a copy of
 * it), replacing an older one. */
void box_meta_tag (GstBuffer *buffer, const BoxMetaReading *reading);

/* The types of metadata in which boxes are attached. */
typedef enum
{
  BOX_META_ROI = 1,
  BOX_META_ANALYTICS = 2, /* used only in a build with GstAnalytics */
  BOX_META_BOTH = 3,      /* regions with the ids of their ODs */
} BoxMetaKind;

/* Attaches boxes to a writable buffer.
 * As regions: x y w h (clipped to the frame if its size is known), label, region id and
 * parent id; "detection" if a box has normalized coordinates, a confidence or a label
 * id; "object_id", "nms" and "rotation" if it has a track, a state or a rotation.
 * As ODs: see od_meta_attach. Writes parent and od of each box. */
void box_meta_attach (GstBuffer *buffer, GArray *boxes, gint width, gint height, BoxMetaKind kind);

/* Returns whether a frame without boxes still needs box_meta_attach: GstAnalytics is
 * wanted, and the buffer has no relation meta. */
gboolean box_meta_lacks_frame (GstBuffer *buffer, BoxMetaKind kind);

/* Adds the metadata of boxes to the answer to an ALLOCATION query. */
void box_meta_propose (GstQuery *query);

G_END_DECLS
