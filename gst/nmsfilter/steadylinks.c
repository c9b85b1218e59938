/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * steadylinks: expects tens of boxes in a frame, and must work with thousands. Links are sorted by
 * their left edges, so that a box is compared with those only that it may overlap, unless some are
 * as wide as the frame. (nmscore counts neighbors but does not list them.) Only matching is more
 * than one pass over boxes and links.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "steadylinks.h"

#include "nmscore.h"

#define LARGEST 1e9f

/* Has a reference count, because frames that wait ask what became of their links. */
typedef struct
{
  Box last;                               /* the last box of the link */
  gfloat centre[2], size[2], velocity[2]; /* x, y; in pixels, `velocity` in pixels per frame */
  gfloat corners[4];                      /* x1 y1 x2 y2, as predicted for this frame */
  gfloat score;                           /* score of the link so far */
  guint scores;                           /* number of boxes whose scores make up `score` */
  guint hits;                             /* bit i: the link had a box i frames ago */
  guint missed;                           /* frames since the last box */
  gint id;                                /* 0 if not confirmed */
  gint box;                               /* index of its box in this frame, or -1 */
  guint64 seen;                           /* number of the last frame in which it had a box */
  gboolean ended;                         /* the link went too long without a box */
} Link;

/* The box of a link in a frame that has not left the element yet. */
typedef struct
{
  Box box;    /* the box to write if its link is confirmed */
  gint index; /* index of the box in the frame, or -1 for a held box */
  Link *link;
} Outcome;

struct _SteadyFrame
{
  GArray *outcomes;
  guint64 number;   /* number of the frame since the element started */
  BoxCounts counts; /* what link_frame returned */
};

typedef struct
{
  gfloat x1, reach; /* left edge of the link; the rightmost right edge of it and those before it */
  guint link;
} Edge;

typedef struct
{
  gfloat overlap;
  guint link, box;
} Pair;

/* A box that takes part. */
typedef struct
{
  gfloat corners[4];
  guint index; /* index of the box in the frame */
  gboolean linked;
} Part;

struct _SteadyLinks
{
  GPtrArray *links;
  GArray *edges, *pairs, *parts;
  gint next_id;
  guint64 number;  /* number of frames so far */
  guint frames;    /* number of frames since the restart, up to 32 */
  guint restarts;  /* number of restarts since the last frame that ended links */
  gboolean tracks; /* a tracker gives ids */
};

static void
clear_outcome (gpointer outcome)
{
  g_rc_box_release (((Outcome *) outcome)->link);
}

SteadyLinks *
steady_links_new (void)
{
  SteadyLinks *self = g_new0 (SteadyLinks, 1);

  self->links = g_ptr_array_new_with_free_func (g_rc_box_release);
  self->edges = g_array_new (FALSE, FALSE, sizeof (Edge));
  self->pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  self->parts = g_array_new (FALSE, FALSE, sizeof (Part));
  self->next_id = 1;
  return self;
}

void
steady_links_free (SteadyLinks *self)
{
  g_ptr_array_unref (self->links);
  g_array_unref (self->edges);
  g_array_unref (self->pairs);
  g_array_unref (self->parts);
  g_free (self);
}

static const Link *
link_at (const SteadyLinks *self, guint i)
{
  return self->links->pdata[i];
}

void
steady_links_restart (SteadyLinks *self)
{
  self->restarts += self->links->len > 0;
  g_ptr_array_set_size (self->links, 0);
  self->frames = 0;
  self->tracks = FALSE;
}

/* -------------------------------------------------------------------- one link */

static void
write_corners (const Link *link, gfloat *corners)
{
  for (guint i = 0; i < 2; i++) {
    corners[i] = link->centre[i] - link->size[i] / 2;
    corners[2 + i] = link->centre[i] + link->size[i] / 2;
  }
}

static void
take_score (Link *link, const Box *box, gint rule)
{
  const gfloat score = (gfloat) box->confidence;

  if (!(box->flags & BOX_HAS_CONFIDENCE) || !isfinite (box->confidence))
    return;
  link->scores++;
  if (link->scores == 1)
    link->score = score;
  else if (rule == GST_STEADY_SCORE_BEST)
    link->score = MAX (link->score, score);
  else
    link->score = link->score + (score - link->score) / (gfloat) link->scores;
}

