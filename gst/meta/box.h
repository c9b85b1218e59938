/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * box: one detection in memory, whether it was read from metadata or from a file.
 */
#pragma once

#include <glib.h>

#include <math.h>

G_BEGIN_DECLS

typedef enum
{
  BOX_HAS_NORMALIZED = 1 << 0, /* x_min .. y_max are valid */
  BOX_HAS_CONFIDENCE = 1 << 1,
  BOX_HAS_LABEL_ID = 1 << 2,
  BOX_HAS_TRACK_ID = 1 << 3,
  /* Set by code that changes a box after reading, for box_rewrite: */
  BOX_MOVED = 1 << 4,    /* x1 .. y2 or rotation changed */
  BOX_RESCORED = 1 << 5, /* confidence changed; set BOX_HAS_CONFIDENCE too */
  /* A border of its branch's picture cuts the box; another branch may show the rest. Reading sets
   * it with BOX_READ_CUT; box_append writes it: */
  BOX_CUT = 1 << 7,
  /* Flipped, turned or clipped, so that positions relative to the box do not fit any more; set by
   * box_map_move_all: */
  BOX_RESHAPED = 1 << 8,
  BOX_TRACKED = 1 << 9, /* track_id is new, for box_rewrite; set BOX_HAS_TRACK_ID too */
  BOX_LOST = 1 << 10,   /* the detector did not find the box; for box_meta_attach */
} BoxFlags;

/* The decision of an nmsfilter about a box. BOX_STATE_NONE means that it made none. */
typedef enum
{
  BOX_STATE_NONE,
  BOX_STATE_KEPT,
  BOX_STATE_SUPPRESSED,
  BOX_STATE_BELOW_SCORE,
  BOX_STATE_NOT_CANDIDATE,
  BOX_STATE_OVER_CAP,
  BOX_STATE_TOO_FEW_NEIGHBORS,
  BOX_STATE_NO_SCORE,
  BOX_STATE_INVALID,
  BOX_STATE_TOO_SMALL,
  BOX_STATE_TOO_LARGE,
  BOX_STATE_WRONG_ASPECT_RATIO,
  BOX_STATE_OUTSIDE_ROI,
  BOX_STATE_DROPPED_CLASS,
  BOX_STATE_CUT_BY_EDGE,
  BOX_STATE_UNCONFIRMED,
  BOX_STATE_COUNT, /* the number of states */
} BoxState;

/* The optional fields that reading fills. It always fills the geometry, the label, the
 * ids of the regions and the confidence. */
typedef enum
{
  BOX_READ_TRACK = 1 << 0,    /* track_id */
  BOX_READ_STATE = 1 << 1,    /* state, suppressed_by */
  BOX_READ_LEAN = 1 << 2,     /* label_id only for boxes without a label, because
                                 * the lookup takes a tenth of the reading time */
  BOX_READ_RECORDED = 1 << 3, /* region_id and parent_id as they were recorded */
  BOX_READ_SOURCE = 1 << 4,   /* source */
  BOX_READ_CUT = 1 << 5,      /* BOX_CUT */
} BoxReadFlags;

#define BOX_NO_POSITION G_MAXUINT

typedef struct
{
  /* Pixels: normalized coordinates * frame size if BOX_HAS_NORMALIZED, else the
   * integers. May lie outside the frame. */
  gdouble x1, y1, x2, y2;
  /* valid if BOX_HAS_NORMALIZED: 0..1 is the frame; may lie outside it */
  gdouble x_min, y_min, x_max, y_max;
  /* The integers of the meta or the file; x and y may be negative. */
  gint64 x, y, w, h;
  gdouble confidence; /* valid if BOX_HAS_CONFIDENCE is set */
  gdouble rotation;   /* radians by which the coordinates above are rotated
                                 * about the centre, clockwise; 0 if upright */
  guint flags;        /* BoxFlags */
  GQuark label;       /* 0 if it has none */
  GQuark source;      /* name of the branch that box_append took it from; 0 if there is none */
  gint label_id;      /* valid if BOX_HAS_LABEL_ID is set */
  gint region_id;     /* 0 if unset */
  gint parent_id;     /* region_id of the box this is a part of; 0 if unset */
  gint track_id;      /* valid if BOX_HAS_TRACK_ID is set */
  gint parent;        /* index of the parent in the same array, or -1 */
  BoxState state;
  gint suppressed_by; /* index of the suppressor in the same array, or -1 */
  guint position;     /* used by boxmeta.c: position of its region among the
                                 * regions on the buffer, or BOX_NO_POSITION */
  gint od;            /* used by meta/: the id of its OD, or -1 */
} Box;

/* Makes a box of integers, with no other field set; field by field, because clearing the whole box
 * first takes as long as the rest of reading it. */
static inline void
box_init (Box *box, gint64 x, gint64 y, gint64 w, gint64 h)
{
  box->x = x;
  box->y = y;
  box->w = w;
  box->h = h;
  box->x1 = (gdouble) x;
  box->y1 = (gdouble) y;
  box->x2 = (gdouble) (x + w);
  box->y2 = (gdouble) (y + h);
  box->x_min = box->y_min = box->x_max = box->y_max = 0;
  box->confidence = box->rotation = 0;
  box->flags = 0;
  box->label = box->source = 0;
  box->label_id = box->region_id = box->parent_id = box->track_id = 0;
  box->parent = -1;
  box->state = BOX_STATE_NONE;
  box->suppressed_by = -1;
  box->position = BOX_NO_POSITION;
  box->od = -1;
}

/* Converts a state to text and back: "kept", "suppressed", "below-score", ...; NULL for
 * BOX_STATE_NONE, and BOX_STATE_NONE for NULL or for text that does not name a state. */
const gchar *box_state_name (BoxState state);
BoxState box_state_from_name (const gchar *name);

/* Returns whether an nmsfilter with action=remove removes a box in this state. */
static inline gboolean
box_state_is_drop (BoxState state)
{
  return state != BOX_STATE_NONE && state != BOX_STATE_KEPT;
}

/* Returns what box_extent_agrees returns, for an extent that leaves 0..size or is not
 * finite. Cold, so that the compiler keeps the path of other extents free of jumps. */
__attribute__ ((cold)) gboolean box_extent_agrees_clipped (gdouble a, gdouble b, gint64 start,
    gint64 length, gint size);

/* Returns whether the extent a..b (in pixels, in either order) agrees with the integers:
 * both clipped to 0..size, start and length differ by at most 1 pixel. Returns FALSE if
 * a or b is not finite. This rule decides, in metadata and in files, whether normalized
 * coordinates are used instead of integers. */
static inline gboolean
box_extent_agrees (gdouble a, gdouble b, gint64 start, gint64 length, gint size)
{
  if (G_UNLIKELY (
          !(a >= 0 && a <= b && b <= size && start >= 0 && length >= 0 && start + length <= size)))
    return box_extent_agrees_clipped (a, b, start, length, size);
  return fabs (a - start) <= 1.0 && fabs ((b - a) - length) <= 1.0;
}

/* Returns the smallest upright box around a box: a copy with x1 <= x2, y1 <= y2 and rotation 0. */
Box box_upright (const Box *box);

/* Derives the integers x y w h and the normalized coordinates from x1 .. y2. Pixels are
 * rounded to the nearest integers, and a length above 0 to at least 1: rounding outward
 * could enlarge a length by almost 2, and reading ignores normalized coordinates whose
 * length differs by more than 1 pixel from the integers. width and height are those of
 * the frame; if one is 0 (unknown), clears BOX_HAS_NORMALIZED instead. */
void box_place (Box *box, gint width, gint height);

G_END_DECLS
