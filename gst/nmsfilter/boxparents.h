/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxparents: a box that is a part of another box (a wheel of a car) is dropped when
 * that box is dropped, unless only the label of that box is unwanted. A part that is
 * dropped for this reason must neither have suppressed other boxes nor have counted
 * towards a cap. So the frame is run again without it, until a run changes nothing.
 *
 *     box_parents_begin (p, boxes);
 *     box_parents_exclude_first (p, boxes, fed_at, exclude, count);
 *     do
 *       ... run without the excluded boxes, write the states ...
 *     while (box_parents_again (p, boxes, fed_at, exclude));
 *
 * fed_at[i] is the position of box i among the boxes that are run, or -1 if it is not
 * run. exclude has one element for each position; 1 excludes the box there.
 */
#pragma once

#include "meta/box.h"

G_BEGIN_DECLS

typedef struct _BoxParents BoxParents;

/* Returns a new object; it keeps scratch memory from frame to frame. */
BoxParents *box_parents_new (void);
void box_parents_free (BoxParents *parents);

/* Begins a frame. Frames on which no box has a parent need none of these functions. */
void box_parents_begin (BoxParents *parents, const GArray *boxes);

/* Writes exclude[0..count): 1 for the parts of boxes that are dropped before the first
 * run. Their state becomes that of the dropped box. */
void box_parents_exclude_first (BoxParents *parents, GArray *boxes, const gint32 *fed_at,
    guint8 *exclude, guint count);

/* Drops the parts of the boxes that the last run dropped. Ignores the states that the
 * run wrote for excluded boxes. Returns TRUE if `exclude` has changed: run again. */
gboolean box_parents_again (BoxParents *parents, GArray *boxes, const gint32 *fed_at,
    guint8 *exclude);

G_END_DECLS
