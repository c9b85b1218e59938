/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pictures: video buffers with boxes for the overlay's tests, and what is seen
 * on them. Pixels are read through GStreamer's own unpack functions, which
 * share nothing with the code that painted them.
 */
#pragma once

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

/* 8 bits a channel, full range, straight from the components of each pixel. */
typedef struct
{
  gint width, height;
  gboolean has_alpha;
  guint8 *argb;                 /* 4 bytes a pixel */
  guint8 *unpacked;             /* as GStreamer unpacks it; 16 bits if `wide` */
  gboolean wide;
} Picture;

Picture *picture_read (const GstVideoInfo * info, GstBuffer * buffer);
void picture_free (Picture * picture);

/* 0xRRGGBB; and whether two pictures have the very same components there. */
guint32 picture_rgb (const Picture * picture, gint x, gint y);
guint8 picture_alpha (const Picture * picture, gint x, gint y);
gboolean picture_same (const Picture * a, const Picture * b, gint x, gint y);
/* How many pixels differ within x1 <= x < x2, y1 <= y < y2. */
guint picture_changed (const Picture * a, const Picture * b, gint x1, gint y1, gint x2, gint y2);

/* Largest difference of a channel. */
gint rgb_distance (guint32 a, guint32 b);

/* A buffer for a format as this GStreamer lays it out, all bytes 0x50. */
GstBuffer *video_buffer_new (const GstVideoInfo * info);

/* A region; confidence NAN: none; track 0: none; state NULL: none. */
void video_buffer_add_box (GstBuffer * buffer, const gchar * label, guint x, guint y, guint w,
    guint h, gdouble confidence, gint track, const gchar * state);

/* A boxoverlay that has these caps; launch: "boxoverlay show-label=false". */
GstHarness *overlay_new (const gchar * launch, const GstVideoInfo * info);
void overlay_set_info (GstHarness * h, const GstVideoInfo * info);

/* Pushes (transfer full) and pulls. */
GstBuffer *overlay_push (GstHarness * h, GstBuffer * buffer);
