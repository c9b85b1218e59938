/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * foreignmtd: mtds of a type that the plugin does not know, which own memory. They are
 * counted, so that a test sees whether one leaks.
 */
#pragma once

#include <gst/analytics/analytics.h>

/* Adds a foreign mtd with this number and returns its id. */
guint foreign_mtd_add (GstBuffer *buffer, gint number);

/* Returns the number of a foreign mtd, -1 if it is of another type. Fails if its memory does not
 * belong to its number. */
gint foreign_mtd_number (const GstAnalyticsMtd *mtd);

/* Returns the numbers of the foreign mtds on the buffer, in order: "7 9". Free it. */
gchar *foreign_mtds_on (GstBuffer *buffer);

#define assert_foreign(buffer, expected) \
  G_STMT_START \
  { \
    g_autofree gchar *foreign_ = foreign_mtds_on (buffer); \
    g_assert_cmpstr (foreign_, ==, expected); \
  } \
  G_STMT_END

/* Returns how many foreign mtds exist, on any buffer. */
gint foreign_mtds_alive (void);
