/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxrewrite: writes changed places and scores of boxes back into the metadata of a buffer. All
 * else stays: labels, classes, tracks, relations, ids, parents and unknown structures.
 *
 *     box_meta_reading_take (reading, buffer, old_width, old_height, 0);
 *     box_meta_reading_map (reading, &map, width, height, TRUE);         or
 *     for each box:  box->x1 = ...;  box->flags |= BOX_MOVED;
 *                    box->confidence = ...;  box->flags |= BOX_RESCORED | BOX_HAS_CONFIDENCE;
 *                    box->track_id = ...;    box->flags |= BOX_TRACKED | BOX_HAS_TRACK_ID;
 *     buffer = gst_buffer_make_writable (buffer);
 *     box_rewrite (buffer, reading, width, height);
 *     box_remove (buffer, reading);           optional, and only after box_rewrite
 */
#pragma once

#include "boxmeta.h"

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Writes each box with BOX_MOVED, BOX_RESCORED or BOX_TRACKED, except those that box_state_is_drop
 * names, into its region and its OD. `buffer` is the one that was read, or a copy of it with the
 * same metadata, and writable. Call it before box_remove, which changes positions and ids.
 *
 * Moved (x1 .. y2, rotation): the integers of region and OD, rounded by box_place and not clipped;
 * x_min .. y_max in "detection", if the region has that structure, for a frame of width x height,
 * or none if one of them is 0 (unknown); angle in "rotation". A region that had no "rotation"
 * although its OD is rotated gets the upright box around the rotated one.
 * The masks of GstAnalytics are moved as box_meta_reading_map moved the boxes, unless that flips or
 * turns the picture; all of them, because a mask may belong to no box.
 * Reshaped: DL Streamer's structures of the types keypoints and segmentation are removed, because
 * their numbers are relative to the box.
 * Rescored: confidence in "detection", which is added where it is absent, and in the OD.
 * Tracked: id in "object_id", which is added where it is absent, and a GstAnalyticsTrackingMtd
 * that is related to the OD. */
void box_rewrite (GstBuffer *buffer, BoxMetaReading *reading, gint width, gint height);

/* Writes one box into a region as box_rewrite does. */
void box_rewrite_region (GstVideoRegionOfInterestMeta *roi, const Box *box, gint width, gint height,
    BoxMove *move);

G_END_DECLS
