/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pictures: video buffers with boxes for the tests of boxoverlay, and the pixels that it
 * draws. Pixels are read through the unpack functions of GStreamer, which share no code
 * with boxoverlay.
 */
#pragma once

#include "gstboxes.h"

/* The frames of most tests, and the launch line of an overlay without labels. */
#define OUTLINES "boxoverlay show-label=false show-score=false"
#define PICTURE_WIDTH 96
#define PICTURE_HEIGHT 64

typedef struct
{
  GstVideoInfo info;
  gint width, height;
  gsize bytes;      /* size of a pixel: 4, or 8 if components have 16 bits */
  guint8 *unpacked; /* as GStreamer unpacks it */
} Picture;

Picture *picture_read (const GstVideoInfo *info, GstBuffer *buffer);
void picture_free (Picture *picture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Picture, picture_free)

/* picture_rgb returns a pixel as 0xRRGGBB, full range. picture_component returns the upper 8 bits
 * of its component: 0 is alpha, 1 to 3 are RGB or YUV. picture_same returns whether two pictures
 * have exactly the same components there. */
guint32 picture_rgb (const Picture *picture, gint x, gint y);
guint8 picture_component (const Picture *picture, gint x, gint y, guint c);
gboolean picture_same (const Picture *a, const Picture *b, gint x, gint y);
/* Returns how many pixels differ within x1 <= x < x2, y1 <= y < y2, or on the whole picture. */
guint picture_changed (const Picture *a, const Picture *b, gint x1, gint y1, gint x2, gint y2);
guint picture_all_changed (const Picture *a, const Picture *b);

/* Fails unless the pictures are the same, and frees both. */
void picture_assert_same (Picture *a, Picture *b);

/* Fails unless a picture, which it frees like that before, has what `found` says, separated by
 * blanks: the color at a place, "40,80=ff6a95", and how many pixels within x1 <= x < x2,
 * y1 <= y < y2 have changed, "0,0,320,4:12". */
void picture_expect (Picture *picture, Picture *before, const gchar *found);

/* Returns the largest difference of a channel. */
gint rgb_distance (guint32 a, guint32 b);

GstVideoInfo video_info_of (GstVideoFormat format, gint width, gint height);

/* Returns a buffer for this format in the default layout, with all bytes 0x50; and its picture. */
GstBuffer *video_buffer_new (const GstVideoInfo *info);
Picture *picture_blank (const GstVideoInfo *info);

/* Returns a buffer with these boxes, as add_boxes takes them. */
GstBuffer *boxed_buffer_new (const GstVideoInfo *info, const gchar *boxes);

/* Replaces the memory of the buffer by these bytes, all 0x50, between two guards. Returns the
 * memory with its guards. guards_are_intact returns whether nobody wrote to them. Free it after the
 * buffer. */
#define GUARD 4096
guint8 *guard_buffer (GstBuffer *buffer, gsize bytes);
gboolean guards_are_intact (const guint8 *memory, gsize bytes);

/* Creates a boxoverlay in a harness with these caps. `launch` is a line like "boxoverlay
 * show-label=false". */
GstHarness *overlay_new (const gchar *launch, const GstVideoInfo *info);

/* Pushes the buffer, which it takes, and returns the picture that comes out. */
Picture *overlay_draw (GstHarness *h, const GstVideoInfo *info, GstBuffer *buffer);

/* Does the same with a new element of this launch line, and with boxes on an empty frame. */
Picture *overlay_once (const gchar *launch, const GstVideoInfo *info, GstBuffer *buffer);
Picture *overlay_boxes (const gchar *launch, const GstVideoInfo *info, const gchar *boxes);
