/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * steadylinks: links the boxes of consecutive frames of one stream, and states what becomes of each
 * box. All numbers are binary32 and computed in a fixed order; tests/gst/steadyreference.py is the
 * same definition.
 *
 * One frame, in this order. The unit of time is a frame.
 *
 * 1. Each link moves on by its velocity.
 * 2. A box is matched with a link of the same label if their IoU is above the threshold: the pair
 *    with the highest IoU first, then the older link, then the first box. A box takes part with the
 *    STEADY_LINKS_NEAR links that overlap it most. Once a box had the id of a tracker, boxes are
 *    matched by these ids only, until a restart.
 * 3. A matched link takes the place of its box by double exponential smoothing (Brown 1959) of the
 *    centre, as the g-h filter of which the gains are 1 - s^2 and (1 - s)^2 / frames since the last
 *    box, and by exponential smoothing with the gain 1 - s of width and height.
 * 4. A box without a link begins one. A link is confirmed, until it ends, once `confirm` of the
 *    last `window` frames had a box for it; in the first frames after a restart, one in each. A
 *    link that is not confirmed ends when the window has no box; a confirmed one without a box is
 *    held, and ends after `hold` frames or outside of the frame.
 *
 * With lookahead a frame waits for later ones, whose outcome decides: a box stays if its link is
 * confirmed until then, and a link is held in a frame unless it ended until then without another
 * box. Places and scores are those of the frame itself.
 */
#pragma once

#include "boxdecision.h"

G_BEGIN_DECLS

/* Links with which one box may be matched. */
#define STEADY_LINKS_NEAR 8

/* Largest number of boxes of a frame. A frame with more is left as it is, and restarts the links.
 * If there are more than twice as many links, those without a box in the last frame end. */
#define STEADY_LINKS_MOST 4096

typedef enum
{
  GST_STEADY_SCORE_BOX,
  GST_STEADY_SCORE_MEAN,
  GST_STEADY_SCORE_BEST,
} GstSteadyScore;

typedef struct
{
  gfloat iou_threshold;  /* 0..1 */
  guint confirm, window; /* frames, 1..32; a larger confirm counts as window */
  guint hold;            /* frames */
  gfloat smoothing;      /* 0 to below 1 */
  gint score;            /* GstSteadyScore */
} SteadySettings;

typedef struct _SteadyLinks SteadyLinks;

SteadyLinks *steady_links_new (void);
void steady_links_free (SteadyLinks *self);

/* Forgets all links; their ids are not used again. If there were any, the next frame counts a
 * restart. */
void steady_links_restart (SteadyLinks *self);

/* Links the boxes of the next frame of width x height, 0 if unknown. Some boxes take no part and
 * get BOX_STATE_NONE: boxes that were dropped (box_state_is_drop), boxes without an area or beyond
 * 1e9 pixels and, if a tracker gives ids, boxes without an id or with the id of an earlier box.
 * Each other box becomes BOX_STATE_UNCONFIRMED or BOX_STATE_KEPT; a kept box gets its place, score
 * and track, with flags for box_rewrite. Writes into `held` (a GArray of Box) the boxes of held
 * links, with `position` and `od` of the last box of the link. Returns the counts of the frame. */
BoxCounts steady_links_frame (SteadyLinks *self, const SteadySettings *settings, GArray *boxes,
    gint width, gint height, GArray *held);

/* The decisions about the boxes of a frame, which later frames may still change. */
typedef struct _SteadyFrame SteadyFrame;

/* Does what steady_links_frame does for a frame that waits for later frames. Use only one of these
 * two functions with a SteadyLinks. */
SteadyFrame *steady_links_look (SteadyLinks *self, const SteadySettings *settings, GArray *boxes,
    gint width, gint height);
void steady_frame_free (SteadyFrame *frame);

/* Writes the decisions into the boxes of the same frame, which were read again, and into `held`.
 * Returns the counts of the frame. All is as in steady_links_frame. */
BoxCounts steady_frame_decide (const SteadyFrame *frame, GArray *boxes, GArray *held);

G_END_DECLS
