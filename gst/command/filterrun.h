/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filterrun: filters one recording, a file or a pipe, into another, on several threads. The
 * frames keep their order, and memory does not grow with the recording.
 */
#pragma once

#include "nmsfilter/boxlist.h"
#include "records/recordedframe.h"

G_BEGIN_DECLS

typedef struct
{
  const gchar *input, *output; /* paths, or "-" for standard input and output */
  RecordFormat from;           /* RECORD_FORMAT_AUTO: by the first character of the input */
  RecordFormat to;             /* RECORD_FORMAT_AUTO: the format of the input */
  guint threads;
  gboolean quiet; /* no progress and no line of counts */
} FilterRun;

/* Empties the output and writes the filtered frames to it. After an error, which names the file
 * and its line, the output has the frames before that line. */
gboolean filter_run (const FilterRun *self, BoxListSettings *properties, GError **error);

G_END_DECLS
