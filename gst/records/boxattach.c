/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boxattach.h"

#include "meta/boxremove.h"

void
box_attach_init (BoxAttach *self)
{
  self->no_boxes = g_array_new (FALSE, FALSE, sizeof (Box));
  self->present = g_array_new (FALSE, FALSE, sizeof (Box));
}

void
box_attach_clear (BoxAttach *self)
{
  g_array_unref (self->no_boxes);
  g_array_unref (self->present);
}

static gboolean
has_boxes (const RecordedFrame *frame)
{
  return frame != NULL && frame->boxes->len > 0;
}

gboolean
box_attach_changes (const BoxAttach *self, const RecordedFrame *frame, GstBuffer *buffer)
{
  return has_boxes (frame) || (self->replace && box_meta_any (buffer))
      || box_meta_lacks_frame (buffer, self->kind);
}

/* Returns the number of boxes on the buffer that will precede the attached ones:
 * regions precede boxes that are only ODs. */
static guint
count_before (BoxAttach *self, GstBuffer *buffer, gint width, gint height)
{
  guint i, count;

  count = box_meta_read (buffer, width, height, 0, self->present);
  for (i = 0; (self->kind & BOX_META_ROI) && i < count; i++)
    if (g_array_index (self->present, Box, i).position == BOX_NO_POSITION)
      return i;
  return count;
}

void
box_attach_run (BoxAttach *self, RecordedFrame *frame, GstBuffer *buffer, gint width, gint height)
{
  guint i, before = 0;

  if (self->replace && box_meta_any (buffer))
    box_remove_all (buffer);
  if (!has_boxes (frame)) {
    if (box_meta_lacks_frame (buffer, self->kind))
      box_meta_attach (buffer, self->no_boxes, 0, 0, self->kind);
    return;
  }
  /* suppressed-by counts all boxes of the buffer, so the boxes that it has already are added */
  if (box_meta_any (buffer))
    before = count_before (self, buffer, width, height);
  for (i = 0; i < frame->boxes->len; i++) {
    Box *box = &g_array_index (frame->boxes, Box, i);

    if (box->suppressed_by >= 0)
      box->suppressed_by += before;
  }
  box_meta_attach (buffer, frame->boxes, width, height, self->kind);
  /* restores the values, because the frame may be attached again */
  for (i = 0; i < frame->boxes->len; i++) {
    Box *box = &g_array_index (frame->boxes, Box, i);

    if (box->suppressed_by >= 0)
      box->suppressed_by -= before;
  }
}
