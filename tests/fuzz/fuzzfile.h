/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzzfile: reads the input of a fuzzer of the text formats as a recording. The
 * fuzzers then fit each frame to a frame size, write it, read it back and write it
 * again; both texts must be equal.
 */
#pragma once

#include "records/recordreader.h"

/* Limits the new labels of the process. Beyond 2,048 quarks GLib enlarges their array and leaks
 * the old one. */
extern LabelTable fuzz_labels;

typedef void (*FuzzFrame) (RecordedFrame *frame);

/* Reads all frames, skips malformed lines, and calls `check` with each frame. */
void fuzz_file (const guint8 *data, gsize size, RecordFormat format, FuzzFrame check);
