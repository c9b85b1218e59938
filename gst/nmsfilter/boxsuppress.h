/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxfilter: decides what becomes of each box of a frame. Between Box, as it
 * was read, and nmscore: which boxes take part, their classes as numbers, the
 * rank of boxes without a confidence, and boxes that are parts of others.
 */
#pragma once

#include "classoptions.h"
#include "meta/box.h"
#include "unscoredorder.h"

G_BEGIN_DECLS

typedef struct
{
  nms_options core;             /* but class_options and outputs: see below */
  ClassOptions *options;        /* NULL: none */
  ClassSelection *selection;    /* NULL: all labels */
  UnscoredOrder unscored_order; /* how boxes without a confidence are ranked */
  guint min_neighbors;          /* of boxes without a confidence; 0: any number */
} BoxRules;

typedef struct _BoxFilter BoxFilter;

/* One per stream: it keeps scratch memory from frame to frame. NULL when out
 * of memory. _free accepts NULL. */
BoxFilter *box_filter_new (void);
void box_filter_free (BoxFilter * filter);

/* Writes state and suppressed_by of every box: BOX_STATE_NONE for one whose
 * label does not take part and that stays. suppressed_by is -1 throughout
 * unless `want_suppressors`. Returns 0, or a negative nms_error, and then the
 * boxes are undefined and box_filter_error () says more. */
gint box_filter_run (BoxFilter * filter, GArray * boxes, const BoxRules * rules,
    gboolean want_suppressors);

const gchar *box_filter_error (const BoxFilter * filter);

/* What the last run with boxes used, and why engine xla is not: the functions
 * nms_context_engine, _cpu, _engine_in_use and _engine_refusal. */
gint box_filter_engine (const BoxFilter * filter);
const gchar *box_filter_cpu (const BoxFilter * filter);
const gchar *box_filter_engine_in_use (BoxFilter * filter);
const gchar *box_filter_engine_refusal (const BoxFilter * filter);

G_END_DECLS
