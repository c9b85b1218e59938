/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * odremove: copies the kept mtds out of the meta, clears it as buffer pools do, and
 * writes them back, so that no new meta is allocated. A
 * new meta is built for another buffer, and where a kept mtd owns something that
 * clearing would free. (If the buffer already has a meta, the new one is built on a
 * temporary buffer, because GStreamer 1.28 allows one relation meta per buffer.)
 *
 * The type of a mtd is the address of its functions, so mtds of any type can be
 * copied: their bytes, and in a copy what the transform function of their type does.
 *
 * GStreamer stores relations as a matrix, so finding the relations of one mtd reads a
 * row with an element for every other mtd. Most of the time is spent there. The
 * relations that start at ODs are collected when the boxes are read; those that start
 * at other mtds are collected only if something is removed, and not for every mtd.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "odremove.h"

#include <string.h>

/* The marks of a mtd. The first three are set for mtds other than ODs. */
enum
{
  TO_KEPT = 1,    /* related to a kept OD */
  TO_REMOVED = 2, /* related to a removed OD */
  DIRECT = 4,     /* has a direct relation with an OD, so its indirect ones do not count */
  IS_OD = 8,
  IS_PLACEHOLDER = 16, /* takes the place of a removed mtd */
  IS_LOST = 32,        /* removed because its data cannot be changed with the boxes; a mtd that is
                                 * related to it alone is removed, too */
};

void
od_remove_init (OdRemove *self, GstAnalyticsRelationMeta *meta)
{
  self->meta = meta;
  self->count = (guint) gst_analytics_relation_get_length (meta);
  self->new_id = g_malloc0 ((self->count + 1) * (sizeof *self->new_id + 2));
  self->remove = (guint8 *) (self->new_id + self->count + 1);
  self->marks = self->remove + self->count + 1;
  self->keep_ids = FALSE;
  self->extra = 0;
  self->related_only = FALSE;
  self->reserved = NULL;
  self->move = NULL;
  self->relations = NULL;
}

void
od_remove_clear (OdRemove *self)
{
  g_free (self->new_id); /* one allocation also holds `remove` and `marks` */
}

static GstAnalyticsMtdType
type_of (const OdRemove *self, guint id)
{
  GstAnalyticsMtd mtd = { id, self->meta };

  return gst_analytics_mtd_get_mtd_type (&mtd);
}

/* Returns whether mtds of this type cannot be changed with the boxes: those of unknown types, and
 * masks, whose pixels would have to be turned too. */
static gboolean
is_unmovable (const OdRemove *self, GstAnalyticsMtdType type)
{
  return self->move
      && (od_relations_type_is_unknown (type)
          || (od_relations_type_is_mask (type) && box_map_flips (&self->move->map)));
}

gboolean
od_remove_loses_any (const OdRemove *self)
{
  guint i;

  for (i = 0; i < self->count; i++)
    if (is_unmovable (self, type_of (self, i)))
      return TRUE;
  return FALSE;
}

static GArray *
relations_of_ods (const OdRemove *self)
{
  const GstAnalyticsMtdType od_type = gst_analytics_od_mtd_get_mtd_type ();
  GArray *relations = g_array_new (FALSE, FALSE, sizeof (OdRelation));
  guint i, used = 0;

  for (i = 0; i < self->count; i++)
    if (type_of (self, i) == od_type)
      used = od_relations_append (self->meta, i, relations, used);
  g_array_set_size (relations, used);
  return relations;
}

/* ----------------------------------------------------------------- deciding */

void
od_remove_mark_od (OdRemove *self, guint id, gboolean remove)
{
  self->marks[id] = IS_OD;
  self->remove[id] = remove;
}

/* Marks the ODs that are not marked yet, and the placeholders and the lost mtds, which are removed.
 * A mtd without a type counts as a placeholder: GStreamer 1.28 leaves it where a mtd of another
 * type refused to be copied. */
