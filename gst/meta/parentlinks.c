/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* parentlinks: one pass with a hash table for ids, and one along each chain of parents. */
#include "parentlinks.h"

#include "box.h"

void
parent_links_find (GArray *boxes)
{
  GHashTable *by_id = g_hash_table_new (NULL, NULL);
  guint i;

  for (i = boxes->len; i-- > 0;) {
    Box *box = &g_array_index (boxes, Box, i);
    if (box->region_id != 0)
      g_hash_table_insert (by_id, GINT_TO_POINTER (box->region_id), GUINT_TO_POINTER (i + 1));
  }
  for (i = 0; i < boxes->len; i++) {
    Box *box = &g_array_index (boxes, Box, i);
    if (box->parent_id != 0 && box->parent_id != box->region_id)
      box->parent = (gint) GPOINTER_TO_UINT (
                        g_hash_table_lookup (by_id, GINT_TO_POINTER (box->parent_id)))
          - 1;
  }
  g_hash_table_unref (by_id);
}

void
parent_links_break_rings (GArray *boxes)
{
  guint8 *seen = g_new0 (guint8, boxes->len); /* 1: in this chain, 2: done */
  guint i;

  for (i = 0; i < boxes->len; i++) {
    gint k, next;

    for (k = i; k >= 0 && seen[k] == 0; k = g_array_index (boxes, Box, k).parent)
      seen[k] = 1;
    /* the chain has reached a box of its own, so box k is on a ring */
    while (k >= 0 && seen[k] == 1 && (next = g_array_index (boxes, Box, k).parent) >= 0) {
      g_array_index (boxes, Box, k).parent = -1;
      k = next;
    }
    for (k = i; k >= 0 && seen[k] == 1; k = g_array_index (boxes, Box, k).parent)
      seen[k] = 2;
  }
  g_free (seen);
}
