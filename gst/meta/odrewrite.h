/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* odrewrite: writes changed places and scores of boxes into their GstAnalytics ODs. */
#pragma once

#include "boxmap.h"

#include <gst/gst.h>

G_BEGIN_DECLS

#ifdef HAVE_ANALYTICS
#include <gst/analytics/analytics.h>

/* Writes each box that has an OD and BOX_MOVED or BOX_RESCORED into its OD, unless the box is
 * dropped (box_state_is_drop). The label, ids and relations do not change. If the box has
 * BOX_TRACKED, relates a GstAnalyticsTrackingMtd to the OD and adds that relation to `relations`,
 * which od_meta_read filled. Moves all masks as od_rewrite_masks does. */
void od_rewrite (GstBuffer *buffer, const GArray *boxes, GArray *relations, const BoxMap *map);

/* Writes one box into the OD `id` as od_rewrite does. */
void od_rewrite_od (GstAnalyticsRelationMeta *meta, guint id, const Box *box);

/* Moves the places of the masks (GstAnalyticsSegmentationMtd) from id `first` on, unless the map
 * flips or turns the picture. */
void od_rewrite_masks (GstAnalyticsRelationMeta *meta, guint first, const BoxMap *map);

#else
#define od_rewrite(buffer, boxes, relations, map)
#endif

G_END_DECLS
