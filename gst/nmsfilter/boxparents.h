/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxparents: a box that is a part of another (a wheel of a car) goes when the
 * other goes. A box that goes for that reason must not have suppressed others
 * nor have taken a place under a cap, so the frame is decided again without
 * it, until the answer holds.
 *
 *     box_parents_begin (p, boxes);
 *     box_parents_exclude_first (p, boxes, fed_at, exclude, count);
 *     do
 *       ... run without the excluded, write the states ...
 *     while (box_parents_again (p, boxes, fed_at, exclude));
 *
 * fed_at[i] is the place of box i among the boxes that are run, or -1;
 * exclude has an element for each place.
 */
#pragma once

#include "meta/box.h"

G_BEGIN_DECLS

typedef struct _BoxParents BoxParents;

BoxParents *box_parents_new (void);
void box_parents_free (BoxParents * parents);

/* Needed only for frames on which some box has a parent. */
void box_parents_begin (BoxParents * parents, const GArray * boxes);

/* Writes exclude[0..count): the parts of boxes that are dropped before any run. */
void box_parents_exclude_first (BoxParents * parents, GArray * boxes, const gint32 * fed_at,
    guint8 * exclude, guint count);

/* Takes the states that a run has written (whatever they are for excluded
 * boxes) and drops the parts of dropped boxes. TRUE: exclude has changed, run
 * again. */
gboolean box_parents_again (BoxParents * parents, GArray * boxes, const gint32 * fed_at,
    guint8 * exclude);

G_END_DECLS
