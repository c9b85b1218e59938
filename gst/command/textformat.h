/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* textformat: the formats of recordings that nms-filter reads and writes. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  TEXT_FORMAT_AUTO,  /* by the first character of the file */
  TEXT_FORMAT_JSONL, /* a frame is a line */
  TEXT_FORMAT_MOT,   /* a frame is the lines with the same first column */
  TEXT_FORMAT_COCO,  /* a frame is the entries with the same image_id */
  TEXT_FORMAT_CSV,   /* a frame is the lines with the same column frame */
} TextFormat;

G_END_DECLS
