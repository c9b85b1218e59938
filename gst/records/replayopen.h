/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replayopen: opens the recording of boxreplay, and posts its faults as error messages of the
 * element.
 */
#pragma once

#include "replaysettings.h"

G_BEGIN_DECLS

/* Checks that there is one recording: a location, line-meta or, with `has_pad`, the pad boxes.
 * Returns FALSE after an error message. */
gboolean replay_open_check (GstElement *element, const ReplaySettings *settings, gboolean has_pad);

/* Opens the location. Returns NULL after an error message. */
RecordReader *replay_open (GstElement *element, const ReplaySettings *settings);

/* Posts the error of reading the recording `source`, and frees it. */
void replay_open_failed (GstElement *element, const gchar *source, GError *error);

/* Posts the error of a seek within the recording, and frees it. */
void replay_open_seek_failed (GstElement *element, const gchar *source, GError *error);

G_END_DECLS
