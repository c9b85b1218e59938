/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordwindow: an insertion into an array of up to RECORD_WINDOW_MOST + 1 pointers. */
#include "recordwindow.h"

void
record_window_init (RecordWindow *self)
{
  *self = (RecordWindow) { .frames = g_ptr_array_new () };
}

void
record_window_clear (RecordWindow *self)
{
  g_ptr_array_unref (self->frames);
}

void
record_window_reset (RecordWindow *self)
{
  g_assert (self->frames->len == 0);
  self->next = NULL;
  self->ended = self->sorting = FALSE;
}

static gboolean
is_sorted (RecordWindow *self, const RecordedFrame *frame)
{
  if (frame->timestamp == RECORDED_FRAME_NO_TIME)
    return FALSE;
  if (self->session != frame->session || self->reverse != frame->reverse)
    self->sorting = FALSE;
  self->session = frame->session;
  self->reverse = frame->reverse;
  self->sorting |= frame->decoding_order;
  return self->sorting;
}

/* Inserts the frame behind those that are not after it. */
static void
insert (RecordWindow *self, RecordedFrame *frame)
{
  guint i = self->frames->len;

  while (i > 0) {
    const RecordedFrame *other = g_ptr_array_index (self->frames, i - 1);

    if (frame->reverse ? other->timestamp >= frame->timestamp
                       : other->timestamp <= frame->timestamp)
      break;
    i--;
  }
  g_ptr_array_insert (self->frames, i, frame);
}

gboolean
record_window_add (RecordWindow *self, RecordedFrame *frame)
{
  const RecordedFrame *first = self->frames->len > 0 ? g_ptr_array_index (self->frames, 0) : NULL;

  if (first
      && (frame->timestamp == RECORDED_FRAME_NO_TIME || first->session != frame->session
          || first->reverse != frame->reverse)) {
    self->next = frame;
    return FALSE;
  }
  if (!is_sorted (self, frame))
    return FALSE;
  insert (self, frame);
  return TRUE;
}

RecordedFrame *
record_window_take (RecordWindow *self)
{
  if (self->frames->len > RECORD_WINDOW_MOST
      || (self->frames->len > 0 && (self->next || self->ended)))
    return g_ptr_array_steal_index (self->frames, 0);
  return NULL;
}
