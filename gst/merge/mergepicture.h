/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergepicture: the boxes of one picture of a branch, on their way to the main frame. */
#pragma once

#include <gst/video/video.h>

#include "mergesettings.h"
#include "meta/boxmeta.h"

G_BEGIN_DECLS

/* A picture of the branch: its buffer, or one inside of a batch. */
typedef struct
{
  GstBuffer *buffer;
  gint width, height;           /* 0: unknown */
  guint slice;                  /* number of tiles after the one that the settings name */
  const GstVideoCropMeta *crop; /* of a slice: its place in the main frame; or NULL */
  gboolean move;                /* `buffer` is writable, and its structures may be moved */
} MergePicture;

/* A main buffer that gets boxes. */
typedef struct
{
  GstBuffer **main;        /* is made writable if there are boxes */
  gint width, height;      /* of its frame; 0: unknown */
  BoxMetaReading *reading; /* working space */
  guint boxes;             /* number of boxes appended so far */
  gchar *error;            /* NULL, or why a place is unknown, to be freed */
} MergeTarget;

/* Appends the boxes of the picture, placed by the settings of `pad`, which its object lock
 * guards. Returns FALSE, with an error in `target`, if the place is unknown. */
gboolean merge_picture_append (const MergePicture *self, GstObject *pad,
    const MergeSettings *settings, MergeTarget *target);

G_END_DECLS
