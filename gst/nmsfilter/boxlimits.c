/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxlimits: compares in binary32, because the coordinates are products of the frame size:
 * their rounding errors must not drop a box that is exactly at a limit.
 */
#include "boxlimits.h"

#include <string.h>

static const gchar *const names[BOX_LIMIT_COUNT] = {
  [BOX_LIMIT_MIN_WIDTH] = "min-width",
  [BOX_LIMIT_MAX_WIDTH] = "max-width",
  [BOX_LIMIT_MIN_HEIGHT] = "min-height",
  [BOX_LIMIT_MAX_HEIGHT] = "max-height",
  [BOX_LIMIT_MIN_AREA] = "min-area",
  [BOX_LIMIT_MAX_AREA] = "max-area",
  [BOX_LIMIT_MIN_ASPECT_RATIO] = "min-aspect-ratio",
  [BOX_LIMIT_MAX_ASPECT_RATIO] = "max-aspect-ratio",
};

const gchar *
box_limit_name (BoxLimit limit)
{
  return names[limit];
}

BoxLimit
box_limit_from_name (const gchar *name)
{
  guint i;

  for (i = 0; i < BOX_LIMIT_COUNT; i++)
    if (strcmp (name, names[i]) == 0)
      break;
  return (BoxLimit) i;
}

void
box_limits_init (BoxLimits *limits, gfloat value)
{
  guint i;

  for (i = 0; i < BOX_LIMIT_COUNT; i++)
    limits->limit[i] = value;
}

gboolean
box_limits_differ (const BoxLimits *limits, gfloat value)
{
  guint i;

  for (i = 0; i < BOX_LIMIT_COUNT; i++)
    if (limits->limit[i] != value)
      return TRUE;
  return FALSE;
}

BoxLimit
box_limits_contradiction (const BoxLimits *limits)
{
  guint i;

  for (i = 0; i < BOX_LIMIT_COUNT; i += 2)
    if (limits->limit[i + 1] > 0 && limits->limit[i] > limits->limit[i + 1])
      break;
  return (BoxLimit) i;
}

static inline gfloat
limit_of (const BoxLimits *general, const BoxLimits *of_label, BoxLimit limit)
{
  if (of_label && of_label->limit[limit] != BOX_LIMIT_UNSET)
    return of_label->limit[limit];
  return general->limit[limit];
}

BoxState
box_limits_check (const BoxLimits *general, const BoxLimits *of_label, const Box *box)
{
  const gdouble width = fabs (box->x2 - box->x1), height = fabs (box->y2 - box->y1);
  const gfloat sizes[] = {
    (gfloat) width, (gfloat) height, (gfloat) (width * height),
    (gfloat) (width / height) /* NaN for a point, which no limit drops */
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const gboolean ratio = 2 * i == BOX_LIMIT_MIN_ASPECT_RATIO;
    const gfloat least = limit_of (general, of_label, (BoxLimit) (2 * i));
    const gfloat most = limit_of (general, of_label, (BoxLimit) (2 * i + 1));

    if (sizes[i] < least)
      return ratio ? BOX_STATE_WRONG_ASPECT_RATIO : BOX_STATE_TOO_SMALL;
    if (most > 0 && sizes[i] > most)
      return ratio ? BOX_STATE_WRONG_ASPECT_RATIO : BOX_STATE_TOO_LARGE;
  }
  return BOX_STATE_KEPT;
}
