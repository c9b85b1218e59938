/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* odrewrite: writes changed places and scores of boxes into their GstAnalytics ODs. */
#pragma once

#include "box.h"

#include <gst/gst.h>

G_BEGIN_DECLS

#ifdef HAVE_ANALYTICS
#include <gst/analytics/analytics.h>

/* Writes each box with an OD and BOX_MOVED or BOX_RESCORED, but those that box_state_is_drop
 * names, into its OD. The label, ids and relations do not change. */
void od_rewrite (GstBuffer *buffer, const GArray *boxes);

/* Writes one box into the OD `id` as od_rewrite does. */
void od_rewrite_od (GstAnalyticsRelationMeta *meta, guint id, const Box *box);

#else

static inline void
od_rewrite (GstBuffer *buffer, const GArray *boxes)
{
}

#endif

G_END_DECLS
