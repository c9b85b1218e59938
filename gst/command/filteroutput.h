/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filteroutput: the file that nms-filter writes, and its checkpoint. */
#pragma once

#include "checkpoint.h"

G_BEGIN_DECLS

typedef struct _FilterOutput FilterOutput;

/* Opens a file, or standard output for "-". An output that is a regular file has a checkpoint,
 * LOCATION.resume, if `resumable`; `run` is what checkpoint_save takes. `format` decides what
 * stands before and behind the frames.
 *
 * If `resume`, reads the checkpoint to *from and cuts the file behind what that describes; without
 * a checkpoint *from is the beginning, and the file must be empty or missing. Otherwise a file is
 * emptied. Returns NULL and an error if that fails. */
FilterOutput *filter_output_new (const gchar *location, TextFormat format, const gchar *run,
    gboolean resumable, gboolean resume, Checkpoint *from, GError **error);

/* Writes the results up to `reached`, whose `output` is ignored, and about once a second a
 * checkpoint. */
gboolean filter_output_write (FilterOutput *self, const GString *text, const Checkpoint *reached,
    GError **error);

/* Closes the output. `complete`: writes what the format has behind the last frame, and removes
 * the checkpoint, because nothing is left to do. Returns
 * FALSE if the output could not be written. */
gboolean filter_output_close (FilterOutput *self, gboolean complete, GError **error);

G_END_DECLS
