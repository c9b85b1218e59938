/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prefilter: decides before the suppression which boxes are dropped for their class, size or
 * position, and which ones a border cuts. A box that it drops suppresses no other box and
 * counts neither as a neighbor nor towards a limit.
 */
#pragma once

#include "boxlimits.h"
#include "classoptions.h"
#include "meta/framelength.h"

G_BEGIN_DECLS

typedef enum
{
  EDGE_POLICY_NONE = 0,
  EDGE_POLICY_LOWER_RANK = 1,
  EDGE_POLICY_DROP = 2,
} EdgePolicy;

/* The rules. They hold references: prefilter_copy copies them, prefilter_clear frees them. */
typedef struct
{
  BoxLimits limits;
  ClassSelection *keep_classes; /* NULL: all classes */
  ClassSelection *drop_classes; /* NULL: none */
  gboolean has_region;
  FrameRegion region; /* if has_region */
  EdgePolicy edge_policy;
  FrameLength edge_margin;
  guint edge_sides; /* EdgeCutSides that cut boxes */
} Prefilter;

/* Writes a copy that holds references of its own. */
void prefilter_copy (const Prefilter *self, Prefilter *copy);

/* Releases the references. */
void prefilter_clear (Prefilter *self);

/* Returns whether any rule, or any limit of a class in `options` (may be NULL), applies. */
gboolean prefilter_is_active (const Prefilter *self, const ClassOptions *options);

/* Returns whether a rule applies only to frames of a known size: a region of interest in per
 * cent, or an edge policy without a region of interest. */
gboolean prefilter_needs_size (const Prefilter *self);

/* The rules in pixels of one frame. */
typedef struct
{
  const Prefilter *rules;
  const ClassOptions *options;
  gboolean has_region, has_border;
  BoxRectangle region;  /* if has_region */
  EdgeCutBorder border; /* if has_border: of the region, or of the frame */
} PrefilterFrame;

/* Begins a frame of this size, 0 if it is unknown; then the rules that need it do not apply.
 * `rules` and `options` (may be NULL) must live as long as `frame` is used. */
void prefilter_begin (PrefilterFrame *frame, const Prefilter *rules, const ClassOptions *options,
    gint width, gint height);

/* Returns the state of a box that is dropped, or BOX_STATE_KEPT. Sets BOX_RANKS_LOWER of a
 * box that ranks lower. The coordinates of the box must be finite. */
BoxState prefilter_check (const PrefilterFrame *frame, Box *box);

G_END_DECLS
