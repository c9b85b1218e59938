/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * csvtext: converts text with comma-separated columns to boxes and back, one box a line. The first
 * line has the names of the columns, in any order:
 *
 *   frame     number of the frame, from 0 to 2^53, in digits
 *   x y       left and top in pixels from 0
 *   width height
 *   score     the confidence; optional
 *   label_id  an integer of 32 bits; optional
 *   label     optional
 *   id        the track, an integer of 32 bits; optional
 *
 * Other columns are ignored. An empty cell is a missing value. Cells in quotation marks are
 * refused. The format has no lines for frames without boxes, and no columns for region ids,
 * parent ids and states.
 */
#pragma once

#include "recordedframe.h"

G_BEGIN_DECLS

/* The first line that is written. */
#define CSV_TEXT_HEADER "frame,x,y,width,height,score,label_id,label,id\n"

typedef struct _CsvColumns CsvColumns;

/* Parses the first line, of which `length` bytes are read. Returns NULL and RECORD_ERROR_UNUSABLE
 * if a name is missing or there twice. */
CsvColumns *csv_columns_new (const gchar *header, gsize length, GError **error);
void csv_columns_free (CsvColumns *self);

/* Parses one line, NUL-terminated, and cuts it into cells. `labels` may be NULL: no limit.
 * Returns FALSE and RECORD_ERROR_MALFORMED if the line is not valid. */
gboolean csv_text_parse (const CsvColumns *self, gchar *line, LabelTable *labels, guint64 *frame,
    Box *box, GError **error);

/* Returns the frame of a line, which ends at a newline or NUL, plus 1; 0: it has none. */
guint64 csv_text_frame (const CsvColumns *self, const gchar *line);

/* Appends a line for each box of the frame. Pixels are rounded to a millionth, and a confidence
 * that is not finite is left out. Returns FALSE and RECORD_ERROR_UNUSABLE if a label contains a
 * comma, a quotation mark or a line break; `out` then has the boxes before. */
gboolean csv_text_format (const RecordedFrame *frame, GString *out, GError **error);

G_END_DECLS