static void
mark_types (OdRemove *self)
{
  const GstAnalyticsMtdType od_type = gst_analytics_od_mtd_get_mtd_type ();
  guint i;

  for (i = 0; i < self->count; i++) {
    GstAnalyticsMtdType type;

    if (self->marks[i] & IS_OD)
      continue;
    type = type_of (self, i);
    self->marks[i] = type == od_type ? IS_OD : 0;
    if (type == OD_RELATIONS_PLACEHOLDER || type == 0) {
      self->marks[i] = IS_PLACEHOLDER;
      self->remove[i] = TRUE;
    } else if (is_unmovable (self, type)) {
      self->marks[i] = IS_LOST;
      self->remove[i] = TRUE;
    }
  }
}

/* Marks the mtds that have a relation with an OD. Returns whether there are relations
 * among the mtds other than ODs. */
static gboolean
mark_related (OdRemove *self, const GArray *relations)
{
  guint8 *marks = self->marks;
  gboolean indirect = FALSE;
  guint i;

  for (i = 0; i < relations->len; i++) {
    const OdRelation *relation = &g_array_index (relations, OdRelation, i);
    const gboolean from_od = marks[relation->from] & IS_OD, to_od = marks[relation->to] & IS_OD;

    if (from_od && !to_od)
      marks[relation->to] |= DIRECT | (self->remove[relation->from] ? TO_REMOVED : TO_KEPT);
    else if (to_od && !from_od)
      marks[relation->from] |= DIRECT | (self->remove[relation->to] ? TO_REMOVED : TO_KEPT);
    else if (!from_od)
      indirect = TRUE;
  }
  return indirect;
}

/* Spreads the marks of a mtd to one that it has a relation with. Returns whether that changed. */
static gboolean
spread (guint8 from, guint8 *to)
{
  const guint8 marks = from & IS_LOST ? TO_REMOVED : from & (TO_KEPT | TO_REMOVED);

  if ((*to & DIRECT) || (*to & marks) == marks)
    return FALSE;
  *to |= marks;
  return TRUE;
}

/* Spreads TO_KEPT and TO_REMOVED along the relations among mtds other than ODs, to
 * those that have no relation with an OD themselves, until nothing changes. */
static void
mark_indirectly_related (OdRemove *self, const GArray *relations)
{
  gboolean changed = TRUE;
  guint i;

  while (changed) {
    changed = FALSE;
    for (i = 0; i < relations->len; i++) {
      const OdRelation *relation = &g_array_index (relations, OdRelation, i);
      guint8 *a = &self->marks[relation->from], *b = &self->marks[relation->to];

      if (((*a | *b) & IS_OD) == 0) {
        changed |= spread (*a, b);
        changed |= spread (*b, a);
      }
    }
  }
}

static gboolean
relates_to_any (const OdRemove *self, guint id, const guint *ods, guint count)
{
  guint i;

  for (i = 0; i < count; i++)
    if (gst_analytics_relation_meta_get_relation (self->meta, id, ods[i]))
      return TRUE;
  return FALSE;
}

/* Returns whether a mtd other than an OD is removed, from its marks. */
static gboolean
is_removed_with_ods (const OdRemove *self, guint id)
{
  const guint8 marks = self->marks[id];

  return !(marks & (IS_OD | TO_KEPT)) && (self->related_only || (marks & TO_REMOVED));
}

/* Decides which mtds other than ODs are removed: those whose related ODs are all
 * removed, and that have at least one, and with related_only those that have none. Collects
 * the relations that start at the others.
 *
 * There are two variants with the same result. Where an OD has a relation to each of
 * these mtds, indirect relations do not count; if few ODs are kept, asking a mtd for
 * its relation to each kept OD is faster than reading all its relations. */
