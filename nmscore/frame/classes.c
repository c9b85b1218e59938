/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * classes: maps class ids, which may be any numbers, to entries of a table: the classes that
 * have options of their own or whose kept boxes are counted. Small ids index the table
 * directly, other ids are hashed. Memory depends on the number of boxes, not on the size of an id.
 */
#include "call/call.h"
#include "geometry/overlap.h"

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

uint32_t
nms__class_entry (nms__classes *c, int32_t id)
{
  uint32_t *bucket = find (c, id);
  if (!*bucket) {
    *bucket = c->count++;
    c->entry[*bucket] = c->entry[0];
    c->entry[*bucket].id = id;
    c->entry[*bucket].partition = *bucket;
  }
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

/* Replaces the group of each class with options by the number of an entry. Returns whether one is
 * not the class itself. */
static int
number_groups (nms__classes *c, size_t listed)
{
  int grouped = 0;

  for (uint32_t i = 1; i <= listed; i++) {
    c->entry[i].partition = nms__class_entry (c, (int32_t) c->entry[i].partition);
    grouped |= c->entry[i].partition != i;
  }
  return grouped;
}

/* Leaves space for an entry for each box, because each may have a class without options, and for
 * each group. */
int
nms__classes_fill (nms_context *ctx, nms__classes *c, const nms__settings *settings,
    const nms_column *ids, size_t count, nms__bounds *bounds, int *grouped)
{
  const size_t listed = settings->options.class_option_count;
  double lowest = settings->limit, highest = settings->limit;
  uint32_t bits = 0;

  for (size_t i = 1; i <= listed; i++) {
    const double limit = c->entry[i].limit;
    bits |= (uint32_t) c->entry[i].id | c->entry[i].partition;
    lowest = limit < lowest ? limit : lowest;
    highest = limit > highest ? limit : highest;
  }
  for (size_t i = 0; ids->data && i < count; i++) {
    int32_t id;
    nms__load (&id, ids, i, sizeof id);
    bits |= (uint32_t) id;
  }
  clear (c, 2 * listed + count + 1, bits);
  for (; c->count <= listed; c->count++) {
    const int32_t id = c->entry[c->count].id;
    uint32_t *bucket = find (c, id);
    if (*bucket)
      return nms__fail (ctx, NMS_ERROR_DUPLICATE_CLASS, "class %ld is listed twice", (long) id);
    *bucket = c->count;
  }
  *grouped = number_groups (c, listed);
  *bounds = nms__bounds_of (lowest, highest);
  return NMS_OK;
}
