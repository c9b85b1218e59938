/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxstructure: the boxes of one frame as a GstStructure, for applications in
 * languages that cannot walk over metadata. The fields are documented at the
 * signal frame-boxes of boxrecord.
 */
#pragma once

#include <gst/gst.h>

#include "recordedframe.h"

G_BEGIN_DECLS

/* A new structure "frame-boxes"; to be freed. */
GstStructure *box_structure_from_frame (const RecordedFrame * frame);

G_END_DECLS
