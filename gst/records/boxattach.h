/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxattach: attaches the boxes of a record to a buffer, beside the boxes on it or in
 * their place. box_attach_changes () tells whether that changes the buffer, which then
 * must be writable for box_attach_run ().
 */
#pragma once

#include "meta/boxmeta.h"
#include "recordedframe.h"

G_BEGIN_DECLS

typedef struct
{
  BoxMetaKind kind; /* type of metadata in which boxes are attached */
  gboolean replace; /* remove the boxes on the buffer first */

  /* private */
  GArray *no_boxes; /* elements: Box, always empty */
  GArray *present;  /* elements of type Box: the boxes already on the buffer */
} BoxAttach;

void box_attach_init (BoxAttach *self);
void box_attach_clear (BoxAttach *self);

/* Returns whether box_attach_run () would change the buffer. `frame` is NULL if there is no
 * record. */
gboolean box_attach_changes (const BoxAttach *self, const RecordedFrame *frame, GstBuffer *buffer);

/* Attaches the boxes, which fit a frame of width x height (0 if unknown), to a buffer, which
 * must be writable if it changes. `frame` may be changed, and may be NULL. */
void box_attach_run (BoxAttach *self, RecordedFrame *frame, GstBuffer *buffer, gint width,
    gint height);

G_END_DECLS
