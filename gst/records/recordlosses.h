/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordlosses: the warnings of boxrecord about what the format of a recording cannot hold.
 */
#pragma once

#include <gst/gst.h>

#include "recordedframe.h"
#include "recordreader.h"

G_BEGIN_DECLS

/* The warnings that were posted. Set it to 0 when a recording begins. */
typedef struct
{
  gboolean confidences, labels;
} RecordLosses;

/* Warns once if `omitted`, the number of confidences of `frame` that `format` left out, is not 0,
 * and once if a box has a label that `format` cannot hold. `element` posts the warnings. Called by
 * the streaming thread. */
void record_losses_warn (RecordLosses *self, GstElement *element, RecordFormat format,
    const RecordedFrame *frame, guint omitted);

G_END_DECLS
