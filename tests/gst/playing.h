/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* playing: pipelines under test, by launch line, and what is in them by name. */
#pragma once

#include <gst/gst.h>

/* The line is a format; fails if it cannot be made. */
GstElement *playing_new (const gchar * format, ...) G_GNUC_PRINTF (1, 2);

/* Waits for a message of these types, or an error or a warning, which fail the
 * test unless asked for. To be unreffed; other messages are dropped. */
GstMessage *playing_wait (GstElement * pipeline, GstMessageType types);

/* Plays until the end, then stops. */
void playing_to_end (GstElement * pipeline);

void playing_probe (GstElement * pipeline, const gchar * element, const gchar * pad,
    GstPadProbeCallback callback, gpointer user_data);

/* A field of the property stats of the element of that name. */
guint64 playing_stat (GstElement * pipeline, const gchar * element, const gchar * name);
