/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxdecision: what becomes of the decided boxes of a frame, and their numbers. */
#pragma once

#include <glib-object.h>

#include "meta/box.h"

G_BEGIN_DECLS

typedef enum
{
  GST_NMS_ACTION_REMOVE = 0,
  GST_NMS_ACTION_TAG = 1,
} GstNmsAction;

#define BOX_DEFAULT_ACTION GST_NMS_ACTION_REMOVE

/* Numbers of boxes of one frame. */
typedef struct
{
  guint by_state[BOX_STATE_COUNT];
  guint unscored;       /* boxes without a confidence */
  guint decided;        /* boxes with a state other than BOX_STATE_NONE */
  guint dropped;        /* boxes that are dropped (box_state_is_drop) */
  guint lower_ranked;   /* boxes that rank below all others because of BOX_CUT */
  guint by_other_class; /* boxes that a box of another class suppresses */
  guint rewritten;      /* boxes with BOX_MOVED, BOX_RESCORED or BOX_TRACKED */
  guint added;          /* boxes that the class's function `add` adds; not in by_state */
  guint confirmed;      /* links of boxes that boxsteady has confirmed */
  guint restarts;       /* times that boxsteady forgot its links */
} BoxCounts;

/* Counts the states of an array of Box and the boxes without a confidence. */
static inline BoxCounts
box_counts_of (const GArray *boxes)
{
  const Box *box = (const Box *) boxes->data;
  BoxCounts counts = { 0 };

  for (guint i = 0; i < boxes->len; i++, box++) {
    counts.by_state[box->state]++;
    counts.unscored += !(box->flags & BOX_HAS_CONFIDENCE);
  }
  counts.decided = boxes->len - counts.by_state[BOX_STATE_NONE];
  counts.dropped = counts.decided - counts.by_state[BOX_STATE_KEPT];
  return counts;
}

/* Returns the property action. */
GParamSpec *box_action_spec (void);

G_END_DECLS