static void
decide (OdRemove *self, const GArray *od_relations, GArray *relations)
{
  guint *kept = g_new (guint, self->count + 1), ods = 0, others = 0, direct = 0, used = 0, i;

  mark_types (self);
  mark_related (self, od_relations);
  for (i = 0; i < self->count; i++)
    if (self->marks[i] & IS_OD) {
      if (!self->remove[i])
        kept[ods++] = i;
    } else if (!(self->marks[i] & (IS_PLACEHOLDER | IS_LOST))) {
      others++;
      direct += (self->marks[i] & DIRECT) != 0;
    }
  if (direct == others && 3 * ods < self->count && !self->related_only) {
    for (i = 0; i < self->count; i++) {
      if (self->marks[i] & (IS_OD | IS_PLACEHOLDER | IS_LOST))
        continue;
      if (!(self->marks[i] & TO_KEPT) && !relates_to_any (self, i, kept, ods))
        self->remove[i] = TRUE;
      else
        used = od_relations_append (self->meta, i, relations, used);
    }
    g_array_set_size (relations, used);
  } else if (others > 0) {
    for (i = 0; i < self->count; i++)
      if (!(self->marks[i] & (IS_OD | IS_PLACEHOLDER)))
        used = od_relations_append (self->meta, i, relations, used);
    g_array_set_size (relations, used);
    if (mark_related (self, relations))
      mark_indirectly_related (self, relations);
    for (i = 0; i < self->count; i++)
      if (is_removed_with_ods (self, i))
        self->remove[i] = TRUE;
  }
  g_free (kept);
}

/* Writes the name of the type of the first lost mtd that would have been kept. */
static void
name_lost (OdRemove *self)
{
  guint i;

  for (i = 0; self->move && i < self->count; i++)
    if ((self->marks[i] & IS_LOST) && (!self->related_only || (self->marks[i] & TO_KEPT))) {
      const gchar *name = gst_analytics_mtd_type_get_name (type_of (self, i));

      self->move->lost = name ? name : "without a name";
      return;
    }
}

/* A mtd that is kept. */
typedef struct
{
  guint id;
  const GstAnalyticsMtdImpl *impl; /* type of the mtd */
  gsize size;
  gchar *tag; /* NULL if there is none */
} KeptMtd;

/* Returns a list of the kept mtds. Writes their number and the size of their data in bytes. */
static KeptMtd *
list_kept (OdRemove *self, guint *count, gsize *bytes)
{
  KeptMtd *mtds = g_new (KeptMtd, self->count + 1), *next = mtds;
  const GstAnalyticsMtdType od_type = gst_analytics_od_mtd_get_mtd_type ();
  GstAnalyticsMtdType seen = od_type;
  guint i;

  *bytes = 0;
  for (i = 0; i < self->count; i++) {
    GstAnalyticsMtd mtd = { i, self->meta };
    GstAnalyticsMtdType type;

    if (self->remove[i])
      continue;
    type = self->marks[i] & IS_OD ? od_type : type_of (self, i);
    if (type != seen) {
      self->keep_ids = self->keep_ids || od_relations_type_is_unknown (type);
      seen = type;
    }
    *next = (KeptMtd) { i, (const GstAnalyticsMtdImpl *) type, gst_analytics_mtd_get_size (&mtd),
      od_relations_tag (&mtd) };
    *bytes += GST_ROUND_UP_8 (next->size);
    next++;
  }
  *count = (guint) (next - mtds);
  return mtds;
}

/* --------------------------------------------------------------- rebuilding */

/* The content of the new meta. */
typedef struct
{
  const KeptMtd *mtds;
  guint count;
  gsize bytes;                /* size of the data of all mtds */
  const GArray *od_relations; /* OdRelation: those that start at ODs */
  const GArray *relations;    /* OdRelation: those that start at other mtds */
} Content;

static gpointer
data_of (const OdRemove *self, guint id)
{
  return gst_analytics_relation_meta_get_mtd_data (self->meta, id);
}

