/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* playing: pipelines under test, made from launch lines. */
#pragma once

#include <gst/gst.h>

/* Creates a pipeline. The launch line is a printf format. Fails if it cannot be made. */
GstElement *playing_new (const gchar *format, ...) G_GNUC_PRINTF (1, 2);

/* Waits for a message of these types and returns it. Fails at an error or a warning that
 * is not among them. Drops other messages. */
GstMessage *playing_wait (GstElement *pipeline, GstMessageType types);

/* Plays to the end of the stream, then stops. */
void playing_to_end (GstElement *pipeline);

/* Adds a probe of this type, or of buffers, to a pad of the element with this name. */
void playing_probe_type (GstElement *pipeline, const gchar *element, const gchar *pad,
    GstPadProbeType type, GstPadProbeCallback callback, gpointer user_data);
void playing_probe (GstElement *pipeline, const gchar *element, const gchar *pad,
    GstPadProbeCallback callback, gpointer user_data);

/* Returns a field of the property stats of the element with this name. */
guint64 playing_stat (GstElement *pipeline, const gchar *element, const gchar *name);

/* Seeks 20 times in the first `frames` frames, plays from the last place to the end of these, and
 * stops the pipeline. */
void playing_seek (GstElement *pipeline, guint frames, GstClockTime distance);
