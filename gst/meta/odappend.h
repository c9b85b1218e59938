/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* odappend: appends the GstAnalytics ODs of one buffer to another one, for boxappend. */
#pragma once

#include "boxmap.h"

#include <gst/gst.h>

G_BEGIN_DECLS

#ifdef HAVE_ANALYTICS

/* Appends the ODs of `boxes`, which were read from `source`, with each mtd that is related to
 * them, directly or through further mtds, and the relations, to the relation meta of `target`,
 * which is added if there is none. Writes the place of each box with BOX_MOVED, and moves masks by
 * `move`. Masks of a flipped or turned picture, and mtds of types that are not known here, which
 * may hold ids, are not appended; `move` gets the name of the type of one. `relations` are
 * those of the reading. No OD gets an id that is in `reserved`, a set of GINT_TO_POINTER (id).
 * Relates the class "source:NAME" to each OD if `name` is not NULL, instead of an older one.
 * Returns the new ids by old id, -1 for a mtd that was not appended, to be freed with g_free; or
 * NULL if there is no OD to append, or if the relation meta of `target` is locked. */
gint *od_append (GstBuffer *target, GstBuffer *source, const GArray *boxes, const GArray *relations,
    GHashTable *reserved, const gchar *name, BoxMove *move);

#else
#define od_append(target, source, boxes, relations, reserved, name, move) ((gint *) NULL)
#endif

G_END_DECLS
