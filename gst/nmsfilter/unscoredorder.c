/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unscoredorder: sorts with GLib's merge sort, which has no bad case. Every tie
 * is broken, so the result does not depend on the algorithm.
 */
#include "unscoredorder.h"

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static gint
compare (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const UnscoredOrderKey *left = a, *right = b;
  const Box *boxes = user_data;
  gint order = COMPARE (left->group, right->group);

  if (order == 0)
    order = COMPARE (right->value, left->value);
  if (order == 0 && (left->group & UNSCORED_ORDER_NO_SCORE)) {
    const Box *l = &boxes[left->index], *r = &boxes[right->index];

    order = COMPARE (l->x1, r->x1);
    if (order == 0)
      order = COMPARE (l->y1, r->y1);
    if (order == 0)
      order = COMPARE (l->x2, r->x2); /* the width, as x1 is equal */
    if (order == 0)
      order = COMPARE (l->y2, r->y2);
  }
  return order ? order : COMPARE (left->index, right->index);
}

void
unscored_order_sort (UnscoredOrderKey *keys, guint count, const Box *boxes)
{
  g_qsort_with_data (keys, (gint) count, sizeof *keys, compare, (gpointer) boxes);
}