static void
write_relations (const OdRemove *self, GstAnalyticsRelationMeta *meta, const GArray *relations)
{
  guint i;

  for (i = 0; i < relations->len; i++) {
    const OdRelation *relation = &g_array_index (relations, OdRelation, i);
    gint from = self->new_id[relation->from], to = self->new_id[relation->to];

    if (from >= 0 && to >= 0)
      gst_analytics_relation_meta_set_relation (meta, relation->types, (guint) from, (guint) to);
  }
}

static void
add_placeholder (GstAnalyticsRelationMeta *meta)
{
  GstAnalyticsMtd added;

  gst_analytics_relation_meta_add_mtd (meta, &od_relations_placeholder, 0, &added);
}

/* Adds placeholders until the next id is not reserved. */
static void
skip_reserved (const OdRemove *self, GstAnalyticsRelationMeta *meta)
{
  while (self->reserved
      && g_hash_table_contains (self->reserved,
          GSIZE_TO_POINTER (gst_analytics_relation_get_length (meta))))
    add_placeholder (meta);
}

/* Appends the content to a meta, which has no mtds if ids must not change. The data of the
 * mtds follow each other in `saved`, or are still in self->meta if that is NULL. */
static void
write_content (OdRemove *self, GstAnalyticsRelationMeta *meta, const Content *content,
    const guint8 *saved)
{
  GstAnalyticsMtd added;
  guint i, k = 0;

  for (i = 0; i < self->count; i++)
    self->new_id[i] = -1;
  for (i = 0; i < content->count; i++) {
    const KeptMtd *kept = &content->mtds[i];
    gpointer data;

    for (; self->keep_ids && k < kept->id; k++)
      add_placeholder (meta);
    if (self->marks[kept->id] & IS_OD)
      skip_reserved (self, meta);
    data = gst_analytics_relation_meta_add_mtd (meta, kept->impl, kept->size, &added);
    if (kept->size > 0)
      memcpy (data, saved ? saved : data_of (self, kept->id), kept->size);
    if (saved)
      saved += GST_ROUND_UP_8 (kept->size);
    od_relations_set_tag (&added, kept->tag);
    self->new_id[kept->id] = (gint) added.id;
    k++;
  }
  write_relations (self, meta, content->od_relations);
  write_relations (self, meta, content->relations);
}

/* Lets the kept mtds that own something copy it into the meta of `target`. */
static void
copy_owned (const OdRemove *self, GstAnalyticsRelationMeta *meta, const Content *content,
    GstBuffer *buffer, GstBuffer *target)
{
  GstMetaTransformCopy whole = { FALSE, 0, (gsize) -1 };
  guint i;

  for (i = 0; i < content->count; i++) {
    const KeptMtd *kept = &content->mtds[i];

    if (kept->impl->mtd_meta_transform) {
      GstAnalyticsMtd mtd = { (guint) self->new_id[kept->id], meta };
      kept->impl->mtd_meta_transform (target, &mtd, buffer, _gst_meta_transform_copy, &whole);
    }
  }
}

/* Adds a new meta with the content to `target`. */
static void
copy (OdRemove *self, const Content *content, GstBuffer *buffer, GstBuffer *target)
{
  GstAnalyticsRelationMetaInitParams params;
  GstAnalyticsRelationMeta *meta;
  guint new_count = content->count;

  if (self->keep_ids && new_count > 0)
    new_count = content->mtds[new_count - 1].id + 1;
  /* the exact number, because growing the matrix is slow; but not 0, because
   * GStreamer cannot read a meta of order 0 */
  params.initial_relation_order = MAX (new_count + self->extra, 1);
  params.initial_buf_size = content->bytes + (new_count + 1) * 32 + self->extra * 64;
  meta = gst_buffer_add_analytics_relation_meta_full (target, &params);
  write_content (self, meta, content, NULL);
  copy_owned (self, meta, content, buffer, target);
}

