/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxparents: the parts are listed behind their parents, so that one loop drops a part of a part.
 * A second pass is rare, because it takes a part that was kept while its parent was dropped.
 * There is no third one, because some frames would never settle: a part suppresses the box that
 * suppresses its parent's suppressor, and so on.
 */
#include "boxparents.h"

#include <string.h>

struct _BoxParents
{
  GArray *parts;  /* guint32: indices of boxes with a parent, each behind its parent */
  GArray *first;  /* guint8 (a BoxState): the state of each part before the first pass */
  GArray *listed; /* guint8 for each box: 1 if it is in parts */
};

BoxParents *
box_parents_new (void)
{
  BoxParents *parents = g_new0 (BoxParents, 1);

  parents->parts = g_array_new (FALSE, FALSE, sizeof (guint32));
  parents->first = g_array_new (FALSE, FALSE, sizeof (guint8));
  parents->listed = g_array_new (FALSE, FALSE, sizeof (guint8));
  return parents;
}

void
box_parents_free (BoxParents *parents)
{
  g_array_unref (parents->parts);
  g_array_unref (parents->first);
  g_array_unref (parents->listed);
  g_free (parents);
}

static void
reverse (GArray *array, guint from)
{
  guint to;

  for (to = array->len; from + 1 < to; from++) {
    guint32 *data = (guint32 *) array->data;
    guint32 swap = data[from];

    data[from] = data[--to];
    data[to] = swap;
  }
}

void
box_parents_begin (BoxParents *parents, const GArray *boxes)
{
  guint i;

  g_array_set_size (parents->parts, 0);
  g_array_set_size (parents->first, 0);
  g_array_set_size (parents->listed, boxes->len);
  memset (parents->listed->data, 0, boxes->len);
  for (i = 0; i < boxes->len; i++) {
    guint from = parents->parts->len;
    guint32 k = i;

    /* Appends the part, its parent, the parent's parent and so on, then reverses their order. */
    while (!g_array_index (parents->listed, guint8, k)) {
      gint parent = g_array_index (boxes, Box, k).parent;

      if (parent < 0)
        break;
      g_array_index (parents->listed, guint8, k) = 1;
      g_array_append_val (parents->parts, k);
      k = (guint32) parent;
    }
    reverse (parents->parts, from);
  }
  for (i = 0; i < parents->parts->len; i++) {
    guint8 state =
        (guint8) g_array_index (boxes, Box, g_array_index (parents->parts, guint32, i)).state;
    g_array_append_val (parents->first, state);
  }
}

/* Drops a part whose parent is dropped, unless it is dropped already, or the parent is dropped
 * for its label, which is not that of the part. Returns whether it did. */
static gboolean
follow (GArray *boxes, Box *box)
{
  const Box *parent = &g_array_index (boxes, Box, box->parent);

  if (box_state_is_drop (box->state) || !box_state_is_drop (parent->state)
      || parent->state == BOX_STATE_DROPPED_CLASS)
    return FALSE;
  box->state = parent->state;
  box->suppressed_by = parent->suppressed_by;
  return TRUE;
}

void
box_parents_drop (BoxParents *parents, GArray *boxes)
{
  for (guint i = 0; i < parents->parts->len; i++) {
    Box *box = &g_array_index (boxes, Box, g_array_index (parents->parts, guint32, i));

    if (box->state == BOX_STATE_KEPT)
      follow (boxes, box);
  }
}

gboolean
box_parents_exclude (BoxParents *parents, GArray *boxes, const gint32 *fed_at, guint8 *exclude)
{
  gboolean excluded = FALSE;

  for (guint i = 0; i < parents->parts->len; i++) {
    const guint32 k = g_array_index (parents->parts, guint32, i);

    if (follow (boxes, &g_array_index (boxes, Box, k)) && fed_at[k] >= 0) {
      exclude[fed_at[k]] = 1;
      excluded = TRUE;
    }
  }
  return excluded;
}

void
box_parents_end (BoxParents *parents, GArray *boxes, const gint32 *fed_at, const guint8 *exclude)
{
  for (guint i = 0; i < parents->parts->len; i++) {
    const guint32 k = g_array_index (parents->parts, guint32, i);
    Box *box = &g_array_index (boxes, Box, k);
    const gboolean left_out = fed_at[k] >= 0 && exclude[fed_at[k]]
        && box->state != BOX_STATE_INVALID;
    const BoxState before = box->state;

    if (fed_at[k] < 0) /* it took part in no pass */
      box->state = (BoxState) g_array_index (parents->first, guint8, i);
    else if (left_out)
      box->state = BOX_STATE_KEPT;
    if (fed_at[k] < 0 || left_out)
      box->suppressed_by = -1;
    if (!follow (boxes, box) && left_out)
      box->state = before;
  }
}
