/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cocotext: checks the members that jsonscan has read. */
#include "cocotext.h"

#include <math.h>

#include "jsonscan.h"
#include "numbertext.h"

typedef enum
{
  IMAGE_ID,
  CATEGORY_ID,
  BBOX,
  SCORE,
  N_MEMBERS
} Member;

static const JsonMember members[N_MEMBERS] = {
  [IMAGE_ID] = { "image_id", 0, JSON_NO_GROUP, JSON_NO_GROUP },
  [CATEGORY_ID] = { "category_id", 0, JSON_NO_GROUP, JSON_NO_GROUP },
  [BBOX] = { "bbox", 0, JSON_NO_GROUP, JSON_NO_GROUP },
  [SCORE] = { "score", 0, JSON_NO_GROUP, JSON_NO_GROUP },
};

struct _CocoParser
{
  JsonScan *scan;
  JsonValue values[N_MEMBERS];
};

CocoParser *
coco_parser_new (void)
{
  CocoParser *self = g_new0 (CocoParser, 1);

  self->scan = json_scan_new ("the entry", members, N_MEMBERS, self->values);
  return self;
}

void
coco_parser_free (CocoParser *self)
{
  if (self == NULL)
    return;
  json_scan_free (self->scan);
  g_free (self);
}

static gboolean
parse_bbox (const JsonValue *value, Box *box, GError **error)
{
  static const gchar *const paths[] = { "bbox[0]", "bbox[1]", "bbox[2]", "bbox[3]" };
  const gchar *what;
  guint wrong;

  if (value->kind != JSON_ARRAY || value->length != 4)
    return json_scan_refuse (-1, "bbox", "is not an array of 4 numbers", error);
  what = recorded_frame_place (box, value->elements, &wrong);
  return what == NULL || json_scan_refuse (-1, paths[wrong], what, error);
}

static gboolean
parse_category (const JsonValue *value, Box *box, GError **error)
{
  if (value->kind == JSON_MISSING)
    return TRUE;
  if (value->kind != JSON_INTEGER || value->integer < G_MININT || value->integer > G_MAXINT)
    return json_scan_refuse (-1, "category_id", "is not an integer of 32 bits", error);
  box->label_id = (gint) value->integer;
  box->flags |= BOX_HAS_LABEL_ID;
  return TRUE;
}

static gboolean
parse_score (const JsonValue *value, Box *box, GError **error)
{
  if (value->kind == JSON_MISSING)
    return TRUE;
  if ((value->kind != JSON_INTEGER && value->kind != JSON_REAL) || !isfinite (value->number))
    return json_scan_refuse (-1, "score", "is not a finite number", error);
  box->confidence = value->number;
  box->flags |= BOX_HAS_CONFIDENCE;
  return TRUE;
}

gboolean
coco_text_parse (CocoParser *self, const gchar *text, gsize length, guint64 *image, Box *box,
    GError **error)
{
  const JsonValue *values = self->values, *id = &values[IMAGE_ID];

  *box = (Box) { .parent = -1, .suppressed_by = -1, .od = -1 };
  if (!json_scan_line (self->scan, text, length, NULL, NULL, error))
    return FALSE;
  if (id->kind != JSON_INTEGER || id->integer < 0 || (guint64) id->integer > COCO_TEXT_MAX_IMAGE)
    return json_scan_refuse (-1, "image_id", "is not an integer from 0 to 2^53", error);
  *image = (guint64) id->integer;
  return parse_bbox (&values[BBOX], box, error) && parse_category (&values[CATEGORY_ID], box, error)
      && parse_score (&values[SCORE], box, error);
}

static void
format_box (const Box *box, guint64 image, GString *out)
{
  g_string_append (out, ",\n{\"image_id\":");
  number_text_append_int (out, (gint64) image);
  if (box->flags & BOX_HAS_LABEL_ID) {
    g_string_append (out, ",\"category_id\":");
    number_text_append_int (out, box->label_id);
  }
  g_string_append (out, ",\"bbox\":[");
  number_text_append_pixels (out, MIN (box->x1, box->x2));
  g_string_append_c (out, ',');
  number_text_append_pixels (out, MIN (box->y1, box->y2));
  g_string_append_c (out, ',');
  number_text_append_pixels (out, fabs (box->x2 - box->x1));
  g_string_append_c (out, ',');
  number_text_append_pixels (out, fabs (box->y2 - box->y1));
  g_string_append_c (out, ']');
  if (box->flags & BOX_HAS_CONFIDENCE && isfinite (box->confidence)) {
    g_string_append (out, ",\"score\":");
    number_text_append_double (out, box->confidence);
  }
  g_string_append_c (out, '}');
}

gboolean
coco_text_format (const RecordedFrame *frame, GString *out, GError **error)
{
  for (guint i = 0; i < frame->boxes->len; i++) {
    const Box *box = &g_array_index (frame->boxes, Box, i);

    if (box->label != 0 && !(box->flags & BOX_HAS_LABEL_ID)) {
      g_set_error (error, RECORD_ERROR, RECORD_ERROR_UNUSABLE,
          "the box with label \"%s\" has no "
          "label_id, which COCO results need as category_id",
          g_quark_to_string (box->label));
      return FALSE;
    }
    format_box (box, frame->index, out);
  }
  return TRUE;
}
