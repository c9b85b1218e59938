/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odmeta: the detections of GStreamer 1.24 and newer, GstAnalyticsODMtd in the
 * GstAnalyticsRelationMeta of a buffer, behind boxmeta, which is what elements
 * call. Without GstAnalytics in the build there are none.
 *
 *   GstAnalyticsODMtd   type = label, x y w h = pixels, confidence, and from
 *                       1.26 the angle (radians, clockwise, about the centre)
 *   related to it       GstAnalyticsTrackingMtd: the track; the class
 *                       "nms:suppressed" and so on: nmsfilter action=tag
 *   OD to OD            IS_PART_OF, or CONTAIN the other way: the parent
 *
 * A region of interest whose id is that of an OD is the same detection, as DL
 * Streamer writes it. Id 0 is also what a region has that says nothing: it
 * counts only where the two lie at the same place.
 *
 * A meta that is locked belongs to whoever locked it.
 */
#pragma once

#include <gst/gst.h>

#include "box.h"

G_BEGIN_DECLS

#ifdef HAVE_ANALYTICS

/* Whether the buffer has a relation meta, whatever is in it. */
gboolean od_meta_has_frame (GstBuffer * buffer);

/* Whether the buffer carries an OD. */
gboolean od_meta_any (GstBuffer * buffer);

/* Returns a new array for the relations of ODs, which od_meta_read fills. */
GArray *od_meta_relations_new (void);

/* Adds to the boxes that were read from regions what their ODs state, and appends
 * a box for each other OD, in the order of their ids. `flags` are BoxReadFlags;
 * width and height are those of the frame, or 0. Writes the relations of the ODs
 * into `relations`, which may be NULL. Returns whether it set a parent. */
gboolean od_meta_read (GstBuffer * buffer, gint width, gint height, guint flags,
    GArray * boxes, GArray * relations);

/* Removes the OD of each box whose state box_state_is_drop names, and each mtd that
 * is related to removed ODs and to no other OD, directly or through further mtds.
 * The other relations keep their bits. `relations` are those that od_meta_read
 * wrote for these boxes. The relation meta stays even if it is empty then, because
 * objectdetectionoverlay repeats its last picture where there is none.
 *
 * Ids are indices, so what lies behind a hole moves up. Where others may hold
 * ids, in regions or in mtds of types that are not known here, ids stay, and
 * empty mtds of type "nms-removed" fill the holes. */
void od_meta_remove (GstBuffer * buffer, const GArray * boxes, const GArray * relations);

/* Gives `copy`, a copy of the buffer without its relation meta, what
 * od_meta_remove would leave. */
void od_meta_copy_without (GstBuffer * copy, GstBuffer * buffer, const GArray * boxes,
    const GArray * relations);

/* Removes all ODs, likewise. */
void od_meta_remove_all (GstBuffer * buffer);

/* Relates the class "nms:STATE" to the OD of each box that has a state, in
 * place of an older one. */
void od_meta_tag (GstBuffer * buffer, const GArray * boxes);

/* Adds an OD (with track, parent and state) for each of the boxes, and writes
 * the ids into the boxes' `od`. A box without a confidence gets 0. Boxes have
 * to be those of the buffer's frame of width x height (0: unknown). Without
 * boxes: an empty relation meta. */
void od_meta_attach (GstBuffer * buffer, GArray * boxes, gint width, gint height);

/* Whether this is the relation meta, which od_meta_copy_without copies. */
gboolean od_meta_is (const GstMeta * meta);

/* Adds the relation meta to the answer to an ALLOCATION query. */
void od_meta_propose (GstQuery * query);

#else

static inline GArray *
od_meta_relations_new (void)
{
  return g_array_new (FALSE, FALSE, 1);
}

static inline gboolean
od_meta_has_frame (GstBuffer * buffer)
{
  return FALSE;
}

static inline gboolean
od_meta_any (GstBuffer * buffer)
{
  return FALSE;
}

static inline gboolean
od_meta_read (GstBuffer * buffer, gint width, gint height, guint flags, GArray * boxes,
    GArray * relations)
{
  return FALSE;
}

static inline void
od_meta_remove (GstBuffer * buffer, const GArray * boxes, const GArray * relations)
{
}

static inline void
od_meta_copy_without (GstBuffer * copy, GstBuffer * buffer, const GArray * boxes,
    const GArray * relations)
{
}

static inline void
od_meta_remove_all (GstBuffer * buffer)
{
}

static inline void
od_meta_attach (GstBuffer * buffer, GArray * boxes, gint width, gint height)
{
}

static inline void
od_meta_tag (GstBuffer * buffer, const GArray * boxes)
{
}

static inline gboolean
od_meta_is (const GstMeta * meta)
{
  return FALSE;
}

static inline void
od_meta_propose (GstQuery * query)
{
}

#endif

G_END_DECLS
