/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxmeta: the boxes that are attached to a buffer as metadata, read, dropped,
 * tagged and attached. With odmeta.h, which is for GstAnalytics and is called
 * from here, the only code that knows what the metadata looks like:
 *
 *   GstVideoRegionOfInterestMeta   roi_type = label, x y w h = pixels,
 *                                  id / parent_id (0: unset), and structures:
 *     "detection"  x_min y_min x_max y_max (double, normalised), confidence
 *                  (double), label_id (int), as DL Streamer writes it
 *     "object_id"  id (int): the track
 *     "nms"        state (string), suppressed-by (int): nmsfilter action=tag
 *     "rotation"   angle (double, radians) by which the region is turned about
 *                  its centre, clockwise
 *     "recorded"   region_id, parent_id (int) of the recording, where boxreplay
 *                  gave the region those of an OD
 *
 * A detection is every such meta but those whose only structures are roi/...
 * (hints to an encoder) and those that are locked on the buffer; and every
 * GstAnalyticsODMtd. Regions come first; a region and an OD with its id are one.
 */
#pragma once

#include <gst/gst.h>

#include "box.h"

G_BEGIN_DECLS

/* What box_meta_read fills; the geometry, label, ids of the regions and the
 * confidence always, the rest only when asked for. */
typedef enum
{
  BOX_META_TRACK = 1 << 0,      /* track_id */
  BOX_META_STATE = 1 << 1,      /* state, suppressed_by */
  BOX_META_LEAN = 1 << 2,       /* label_id only where there is no label: to
                                 * look for it costs a tenth of the whole */
  BOX_META_RECORDED = 1 << 3,   /* region_id and parent_id as they were recorded */
} BoxMetaWant;

/* The size of the frames of these caps, raw or not; 0 and 0 if they have none. */
void box_meta_frame_size (const GstCaps * caps, gint * width, gint * height);

/* Replaces the contents of `boxes` (a GArray of Box) with the detections of
 * the buffer, in the buffer's order, and returns how many. width and height
 * are those of the caps, 0 if unknown. The normalised doubles count only
 * where they agree with the integers, clipped to the frame, within 1 pixel:
 * elements that scale or crop move the integers alone. */
guint box_meta_read (GstBuffer * buffer, gint width, gint height, guint want, GArray * boxes);

/* The same for who changes the buffer afterwards, or a copy of it: keeps in
 * `links` (of box_meta_links_new; to be unreffed) what relations GstAnalytics has
 * there, since to find out twice is most of the work. */
GArray *box_meta_links_new (void);
guint box_meta_read_links (GstBuffer * buffer, gint width, gint height, guint want,
    GArray * boxes, GArray * links);

/* Whether the buffer carries at least one detection. */
gboolean box_meta_any (GstBuffer * buffer);

/* Removes from a writable buffer (the one that was read, or a copy of it)
 * every boxes[i] for which drop[i] is not 0. `links` may be NULL. */
void box_meta_remove (GstBuffer * buffer, const GArray * boxes, const guint8 * drop,
    const GArray * links);

/* A writable copy of a buffer (memory and all metadata; the memory is shared
 * where it can be) without the boxes[i] for which drop[i] is not 0. NULL when the
 * memory cannot be copied. */
GstBuffer *box_meta_copy_without (GstBuffer * buffer, const GArray * boxes,
    const guint8 * drop, const GArray * links);

/* Removes all detections from a writable buffer. */
void box_meta_remove_all (GstBuffer * buffer);

/* Writes state and suppressed_by of each box whose state is not
 * BOX_STATE_NONE as its structure "nms", replacing an older one. */
void box_meta_tag (GstBuffer * buffer, const GArray * boxes);

/* As what boxes are attached. */
typedef enum
{
  BOX_META_ROI = 1,
  BOX_META_ANALYTICS = 2,       /* only where the build has it */
  BOX_META_BOTH = 3,            /* regions with the ids of their ODs */
} BoxMetaKind;

/* Attaches boxes to a writable buffer.
 * As regions: x y w h (clipped to the frame if its size is known, else as they
 * are), label, region and parent id; "detection" if a box has normalized
 * coordinates, a confidence or a label id; "object_id"; "nms"; "rotation".
 * As ODs: see od_meta_attach; boxes get theirs. */
void box_meta_attach (GstBuffer * buffer, GArray * boxes, gint width, gint height,
    BoxMetaKind kind);

/* Whether the buffer lacks what box_meta_attach leaves on a frame without
 * boxes. */
gboolean box_meta_lacks_frame (GstBuffer * buffer, BoxMetaKind kind);

/* Answers an ALLOCATION query: boxes are welcome. */
void box_meta_propose (GstQuery * query);

G_END_DECLS
