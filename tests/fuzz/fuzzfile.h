/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzzfile: what the fuzzers of the text formats share. The input is a whole
 * file: it goes through the reader of lines as a recording would. What was
 * read is fitted to a frame, written, read back and written again, which must
 * give the same text.
 */
#pragma once

#include "records/recordreader.h"

typedef void (*FuzzFrame) (RecordedFrame * frame);

/* Reads all frames, passing over malformed lines, and gives each to `check`. */
void fuzz_file (const guint8 * data, gsize size, RecordFormat format, FuzzFrame check);
