/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bed: what the benchmarks of the elements share: boxes as a detector would have
 * them, and an element between two pads.
 */
#pragma once

#include <gst/gst.h>

#define WIDTH 1280
#define HEIGHT 720
#define CAPS "video/x-raw,format=I420,width=1280,height=720,framerate=25/1"
#define FRAME (GST_SECOND / 25)

typedef struct
{
  gint x, y, w, h;
  gdouble confidence;
  gint label;
} Detection;

/* `count` boxes (of Detection), of which 60 % are repetitions of the others, moved
 * by a little and with a lower confidence; scattered over the order of the buffer. */
GArray *make_detections (guint count);

const gchar *detection_label (const Detection * d);

void attach (GstBuffer * buffer, const Detection * d, guint id);
void attach_all (GstBuffer * buffer, const GArray * list);

/* An element between two pads of ours; what leaves it is caught. */
typedef struct
{
  GstElement *element;
  GstPad *before, *after;
  GstBuffer *caught;
} Bed;

/* Plays `name`, with properties as gst_util_set_object_arg takes them, up to
 * NULL. FALSE: this build has no such element. */
gboolean bed_open (Bed * bed, const gchar * name, ...) G_GNUC_NULL_TERMINATED;

/* Pushes a buffer, which is given away. The one caught before has to be gone. */
void bed_push (Bed * bed, GstBuffer * buffer);
void bed_close (Bed * bed);
