/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * checkpoint: a small file beside the output that says how far a run has come, so that another
 * run continues exactly there, also after a crash or a power failure. It is removed at the end.
 */
#pragma once

#include "blockfilter.h"

G_BEGIN_DECLS

typedef struct
{
  TextPlace input; /* all before it has been filtered */
  guint64 output;  /* bytes of the output that hold the results */
  BlockCounts counts;
} Checkpoint;

/* Saves the checkpoint, when the output itself has been written to the disk. `run` describes the
 * input, its size and the options. */
gboolean checkpoint_save (const gchar *location, const gchar *run, const Checkpoint *checkpoint,
    GError **error);

/* Loads a checkpoint. Returns FALSE and G_FILE_ERROR_NOENT if there is none, and another error if
 * it cannot be read or was made by another `run`. */
gboolean checkpoint_load (const gchar *location, const gchar *run, Checkpoint *checkpoint,
    GError **error);

G_END_DECLS
