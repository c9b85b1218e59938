/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bed: what the benchmarks of the elements share: boxes as a detector writes them, and
 * an element between two pads.
 */
#pragma once

#include <gst/gst.h>

#define WIDTH 1280
#define HEIGHT 720
#define CAPS "video/x-raw,format=I420,width=1280,height=720,framerate=25/1"
#define FRAME (GST_SECOND / 25)

typedef struct {
  gint x, y, w, h;
  gdouble confidence;
  gint label;
} Detection;

/* Returns `count` boxes (of Detection). 60 % of them repeat one of the others, slightly
 * moved and with a lower confidence, at random positions in the buffer. */
GArray *make_detections (guint count);

const gchar *detection_label (const Detection *d);

void attach (GstBuffer *buffer, const Detection *d, guint id);
void attach_all (GstBuffer *buffer, const GArray *list);

/* An element between two pads of this program. The last pad keeps the buffer that
 * arrives. */
typedef struct {
  GstElement *element;
  GstPad *before, *after;
  GstBuffer *caught;
} Bed;

/* Creates and starts the element `name`, with properties as for gst_util_set_object_arg,
 * up to NULL. Returns FALSE if this build has no such element. */
gboolean bed_open (Bed *bed, const gchar *name, ...) G_GNUC_NULL_TERMINATED;

/* Pushes a buffer, which it takes. The previous buffer must have been freed. */
void bed_push (Bed *bed, GstBuffer *buffer);
void bed_close (Bed *bed);
