/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replaystats: the statistics of boxreplay, and the warnings that follow from them. The
 * streaming thread alone changes them, under the object lock of the element.
 */
#pragma once

#include "recordmatch.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 frames, boxes; /* buffers passed, boxes attached */
  RecordMatchCounts counts;
  guint64 ignored;        /* boxes of MOT ground truth with flag 0 */
  guint64 labels_refused; /* boxes whose label max-labels left out */

  /* private */
  gboolean warned_skipped, warned_labels, warned_waiting;
} ReplayStats;

/* Returns the property `stats`. */
GParamSpec *replay_stats_spec (void);

/* Returns the statistics as a structure "boxreplay", to be freed. */
GstStructure *replay_stats_structure (const ReplayStats *self);

/* Warns once of skipped lines, with the message about the first one, and once of refused
 * labels. `source` names the recording. */
void replay_stats_warn (ReplayStats *self, GstElement *element, const gchar *source,
    const gchar *first_skipped, guint max_labels);

/* Warns once that the stream has waited for a line of the recording for 1 s. */
void replay_stats_warn_waiting (ReplayStats *self, GstElement *element, const gchar *source);

/* Warns, at the end of a stream, if no record matched. */
void replay_stats_warn_unmatched (const ReplayStats *self, GstElement *element,
    const gchar *source);

G_END_DECLS
