/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odremove: removes mtds from a GstAnalyticsRelationMeta. GstAnalytics can only add
 * mtds, so the meta is rebuilt from the mtds that are kept. They can also be appended to
 * the meta of another buffer.
 */
#pragma once

#include "boxmap.h"
#include "odrelations.h"

G_BEGIN_DECLS

typedef struct
{
  GstAnalyticsRelationMeta *meta; /* the meta to remove from */
  guint count;                    /* number of its mtds */
  guint8 *remove;                 /* [count]; not 0 if the mtd is to be removed */
  gboolean keep_ids;              /* ids must not change: see od_meta_remove */
  guint extra;                    /* number of mtds that will be added afterwards */
  gboolean related_only;          /* removes the mtds that are related to no OD, too */
  GHashTable *reserved;           /* set of ids (GINT_TO_POINTER) that od_remove_append gives to
                                 * no OD, or NULL */
  BoxMove *move;                  /* how boxes move, or NULL; mtds that cannot be moved are removed,
                                 * and one of their types is written to `lost` */
  const GArray *relations;        /* relations that start at ODs; NULL: odremove collects them */
  guint8 *marks;                  /* [count]; set and used by odremove.c */
  gint *new_id;                   /* [count]; set by the rebuild: -1 for a removed mtd */
} OdRemove;

/* Prepares a removal in which no mtd is marked yet. Free it with od_remove_clear. */
void od_remove_init (OdRemove *self, GstAnalyticsRelationMeta *meta);
void od_remove_clear (OdRemove *self);

/* Marks mtd `id` as an OD, and whether it is to be removed. Marking is optional: the
 * rebuild looks up the type of each mtd that is not marked. */
void od_remove_mark_od (OdRemove *self, guint id, gboolean remove);

/* Rebuilds the meta on its buffer, which must be writable, without the marked mtds
 * and without each mtd that is related to removed ODs and to no kept OD. Returns the
 * rebuilt meta, which may be another object. */
GstAnalyticsRelationMeta *od_remove_in_place (OdRemove *self, GstBuffer *buffer);

/* Returns whether there are mtds that cannot be moved by `move`. These are mtds of types that are
 * not known here, which may hold positions and ids, and masks if the picture is flipped or
 * turned. */
gboolean od_remove_loses_any (const OdRemove *self);

/* Returns the number of mtds that are kept, at most. */
guint od_remove_bound (const OdRemove *self);

/* Appends the mtds that od_remove_in_place would leave, and their relations, to `meta`, the
 * relation meta of `target`, another buffer, and writes their new ids into new_id. The mtds of
 * `meta` keep their ids; those of `buffer` do not change. `move` has to be set, because ids inside
 * the data of mtds of types that are not known here would name other mtds afterwards. */
void od_remove_append (OdRemove *self, GstBuffer *buffer, GstAnalyticsRelationMeta *meta,
    GstBuffer *target);

/* Adds the meta that od_remove_in_place would build to `target`, a buffer without
 * relation meta. The meta of `buffer` does not change. */
void od_remove_copy (OdRemove *self, GstBuffer *buffer, GstBuffer *target);

G_END_DECLS