static Link *
begin_link (const Box *box, const Part *part)
{
  const gfloat *c = part->corners;
  Link *link = g_rc_box_new (Link);

  *link = (Link) { .last = *box,
    .centre = { (c[0] + c[2]) / 2, (c[1] + c[3]) / 2 },
    .size = { c[2] - c[0], c[3] - c[1] },
    .hits = 1,
    .box = (gint) part->index };
  take_score (link, box, GST_STEADY_SCORE_MEAN);
  return link;
}

static void
update_link (Link *link, const Box *box, const Part *part, const SteadySettings *settings)
{
  const gfloat *c = part->corners;
  const gfloat past = settings->smoothing, rest = 1 - past;
  const gfloat gain = 1 - past * past, slope = rest * rest / (gfloat) (link->missed + 1);

  for (guint i = 0; i < 2; i++) {
    const gfloat error = (c[i] + c[2 + i]) / 2 - link->centre[i];

    link->centre[i] += gain * error;
    link->velocity[i] += slope * error;
    link->size[i] += rest * (c[2 + i] - c[i] - link->size[i]);
  }
  link->hits = link->hits << 1 | 1;
  link->missed = 0;
  link->box = (gint) part->index;
  link->last = *box;
  take_score (link, box, settings->score);
}

/* Returns whether a link that has no box in this frame is held if it is confirmed. */
static gboolean
can_hold (const Link *link, const SteadySettings *settings, gint width, gint height)
{
  const gfloat *c = link->corners;

  return link->missed <= settings->hold
      && (width == 0 || (c[0] < (gfloat) width && c[1] < (gfloat) height && c[2] > 0 && c[3] > 0));
}

/* Returns whether a link that has no box in this frame is kept. */
static gboolean
miss (Link *link, const SteadySettings *settings, guint mask, gint width, gint height)
{
  link->hits <<= 1;
  link->missed++;
  return link->id == 0 ? (link->hits & mask) != 0 : can_hold (link, settings, width, height);
}

/* -------------------------------------------------------------------- matching */

static gboolean
same_label (const Box *a, const Box *b)
{
  return a->label == b->label && (a->label != 0 || ((a->flags ^ b->flags) & BOX_HAS_LABEL_ID) == 0)
      && (a->label != 0 || a->label_id == b->label_id);
}

static gint
compare_edges (gconstpointer a, gconstpointer b)
{
  const Edge *left = a, *right = b;

  return (left->x1 > right->x1) - (left->x1 < right->x1);
}

/* Returns whether a pair is matched before another one. */
static gboolean
pair_before (const Pair *a, const Pair *b)
{
  return a->overlap != b->overlap ? a->overlap > b->overlap
      : a->link != b->link        ? a->link < b->link
                                  : a->box < b->box;
}

static gint
compare_pairs (gconstpointer a, gconstpointer b)
{
  return pair_before (a, b) ? -1 : 1;
}

static void
sort_edges (SteadyLinks *self)
{
  gfloat reach = -G_MAXFLOAT;
  Edge *edges;

  g_array_set_size (self->edges, self->links->len);
  edges = (Edge *) self->edges->data;
  for (guint i = 0; i < self->links->len; i++)
    edges[i] = (Edge) { link_at (self, i)->corners[0], 0, i };
  g_array_sort (self->edges, compare_edges);
  for (guint i = 0; i < self->links->len; i++) {
    reach = MAX (reach, link_at (self, edges[i].link)->corners[2]);
    edges[i].reach = reach;
  }
}

