/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxparents: a box that is a part of another box (a wheel of a car) is dropped when
 * that box is dropped, unless only the label of that box is unwanted. A part that is
 * dropped for this reason must neither suppress other boxes nor count towards a cap.
 * Two passes define it:
 *
 *     box_parents_begin (p, boxes);
 *     box_parents_exclude (p, boxes, fed_at, exclude);        the parts of boxes that were dropped
 *     ... the first pass: run without the excluded boxes, write the states of the others ...
 *     if (box_parents_exclude (p, boxes, fed_at, exclude))    the parts of boxes that it dropped
 *       ... the second pass: run again, write the states ...
 *     box_parents_end (p, boxes, fed_at, exclude);
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

/* Drops the kept parts of dropped boxes; a part gets the state of its parent. Replaces the two
 * passes where the state of a box does not depend on other boxes. */
void box_parents_drop (BoxParents *parents, GArray *boxes);

/* Excludes the parts of dropped boxes. Their states become those of the dropped boxes. Returns
 * whether a box was excluded that was not before. */
gboolean box_parents_exclude (BoxParents *parents, GArray *boxes, const gint32 *fed_at,
    guint8 *exclude);

/* Writes the states of the parts after the last pass. A part whose parent is dropped is dropped
 * with it. An excluded part whose parent the second pass keeps remains dropped, with the state of
 * its parent in the first pass. */
void box_parents_end (BoxParents *parents, GArray *boxes, const gint32 *fed_at,
    const guint8 *exclude);

G_END_DECLS
