/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxselect: decides which boxes are dropped for their class, size, shape or place, or because an
 * edge cuts them. Each box is judged by itself.
 */
#pragma once

#include "classlist.h"
#include "meta/framelength.h"

G_BEGIN_DECLS

/* ---------------------------------------------------------------- limits of size */

/* The smallest and the largest size of a box. Width and height are pixels along the sides of the
 * box, before its rotation; the area is their product, the aspect ratio is width / height. A box
 * exactly at a limit passes. */
typedef enum
{
  BOX_LIMIT_MIN_WIDTH,
  BOX_LIMIT_MAX_WIDTH,
  BOX_LIMIT_MIN_HEIGHT,
  BOX_LIMIT_MAX_HEIGHT,
  BOX_LIMIT_MIN_AREA,
  BOX_LIMIT_MAX_AREA,
  BOX_LIMIT_MIN_ASPECT_RATIO,
  BOX_LIMIT_MAX_ASPECT_RATIO,
  BOX_LIMIT_COUNT,
} BoxLimit;

#define BOX_LIMIT_UNSET (-1.0f)

typedef struct
{
  gfloat limit[BOX_LIMIT_COUNT]; /* 0 for no limit; in the limits of a class, BOX_LIMIT_UNSET
                                         * for the limit that applies to all classes */
} BoxLimits;

/* Returns the name of a limit: "min-width", ... Properties and class options have it. */
const gchar *box_limit_name (BoxLimit limit);

/* Returns the limit with this name, or BOX_LIMIT_COUNT if there is none. */
BoxLimit box_limit_from_name (const gchar *name);

/* Sets all limits to `value`. */
void box_limits_init (BoxLimits *limits, gfloat value);

/* Returns whether any limit differs from `value`. */
gboolean box_limits_differ (const BoxLimits *limits, gfloat value);

/* Returns the first minimum that exceeds its maximum (the maximum is the next enumerator),
 * so that no box passes, or BOX_LIMIT_COUNT if there is none. */
BoxLimit box_limits_contradiction (const BoxLimits *limits);

/* ------------------------------------------------------------------------ rules */

/* Limits of a class, an entry of class_list_parse. */
typedef struct
{
  GQuark label;
  BoxLimits limits;
} ClassLimits;

/* Immutable and reference-counted by GLib (g_atomic_rc_box_acquire). */
typedef struct
{
  gboolean active; /* a rule may drop boxes */
  BoxLimits limits;
  GArray *class_limits; /* ClassLimits; NULL if no class has limits of its own */
  GArray *keep_classes; /* labels (class_selection_parse); NULL for all classes */
  GArray *drop_classes; /* labels; NULL if no class is dropped */
  gboolean has_region;
  FrameRegion region; /* valid if has_region is set */
  gboolean drop_cut;  /* drop boxes with BOX_CUT */
} BoxSelectRules;

/* Returns the rules with references of their own. */
BoxSelectRules *box_select_rules_new (const BoxSelectRules *rules);
void box_select_rules_unref (BoxSelectRules *rules);

/* ------------------------------------------------------------------------ frames */

/* The rules in pixels of one frame. */
typedef struct
{
  const BoxSelectRules *rules;
  gboolean has_region;
  BoxRectangle region; /* valid if has_region is set */
} BoxSelectFrame;

/* Begins a frame of this size, 0 if it is unknown; then a region in per cent does not apply, and
 * FALSE is returned. `rules` must live as long as `frame` is used. */
gboolean box_select_begin (BoxSelectFrame *frame, const BoxSelectRules *rules, gint width,
    gint height);

/* Returns the state of a box that is dropped, or BOX_STATE_KEPT. The coordinates of the box must be
 * finite. */
BoxState box_select_check (const BoxSelectFrame *frame, const Box *box);

/* Returns whether boxselect or boxsteady gives a box this state. */
static inline gboolean
box_select_is_state (BoxState state)
{
  return state >= BOX_STATE_TOO_SMALL;
}

/* Decides the states of an array of Box: those that are dropped, and the parts (parent) of a
 * dropped box, which get its state unless it is BOX_STATE_DROPPED_CLASS. Boxes with coordinates
 * that are not finite are kept, because only nmsfilter drops invalid boxes. Boxes that were read
 * with a state of nmsfilter that drops them take no part: they get BOX_STATE_NONE. */
void box_select_run (const BoxSelectFrame *frame, GArray *boxes);

G_END_DECLS
