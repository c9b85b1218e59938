/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odmeta: reads and writes the detections of GStreamer 1.24 and newer, each a
 * GstAnalyticsODMtd in the GstAnalyticsRelationMeta of a buffer. Called by boxmeta,
 * which the elements call. A build without GstAnalytics reads and writes none.
 *
 *   GstAnalyticsODMtd   type = label, x y w h = pixels, confidence, and from
 *                       1.26 the angle (radians, clockwise, about the centre)
 *   related to it       GstAnalyticsTrackingMtd: the track; the class
 *                       "nms:suppressed" and so on: nmsfilter action=tag; the
 *                       class "source:NAME": the branch, and the class "source-cut":
 *                       a border of its picture cuts the box, see box_append
 *   OD to OD            IS_PART_OF, or CONTAIN in the other direction: the parent
 *
 * A region of interest with the id of an OD is the same detection, as DL Streamer
 * writes it. A region without an id has id 0 too, so id 0 counts only if region and OD
 * lie at the same place.
 *
 * A locked meta is neither read nor changed, because only the code that locked it may.
 */
#pragma once

#include <gst/gst.h>

#include "boxmap.h"

G_BEGIN_DECLS

#ifdef HAVE_ANALYTICS
#include <gst/analytics/analytics.h>

#define OD_META_SOURCE_PREFIX "source:"
#define OD_META_SOURCE_CUT "source-cut"

/* Returns the text after `prefix` of a GstAnalyticsClsMtd with one class whose name begins with
 * it, else NULL. The text is static. */
const gchar *od_meta_class_suffix (const GstAnalyticsMtd *mtd, const gchar *prefix);

/* Adds the class `prefix` + `suffix` with confidence 1 and relates it to an OD. */
void od_meta_add_class (GstAnalyticsRelationMeta *meta, guint od, const gchar *prefix,
    const gchar *suffix);

/* Returns whether the buffer has a relation meta, even an empty or locked one. */
gboolean od_meta_has_frame (GstBuffer *buffer);

/* Returns whether the buffer carries an OD or, with `places`, another mtd that may hold a
 * position. */
gboolean od_meta_any (GstBuffer *buffer, gboolean places);

/* Returns the number of mtds of the relation meta, which is above the id of each of them; 0 if
 * there is none. */
gint od_meta_length (GstBuffer *buffer);

/* Returns a new array for the relations of ODs, which od_meta_read fills. */
GArray *od_meta_relations_new (void);

/* Adds the data of their ODs to the boxes that were read from regions, and appends
 * a box for each other OD, in the order of their ids. `flags` are BoxReadFlags;
 * width and height are those of the frame, or 0. Writes the relations of the ODs
 * into `relations`, which may be NULL. Returns whether it set a parent. */
gboolean od_meta_read (GstBuffer *buffer, gint width, gint height, guint flags, GArray *boxes,
    GArray *relations);

/* Removes the OD of each dropped box (box_state_is_drop), and each mtd that
 * is related to removed ODs and to no other OD, directly or through further mtds.
 * All other relations are kept bit by bit. `relations` are those that od_meta_read
 * wrote for these boxes. The relation meta stays even if it is empty then, because
 * objectdetectionoverlay repeats its last picture where there is none.
 *
 * Ids are indices, so the mtds behind a removed one get lower ids. Ids do not change if
 * something else may hold them, that is a kept region with an id, or a mtd of a type
 * that is not known here; then empty mtds of type "nms-removed" take the removed places.
 *
 * `move` is how the boxes were moved; NULL if they were not. Mtds of unknown types and, if the
 * picture was flipped or turned, masks are removed then, because their data cannot be changed. */
void od_meta_remove (GstBuffer *buffer, const GArray *boxes, const GArray *relations,
    BoxMove *move);

/* Adds to `copy`, a copy of the buffer without its relation meta, the meta that
 * od_meta_remove would leave. */
void od_meta_copy_without (GstBuffer *copy, GstBuffer *buffer, const GArray *boxes,
    const GArray *relations);

/* Relates the class "nms:STATE" to the OD of each box that has a state, and removes an
 * older one. */
void od_meta_tag (GstBuffer *buffer, const GArray *boxes);

/* Adds an OD, with its track, parent and state, for each of the boxes, and writes its id
 * into the `od` of the box. A box without a confidence gets 0. width and height are
 * those of the frame, 0 if unknown. Without boxes, adds an empty relation meta. */
void od_meta_attach (GstBuffer *buffer, GArray *boxes, gint width, gint height);

/* Returns the type of the relation meta; 0 in a build without GstAnalytics. */
GType od_meta_api (void);

#else
#define od_meta_api() ((GType) 0)
#define od_meta_relations_new() g_array_new (FALSE, FALSE, 1)
#define od_meta_has_frame(buffer) ((void) (buffer), FALSE)
#define od_meta_length(buffer) ((void) (buffer), 0)
#define od_meta_any(buffer, places) ((void) (buffer), FALSE)
#define od_meta_read(buffer, width, height, flags, boxes, relations) ((void) (relations), FALSE)
#define od_meta_remove(buffer, boxes, relations, move) ((void) (move))
#define od_meta_copy_without(copy, buffer, boxes, relations)
#define od_meta_tag(buffer, boxes)
#define od_meta_attach(buffer, boxes, width, height)
#endif

G_END_DECLS
