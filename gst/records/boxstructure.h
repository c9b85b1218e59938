/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxstructure: converts the boxes of one frame to a GstStructure, for applications
 * in languages that cannot iterate over metadata. The signal frame-boxes of
 * boxrecord documents the fields.
 */
#pragma once

#include <gst/gst.h>

#include "recordedframe.h"

G_BEGIN_DECLS

/* Returns a new structure "frame-boxes", to be freed. */
GstStructure *box_structure_from_frame (const RecordedFrame *frame);

G_END_DECLS
