/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cocotext: converts entries of COCO results JSON to boxes and back:
 *
 *   [{"image_id":42,"category_id":18,"bbox":[258.15,41.29,348.26,243.78],"score":0.236},
 *    ...]
 *
 * image_id     of the frame, 0 .. 2^53
 * bbox         left, top, width and height in pixels from 0
 * category_id  the label id; optional
 * score        the confidence; optional
 *
 * Other members, such as segmentation, are ignored. The format has no entries for frames without
 * boxes, and no members for labels, tracks, region ids, parent ids and states.
 */
#pragma once

#include "recordedframe.h"

G_BEGIN_DECLS

#define COCO_TEXT_MAX_IMAGE (G_GUINT64_CONSTANT (1) << 53)

typedef struct _CocoParser CocoParser;

CocoParser *coco_parser_new (void);
void coco_parser_free (CocoParser *self);

/* Parses one entry, the object without a comma. Returns FALSE and RECORD_ERROR_MALFORMED, whose
 * message names the member, if it is not valid. */
gboolean coco_text_parse (CocoParser *self, const gchar *text, gsize length, guint64 *image,
    Box *box, GError **error);

/* Appends ",\n" and an entry for each box of the frame, whose index is the image_id. Pixels are
 * rounded to a millionth, and a confidence that is not finite is left out. Returns FALSE and
 * RECORD_ERROR_UNUSABLE if a box has a label, but no label id, so that its category_id is
 * unknown; `out` then has the boxes before. */
gboolean coco_text_format (const RecordedFrame *frame, GString *out, GError **error);

G_END_DECLS