/* Returns whether the kept mtds can be written back into the meta after it was
 * cleared. They cannot if one of them owns something, which clearing would free, or
 * if mtds will be added, because the meta would have to grow. */
static gboolean
can_be_refilled (const OdRemove *self, const Content *content)
{
  guint i;

  if (((const GstMeta *) self->meta)->info->clear_func == NULL || self->extra > 0)
    return FALSE;
  for (i = 0; i < content->count; i++)
    if (content->mtds[i].impl->mtd_meta_clear)
      return FALSE;
  return TRUE;
}

/* Clears the meta and writes the content back. */
static void
refill (OdRemove *self, const Content *content, GstBuffer *buffer)
{
  GstMeta *meta = (GstMeta *) self->meta;
  guint8 *saved = g_malloc (content->bytes + 1), *next = saved;
  guint i;

  for (i = 0; i < content->count; i++) {
    memcpy (next, data_of (self, content->mtds[i].id), content->mtds[i].size);
    next += GST_ROUND_UP_8 (content->mtds[i].size);
  }
  meta->info->clear_func (buffer, meta);
  write_content (self, self->meta, content, saved);
  g_free (saved);
}

/* Replaces the meta by a new one, which is built on a temporary buffer. */
static void
replace (OdRemove *self, const Content *content, GstBuffer *buffer)
{
  GstMetaTransformCopy whole = { FALSE, 0, (gsize) -1 };
  GstBuffer *temporary = gst_buffer_new ();
  GstMeta *meta;

  copy (self, content, buffer, temporary);
  gst_buffer_remove_meta (buffer, (GstMeta *) self->meta);
  meta = (GstMeta *) gst_buffer_get_analytics_relation_meta (temporary);
  meta->info->transform_func (buffer, meta, temporary, _gst_meta_transform_copy, &whole);
  gst_buffer_unref (temporary);
  self->meta = gst_buffer_get_analytics_relation_meta (buffer);
}

/* Rebuilds the meta on `target`, or in place if that is NULL; or appends its content to
 * `meta`, the meta of `target`, unless that is NULL. */
static void
rebuild (OdRemove *self, GstBuffer *buffer, GstBuffer *target, GstAnalyticsRelationMeta *meta)
{
  GArray *own_relations = NULL, *relations = g_array_new (FALSE, FALSE, sizeof (OdRelation));
  Content content = { .od_relations = self->relations, .relations = relations };
  KeptMtd *mtds;

  if (content.od_relations == NULL)
    content.od_relations = own_relations = relations_of_ods (self);
  decide (self, content.od_relations, relations);
  name_lost (self);
  content.mtds = mtds = list_kept (self, &content.count, &content.bytes);
  if (meta) {
    self->keep_ids = FALSE;
    write_content (self, meta, &content, NULL);
    copy_owned (self, meta, &content, buffer, target);
  } else if (target)
    copy (self, &content, buffer, target);
  else if (can_be_refilled (self, &content))
    refill (self, &content, buffer);
  else
    replace (self, &content, buffer);
  if (own_relations)
    g_array_unref (own_relations);
  g_array_unref (relations);
  for (guint i = 0; i < content.count; i++)
    g_free (mtds[i].tag);
  g_free (mtds);
}

void
od_remove_copy (OdRemove *self, GstBuffer *buffer, GstBuffer *target)
{
  rebuild (self, buffer, target, NULL);
}

guint
od_remove_bound (const OdRemove *self)
{
  guint i, count = 0;

  for (i = 0; i < self->count; i++)
    count += self->remove[i] == 0;
  return count;
}

void
od_remove_append (OdRemove *self, GstBuffer *buffer, GstAnalyticsRelationMeta *meta,
    GstBuffer *target)
{
  rebuild (self, buffer, target, meta);
}

GstAnalyticsRelationMeta *
od_remove_in_place (OdRemove *self, GstBuffer *buffer)
{
  rebuild (self, buffer, NULL, NULL);
  return self->meta;
}
