/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* outputresult: the result of writing a line to a file or pipe. */
#pragma once

typedef enum
{
  OUTPUT_OK,
  OUTPUT_FULL,     /* a pipe has no room; nothing of the line was written */
  OUTPUT_FLUSHING, /* interrupted; nothing of the line was written */
  OUTPUT_FAILED,   /* nothing of the line counts as written; the error says why */
} OutputResult;
