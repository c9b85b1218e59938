/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * picturechange: what happened to a picture while its boxes stayed as they were: a crop, then a
 * flip, then scaling to the size of the frame.
 */
#pragma once

#include "meta/boxmap.h"

G_BEGIN_DECLS

typedef struct
{
  /* pixels cropped from the picture that the boxes refer to; negative: a border was added */
  gint top, bottom, left, right;
  /* size of that picture before the crop; 0: derived from the frame size, not scaled */
  gint width, height;
  gint direction;     /* GstVideoOrientationMethod; not AUTO or CUSTOM */
  gboolean stretched; /* the boxes were scaled to the frame size before */
  gboolean clip;      /* boxes are clipped to the frame */
} PictureChange;

/* What follows from a change for a frame size. */
typedef struct
{
  BoxMap map;
  gint read_width, read_height; /* of the picture whose pixels the boxes are in; 0: unknown */
  gint width, height;           /* of the frame; 0: unknown */
} PictureChangePlan;

/* Writes the plan for frames of width x height, 0 if unknown. Returns NULL, or why the change is
 * impossible, as a sentence (to be freed with g_free): the crop leaves nothing, or a frame size
 * is needed and unknown. */
gchar *picture_change_plan (const PictureChange *self, gint width, gint height,
    PictureChangePlan *plan);

G_END_DECLS
