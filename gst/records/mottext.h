/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mottext: converts text of the MOT challenge to boxes and back, one box a line:
 *
 *   frame,id,left,top,width,height,conf,x,y,z          detections (10 columns)
 *   frame,id,left,top,width,height,flag,class,visible  ground truth (9 columns)
 *
 * Frames and pixels count from 1: left 1 is x 0. An id of -1 means no track, a conf
 * of -1 no confidence. x, y and z are ignored; they may be missing, and conf too.
 * In ground truth, a flag of 0 means that the box is to be ignored; class becomes
 * the label id. The format has no lines for frames without boxes, and no columns
 * for labels, region ids, parent ids and states.
 */
#pragma once

#include "recordedframe.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 frame;    /* from 0, one less than in the text */
  gboolean ignored; /* the flag is 0 */
  guint columns;
  Box box;
} MotTextLine;

/* Parses one line, NUL-terminated. Returns FALSE and RECORD_ERROR_MALFORMED if it is not valid. */
gboolean mot_text_parse_line (const gchar *text, MotTextLine *line, GError **error);

/* Appends the boxes of the frame as detections. Pixels are rounded to a millionth,
 * because more digits would not survive a division by the frame size and a
 * multiplication. Returns the number of confidences left out because they are not
 * finite, or are -1, which means no confidence. */
guint mot_text_format (const RecordedFrame *frame, GString *out);

G_END_DECLS
