/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordsettings: the settable properties of boxrecord: names, ranges, defaults,
 * descriptions and values.
 */
#pragma once

#include <gst/gst.h>

#include "recordedframe.h"

G_BEGIN_DECLS

/* When the lines of a regular file are written. */
typedef enum
{
  RECORD_FLUSH_LINE = 0,   /* each line at once, so that other programs can read it */
  RECORD_FLUSH_BUFFER = 1, /* when 64 KiB are collected, and at the end */
  RECORD_FLUSH_DISK = 2,   /* each line onto the disk, so that it survives a power failure */
} RecordFlush;

typedef enum
{
  RECORD_ON_ERROR_FAIL = 0,
  RECORD_ON_ERROR_CONTINUE = 1,
} RecordOnError;

/* The ids of the properties. Those of the element itself begin after RECORD_PROP_LAST. */
typedef enum
{
  RECORD_PROP_LOCATION = 1,
  RECORD_PROP_FORMAT,
  RECORD_PROP_APPEND,
  RECORD_PROP_EMIT_SIGNALS,
  RECORD_PROP_EMPTY_LINES,
  RECORD_PROP_ON_ERROR,
  RECORD_PROP_FLUSH,
  RECORD_PROP_ADD_STREAM_ID,
  RECORD_PROP_LINE_META,
  RECORD_PROP_LAST = RECORD_PROP_LINE_META,
} RecordProp;

/* The values. The element guards them by its object lock. */
typedef struct
{
  gchar *location;
  RecordFormat format;
  gboolean append;
  gboolean emit_signals;
  gboolean empty_lines;
  RecordOnError on_error;
  RecordFlush flush;
  gboolean add_stream_id;
  gboolean line_meta;
} RecordSettings;

/* Installs these properties and the types of their enumerations. */
void record_settings_install (GObjectClass *object_class);

/* Set all values to their defaults, and free them. */
void record_settings_init (RecordSettings *settings);
void record_settings_clear (RecordSettings *settings);

/* Returns the value of the property `id`, a RecordProp, for properties.h. */
gpointer record_settings_field (RecordSettings *settings, guint id);

G_END_DECLS
