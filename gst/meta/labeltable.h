/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * labeltable: turns labels that come as text into quarks, up to a limit, because GLib keeps
 * the string of a quark until the process ends.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Longest label that is taken, in bytes. With it the labels of an element take at most
 * max * LABEL_TABLE_LONGEST bytes, and about 100 bytes for each quark. */
#define LABEL_TABLE_LONGEST 4096

typedef struct
{
  guint max;       /* new labels to take; 0 for no limit, also of their length */
  guint taken;     /* new labels so far */
  guint64 refused; /* calls that returned 0 */
} LabelTable;

/* Returns the quark of `label`; or 0, which means no label, if it is new to the process and
 * the limit is reached or it is longer than LABEL_TABLE_LONGEST. A label that the process
 * already has as a quark takes no more memory and is never refused. `self` is NULL for
 * no limit. */
GQuark label_table_intern (LabelTable *self, const gchar *label);

G_END_DECLS
