/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * foreignmtd: mtds of a type that the plugin does not know, which own memory. They are
 * counted, so that a test sees whether one leaks.
 */
#pragma once

#include <gst/analytics/analytics.h>

/* Adds a foreign mtd with this number and returns its id. */
guint foreign_mtd_add (GstBuffer *buffer, gint number);

/* Returns the numbers of the foreign mtds on the buffer, in order: "7 9". Free it. Fails
 * if the memory of one does not belong to its number. */
gchar *foreign_mtds_on (GstBuffer *buffer);

/* Returns how many foreign mtds exist, on any buffer. */
gint foreign_mtds_alive (void);
