/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxlimits: the smallest and the largest size of a box. Width and height are pixels along
 * the sides of the box, before its rotation; the area is their product, the aspect ratio is
 * width / height. A box exactly at a limit passes.
 */
#pragma once

#include "meta/box.h"

G_BEGIN_DECLS

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
  gfloat limit[BOX_LIMIT_COUNT]; /* 0: no limit. Those of a class may also be
                                         * BOX_LIMIT_UNSET: the limit of all classes applies */
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

/* Returns BOX_STATE_KEPT, BOX_STATE_TOO_SMALL, BOX_STATE_TOO_LARGE or
 * BOX_STATE_WRONG_ASPECT_RATIO. The limits of its class (NULL: none) replace the general
 * ones. The coordinates of the box must be finite. */
BoxState box_limits_check (const BoxLimits *general, const BoxLimits *of_label, const Box *box);

G_END_DECLS
