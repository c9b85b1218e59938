/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * classes: maps class ids, which may be any numbers, to entries of a table: the classes that
 * have options of their own or whose kept boxes are counted. Small ids index the table
 * directly, other ids are hashed. Memory follows the number of boxes, never the size of an id.
 */
#include "internal.h"
#include "overlap.h"

/* Returns a power of two that leaves at least a third of the buckets free. */
uint32_t
nms__class_buckets (size_t entries)
{
  uint32_t n = 8;
  while ((uint64_t) n * 2 < (uint64_t) entries * 3)
    n *= 2;
  return n;
}

/* Returns the bucket of a class id, or the free bucket in which it belongs. The hash factor is
 * odd and secret, so that no caller can choose ids that collide; results do not depend on it. */
static uint32_t *
find (nms__classes *c, int32_t id)
{
  if (c->direct)
    return &c->bucket[(uint32_t) id];
  uint32_t i = (uint32_t) ((uint64_t) (uint32_t) id * c->factor >> c->shift);
  while (c->bucket[i] && c->entry[c->bucket[i]].id != id)
    i = (i + 1) & c->bucket_mask;
  return &c->bucket[i];
}

static nms__class *
add (nms__classes *c, uint32_t *bucket, int32_t id)
{
  *bucket = c->count++;
  c->entry[*bucket] = c->entry[0];
  c->entry[*bucket].id = id;
  return &c->entry[*bucket];
}

uint32_t
nms__class_entry (nms__classes *c, int32_t id)
{
  uint32_t *bucket = find (c, id);
  if (!*bucket)
    add (c, bucket, id);
  return *bucket;
}

/* Empties the table. `bits` is the bitwise OR of all class ids. */
static void
clear (nms__classes *c, size_t entries, uint32_t bits)
{
  c->bucket_mask = nms__class_buckets (entries) - 1;
  c->shift = 64 - __builtin_popcount (c->bucket_mask);
  c->direct = bits <= c->bucket_mask;
  memset (c->bucket, 0, ((size_t) c->bucket_mask + 1) * sizeof *c->bucket);
  c->count = 1;
}

/* Empties the table for up to `boxes` classes. */
void
nms__classes_start (nms__classes *c, size_t boxes)
{
  clear (c, boxes + 1, UINT32_MAX);
  c->entry[0] = (nms__class) { 0 };
}

static uint32_t
id_bits (const nms__settings *settings, const nms_boxes *boxes)
{
  const char *at = (const char *) settings->options.class_options;
  uint32_t bits = 0, id;

  for (size_t i = 0; boxes->class_id.data && i < boxes->count; i++) {
    nms__load (&id, &boxes->class_id, i, sizeof id);
    bits |= id;
  }
  for (size_t i = 0; i < settings->options.class_option_count; i++) {
    memcpy (&id, at + offsetof (nms_class_options, class_id), sizeof id);
    at += settings->class_option_stride;
    bits |= id;
  }
  return bits;
}

/* Starts the table with the common entry and the classes of the options. Its arrays have a free
 * element for each box of the call. */
int
nms__classes_fill (nms_context *ctx, nms__classes *c, const nms__settings *settings,
    const nms_boxes *boxes, nms__bounds *bounds)
{
  const nms_options *o = &settings->options;
  const char *at = (const char *) o->class_options;
  const uint64_t none = UINT64_MAX;
  double lowest = settings->limit, highest = settings->limit;

  clear (c, o->class_option_count + boxes->count + 1, id_bits (settings, boxes));
  c->entry[0] = (nms__class) { .score_threshold = o->score_threshold, .limit = settings->limit,
    .cap = o->max_per_class ? o->max_per_class : none };

  for (size_t i = 0; i < o->class_option_count; i++, at += settings->class_option_stride) {
    nms_class_options options;
    memcpy (&options, at, sizeof options);
    uint32_t *bucket = find (c, options.class_id);
    if (*bucket)
      return nms__fail (ctx, NMS_ERROR_DUPLICATE_CLASS, "class %ld is listed twice",
          (long) options.class_id);
    nms__class *entry = add (c, bucket, options.class_id);
    if (options.set & NMS_CLASS_IOU_THRESHOLD)
      entry->limit = nms__limit (options.iou_threshold, o->inclusive);
    if (options.set & NMS_CLASS_SCORE_THRESHOLD)
      entry->score_threshold = options.score_threshold;
    if (options.set & NMS_CLASS_MAX_DETECTIONS)
      entry->cap = options.max_detections ? options.max_detections : none;
    lowest = entry->limit < lowest ? entry->limit : lowest;
    highest = entry->limit > highest ? entry->limit : highest;
  }
  *bounds = nms__bounds_of (lowest, highest);
  return NMS_OK;
}
