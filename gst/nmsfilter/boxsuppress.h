/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxsuppress: decides the state of each box of a frame. Converts Box, as it was read,
 * to the columns of nmscore: which boxes take part, their classes as numbers, the rank
 * of boxes without a confidence, and boxes that are parts of others.
 */
#pragma once

#include "boxdecision.h"
#include "boxselect.h"
#include "filteroptions.h"
#include "meta/box.h"
#include "sourceoptions.h"

G_BEGIN_DECLS

/* The values of missing-score: how boxes without a confidence are ranked. They rank
 * after all boxes with a confidence. */
typedef enum
{
  UNSCORED_ORDER_NEIGHBORS = 0, /* the number of boxes that each box overlaps */
  UNSCORED_ORDER_AREA = 1,      /* the area, largest first */
  UNSCORED_ORDER_INPUT = 2,     /* the order in which they were read */
  UNSCORED_ORDER_DROP = 3,      /* no rank: boxes without a confidence are dropped */
} UnscoredOrder;

/* The rules, an atomic rc box that does not change: g_atomic_rc_box_acquire takes a reference. */
typedef struct
{
  nms_options core;         /* options of nms_run except `outputs`, which box_suppress_run sets */
  gboolean added_engine;    /* run on the engine that was added to the context, if there is one */
  GArray *options;          /* nms_class_options; NULL if no class has options of its own */
  GArray *unscored;         /* `options` without the score thresholds */
  GArray *class_ranks;      /* ClassGroup if a group has ranks, else NULL; like priorities, ranks
                           * need a method for which box_suppress_needs_scores returns FALSE */
  gboolean crosses_classes; /* boxes may suppress boxes of other classes */
  GArray *selection;        /* labels (class_selection_parse); NULL for all classes */
  GArray *sources; /* SourceOption; NULL if no option of a source applies. Different priorities
                          * need a method for which box_suppress_needs_scores returns FALSE */
  GArray *weights; /* gfloat for each source, with method weighted; or NULL */
  gboolean has_priorities, has_score_thresholds; /* whether an entry of `sources` has one */
  UnscoredOrder unscored_order;                  /* how boxes without a confidence are ranked */
  guint min_neighbors; /* neighbors that a box without a confidence needs; 0 for any number */
} BoxSuppressRules;

void box_suppress_rules_unref (BoxSuppressRules *rules);

typedef struct _BoxSuppress BoxSuppress;

/* Returns a new object, one per stream, which keeps scratch memory from frame to
 * frame. It runs on `context`, which the caller frees after it. _free accepts NULL. */
BoxSuppress *box_suppress_new (nms_context *context);
void box_suppress_free (BoxSuppress *self);

/* Tells the object that an engine was added to the context. */
void box_suppress_use_added (BoxSuppress *self);

/* Returns whether a method computes with scores. Then boxes without a confidence are dropped, or
 * all have the score 1 if no box that takes part has a confidence, and BOX_CUT has no effect. */
gboolean box_suppress_needs_scores (nms_method method);

/* Writes state and suppressed_by of every box, the new place and confidence of each kept box
 * that the method changes (with BOX_MOVED and BOX_RESCORED), and `counts`. A box takes no part and
 * gets BOX_STATE_NONE if its class does not take part, or if it was read with a state that
 * box_select_is_state names. `select` decides before which boxes are dropped; NULL drops none.
 * suppressed_by is -1 throughout unless `want_suppressors`. Returns 0, or a negative nms_error;
 * then the states are undefined, and nms_context_error of the context gives the details. */
gint box_suppress_run (BoxSuppress *self, GArray *boxes, const BoxSuppressRules *rules,
    const BoxSelectFrame *select, gboolean want_suppressors, BoxCounts *counts);

G_END_DECLS