/* Returns the first edge that reaches beyond x. */
static guint
first_reaching (const SteadyLinks *self, gfloat x)
{
  const Edge *edges = (const Edge *) self->edges->data;
  guint low = 0, high = self->edges->len;

  while (low < high) {
    const guint middle = (low + high) / 2;

    if (edges[middle].reach > x)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* Adds a pair to the best ones of its box, which begin at `first`. */
static void
add_pair (GArray *pairs, guint first, Pair pair)
{
  guint i = pairs->len;
  Pair *data;

  if (i - first < STEADY_LINKS_NEAR)
    g_array_set_size (pairs, i + 1);
  else if (!pair_before (&pair, &g_array_index (pairs, Pair, --i)))
    return;
  data = (Pair *) pairs->data;
  for (; i > first && pair_before (&pair, &data[i - 1]); i--)
    data[i] = data[i - 1];
  data[i] = pair;
}

/* Adds the pairs of a box and links that overlap it. */
static void
find_near (SteadyLinks *self, const SteadySettings *settings, const Box *box, guint number)
{
  const gfloat *c = g_array_index (self->parts, Part, number).corners;
  const guint first = self->pairs->len;
  const Edge *edges = (const Edge *) self->edges->data;

  for (guint i = first_reaching (self, c[0]); i < self->edges->len && edges[i].x1 < c[2]; i++) {
    const Link *link = self->links->pdata[edges[i].link];
    gfloat overlap;

    if (link->corners[1] >= c[3] || link->corners[3] <= c[1] || !same_label (&link->last, box))
      continue;
    overlap = nms_iou (link->corners, c);
    if (overlap > settings->iou_threshold)
      add_pair (self->pairs, first, (Pair) { overlap, edges[i].link, number });
  }
}

static void
match (SteadyLinks *self, const SteadySettings *settings, const Box *boxes, guint link, guint part)
{
  Part *with = &g_array_index (self->parts, Part, part);

  with->linked = TRUE;
  update_link (self->links->pdata[link], &boxes[with->index], with, settings);
}

static void
match_places (SteadyLinks *self, const SteadySettings *settings, const Box *boxes)
{
  sort_edges (self);
  g_array_set_size (self->pairs, 0);
  for (guint i = 0; i < self->parts->len; i++)
    find_near (self, settings, &boxes[g_array_index (self->parts, Part, i).index], i);
  g_array_sort (self->pairs, compare_pairs);
  for (guint i = 0; i < self->pairs->len; i++) {
    const Pair *pair = &g_array_index (self->pairs, Pair, i);

    if (link_at (self, pair->link)->box < 0 && !g_array_index (self->parts, Part, pair->box).linked)
      match (self, settings, boxes, pair->link, pair->box);
  }
}

/* Matches by ids. Boxes that are to be left as they are count as linked. */
static void
match_tracks (SteadyLinks *self, const SteadySettings *settings, const Box *boxes)
{
  /* by id: the index of the link + 1; or G_MAXUINT if a box of this frame has the id */
  GHashTable *table = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < self->links->len; i++)
    g_hash_table_insert (table, GINT_TO_POINTER (link_at (self, i)->last.track_id),
        GUINT_TO_POINTER (i + 1));
  for (guint i = 0; i < self->parts->len; i++) {
    Part *part = &g_array_index (self->parts, Part, i);
    const Box *box = &boxes[part->index];
    const gpointer track = GINT_TO_POINTER (box->track_id);
    const guint place = GPOINTER_TO_UINT (g_hash_table_lookup (table, track));

    if (!(box->flags & BOX_HAS_TRACK_ID) || place == G_MAXUINT) {
      part->linked = TRUE;
      continue;
    }
    if (place > 0)
      match (self, settings, boxes, place - 1, i);
    g_hash_table_insert (table, track, GUINT_TO_POINTER (G_MAXUINT));
  }
  g_hash_table_unref (table);
}

/* ------------------------------------------------------------------- one frame */

/* Collects the boxes that take part. Returns whether a tracker gave one of them an id. */
static gboolean
take_parts (SteadyLinks *self, GArray *boxes)
{
  gboolean any = FALSE;
  guint count = 0;

  g_array_set_size (self->parts, boxes->len);
  for (guint i = 0; i < boxes->len; i++) {
    Box *box = &g_array_index (boxes, Box, i);
    const gfloat c[4] = { (gfloat) box->x1, (gfloat) box->y1, (gfloat) box->x2, (gfloat) box->y2 };

    if (box_state_is_drop (box->state) || !(c[0] < c[2] && c[1] < c[3])
        || !(fabsf (c[0]) <= LARGEST && fabsf (c[1]) <= LARGEST && fabsf (c[2]) <= LARGEST
            && fabsf (c[3]) <= LARGEST)) {
      box->state = BOX_STATE_NONE;
      continue;
    }
    any |= (box->flags & BOX_HAS_TRACK_ID) != 0;
    g_array_index (self->parts, Part, count++) = (Part) { { c[0], c[1], c[2], c[3] }, i, FALSE };
  }
  g_array_set_size (self->parts, count);
  return any;
}

static void
predict (SteadyLinks *self)
{
  for (guint i = 0; i < self->links->len; i++) {
    Link *link = self->links->pdata[i];

    for (guint axis = 0; axis < 2; axis++)
      link->centre[axis] += link->velocity[axis];
    link->box = -1;
    write_corners (link, link->corners);
  }
}

/* Keeps a link. It changes places with one that ends, because the last ones are removed. */
static void
keep_link (gpointer *links, guint *kept, guint i)
{
  const gpointer link = links[i];

  links[i] = links[*kept];
  links[(*kept)++] = link;
}

/* Removes the links that have been without a box for too long. */
static void
end_links (SteadyLinks *self, const SteadySettings *settings, guint mask, gint width, gint height)
{
  guint kept = 0;

  for (guint i = 0; i < self->links->len; i++) {
    Link *link = self->links->pdata[i];

    link->ended = link->box < 0 && !miss (link, settings, mask, width, height);
    if (!link->ended)
      keep_link (self->links->pdata, &kept, i);
  }
  g_ptr_array_set_size (self->links, (gint) kept);
}

static void
begin_links (SteadyLinks *self, const Box *boxes)
{
  for (guint i = 0; i < self->parts->len; i++) {
    const Part *part = &g_array_index (self->parts, Part, i);

    if (!part->linked)
      g_ptr_array_add (self->links, begin_link (&boxes[part->index], part));
  }
}

/* Confirms the links that had enough boxes, and returns their number. */
static guint
confirm_links (SteadyLinks *self, const SteadySettings *settings, guint mask)
{
  const guint least = MIN (MIN (settings->confirm, settings->window), self->frames);
  guint count = 0;

  for (guint i = 0; i < self->links->len; i++) {
    Link *link = self->links->pdata[i];

    if (link->id != 0 || (guint) __builtin_popcount (link->hits & mask) < least)
      continue;
    count++;
    link->id = self->next_id;
    self->next_id = self->next_id == G_MAXINT ? 1 : self->next_id + 1;
  }
  return count;
}

static void
write_place (const Link *link, Box *box)
{
  gfloat corners[4];

  write_corners (link, corners);
  box->x1 = corners[0];
  box->y1 = corners[1];
  box->x2 = corners[2];
  box->y2 = corners[3];
  box->flags |= BOX_MOVED;
}

/* Writes the box of a confirmed link, or the box that stands for it where it has none. */
static void
write_box (const SteadyLinks *self, const Link *link, const SteadySettings *settings, Box *box)
{
  box->state = BOX_STATE_KEPT;
  if (settings->smoothing > 0 || link->missed > 0)
    write_place (link, box);
  if (settings->score != GST_STEADY_SCORE_BOX && link->scores > 0
      && (box->flags & BOX_HAS_CONFIDENCE)) {
    box->confidence = link->score;
    box->flags |= BOX_RESCORED;
  }
  if (!self->tracks) {
    box->track_id = link->id;
    box->flags |= BOX_HAS_TRACK_ID | BOX_TRACKED;
  }
}

static void
write_boxes (const SteadyLinks *self, const SteadySettings *settings, Box *boxes, GArray *held)
{
  for (guint i = 0; i < self->links->len; i++) {
    const Link *link = self->links->pdata[i];

    if (link->box >= 0 && link->id == 0) {
      boxes[link->box].state = BOX_STATE_UNCONFIRMED;
    } else if (link->box >= 0) {
      write_box (self, link, settings, &boxes[link->box]);
    } else if (link->id != 0) {
      g_array_append_val (held, link->last);
      write_box (self, link, settings, &g_array_index (held, Box, held->len - 1));
    }
  }
}

/* Stores the boxes to write into a waiting frame if their links are confirmed before it leaves. */
static void
note_outcomes (const SteadyLinks *self, const SteadySettings *settings, const Box *boxes,
    gint width, gint height, GArray *outcomes)
{
  for (guint i = 0; i < self->links->len; i++) {
    Link *link = self->links->pdata[i];
    Outcome outcome = { link->last, link->box, link };

    if (link->box >= 0) {
      link->seen = self->number;
      outcome.box = boxes[link->box];
    } else if (!can_hold (link, settings, width, height)) {
      continue;
    }
    write_box (self, link, settings, &outcome.box);
    g_rc_box_acquire (link);
    g_array_append_val (outcomes, outcome);
  }
}

/* Bounds the number of links. */
static void
bound_links (SteadyLinks *self)
{
  guint kept = 0;

  if (self->links->len <= 2 * STEADY_LINKS_MOST)
    return;
  for (guint i = 0; i < self->links->len; i++)
    if (link_at (self, i)->box >= 0)
      keep_link (self->links->pdata, &kept, i);
  g_ptr_array_set_size (self->links, (gint) kept);
}

/* Completes the numbers that link_frame returned. */
static BoxCounts
count (BoxCounts linked, const GArray *boxes, const GArray *held)
{
  BoxCounts counts = box_counts_of (boxes);

  counts.rewritten = counts.by_state[BOX_STATE_KEPT];
  counts.added = held->len;
  counts.confirmed = linked.confirmed;
  counts.restarts = linked.restarts;
  return counts;
}

/* Links the boxes of the next frame. Returns the numbers of links confirmed and of restarts. */
static BoxCounts
link_frame (SteadyLinks *self, const SteadySettings *settings, GArray *boxes, gint width,
    gint height)
{
  const gboolean tracks = take_parts (self, boxes);
  const guint mask = G_MAXUINT >> (32 - settings->window);
  Box *const box = (Box *) boxes->data;
  BoxCounts counts = { 0 };

  self->number++;
  if (boxes->len > STEADY_LINKS_MOST || (tracks && !self->tracks))
    steady_links_restart (self);
  counts.restarts = self->restarts;
  self->restarts = 0;
  if (boxes->len > STEADY_LINKS_MOST)
    return counts;
  self->tracks |= tracks;
  self->frames = MIN (self->frames + 1, 32);
  predict (self);
  if (self->tracks)
    match_tracks (self, settings, box);
  else
    match_places (self, settings, box);
  end_links (self, settings, mask, width, height);
  begin_links (self, box);
  counts.confirmed = confirm_links (self, settings, mask);
  bound_links (self);
  return counts;
}

BoxCounts
steady_links_frame (SteadyLinks *self, const SteadySettings *settings, GArray *boxes, gint width,
    gint height, GArray *held)
{
  const BoxCounts counts = link_frame (self, settings, boxes, width, height);

  g_array_set_size (held, 0);
  write_boxes (self, settings, (Box *) boxes->data, held);
  return count (counts, boxes, held);
}

/* ------------------------------------------------------------------- lookahead */

SteadyFrame *
steady_links_look (SteadyLinks *self, const SteadySettings *settings, GArray *boxes, gint width,
    gint height)
{
  SteadyFrame *frame = g_new0 (SteadyFrame, 1);

  frame->outcomes = g_array_new (FALSE, FALSE, sizeof (Outcome));
  g_array_set_clear_func (frame->outcomes, clear_outcome);
  frame->counts = link_frame (self, settings, boxes, width, height);
  frame->number = self->number;
  note_outcomes (self, settings, (Box *) boxes->data, width, height, frame->outcomes);
  return frame;
}

void
steady_frame_free (SteadyFrame *frame)
{
  g_array_unref (frame->outcomes);
  g_free (frame);
}

BoxCounts
steady_frame_decide (const SteadyFrame *frame, GArray *boxes, GArray *held)
{
  g_array_set_size (held, 0);
  for (guint i = 0; i < boxes->len; i++)
    g_array_index (boxes, Box, i).state = BOX_STATE_NONE;
  for (guint i = 0; i < frame->outcomes->len; i++) {
    const Outcome *outcome = &g_array_index (frame->outcomes, Outcome, i);
    const Link *link = outcome->link;
    Box box = outcome->box;

    if (box.flags & BOX_TRACKED)
      box.track_id = link->id;
    if (outcome->index >= 0 && link->id == 0)
      g_array_index (boxes, Box, outcome->index).state = BOX_STATE_UNCONFIRMED;
    else if (outcome->index >= 0)
      g_array_index (boxes, Box, outcome->index) = box;
    else if (link->id != 0 && (!link->ended || link->seen > frame->number))
      g_array_append_val (held, box);
  }
  return count (frame->counts, boxes, held);
}
