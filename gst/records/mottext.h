/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * motlines: the text of the MOT challenge <-> boxes, one box a line:
 *
 *   frame,id,left,top,width,height,conf,x,y,z          detections (10 columns)
 *   frame,id,left,top,width,height,flag,class,visible  ground truth (9 columns)
 *
 * Frames count from 1, and so do pixels: left 1 is x 0. id -1: no track. conf
 * -1: no confidence. x, y and z are not used, and may be missing, as may conf.
 * In ground truth a flag of 0 says that the box is to be ignored, and it is;
 * class becomes the label id. Frames without boxes have no line; labels,
 * region and parent ids and states have no place.
 */
#pragma once

#include "recordedframe.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 frame;                /* from 0 */
  gboolean ignored;             /* ground truth with flag 0 */
  guint columns;
  Box box;
} MotTextLine;

/* One line, NUL-terminated. FALSE and RECORD_ERROR_MALFORMED if it is none. */
gboolean mot_text_parse_line (const gchar * text, MotTextLine * line, GError ** error);

/* Appends the boxes as detections of frame number `index` (from 0). Pixels are
 * rounded to a millionth: as much as survives being divided by the frame size
 * and multiplied again. Returns how many confidences were left out because
 * they are no finite number, or -1, which stands for none. */
guint mot_text_format (const RecordedFrame * frame, GString * out);

G_END_DECLS
