/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordlosses: one warning for each kind of loss, because later frames mostly lose the same. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "recordlosses.h"

static gboolean
has_label (const RecordedFrame *frame)
{
  guint i;

  for (i = 0; i < frame->boxes->len; i++)
    if (g_array_index (frame->boxes, Box, i).label != 0)
      return TRUE;
  return FALSE;
}

void
record_losses_warn (RecordLosses *self, GstElement *element, RecordFormat format,
    const RecordedFrame *frame, guint omitted)
{
  gboolean mot = format == RECORD_FORMAT_MOT;

  if (omitted > 0 && !self->confidences) {
    self->confidences = TRUE;
    GST_ELEMENT_WARNING (element, STREAM, FORMAT,
        ("Cannot write a confidence of frame %" G_GUINT64_FORMAT
         " (%s); it is left out, here and in later frames",
            frame->index, mot ? "NaN, infinite, or -1, which means none" : "NaN or infinite"),
        (NULL));
  }
  if (mot && !self->labels && has_label (frame)) {
    self->labels = TRUE;
    GST_ELEMENT_WARNING (element, STREAM, FORMAT,
        ("MOT text cannot hold labels; they are left out. format=jsonl keeps them"), (NULL));
  }
}
