/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replaysettings: the settable properties of boxreplay: names, ranges, defaults,
 * descriptions and values.
 */
#pragma once

#include "meta/boxmeta.h"
#include "recordmatch.h"

G_BEGIN_DECLS

typedef enum
{
  REPLAY_EXISTING_KEEP = 0,
  REPLAY_EXISTING_REPLACE = 1,
} ReplayExisting;

typedef enum
{
  REPLAY_ON_ERROR_FAIL = 0,
  REPLAY_ON_ERROR_SKIP = 1,
} ReplayOnError;

/* The ids of the properties. Those of the element itself begin after REPLAY_PROP_LAST. */
typedef enum
{
  REPLAY_PROP_LOCATION = 1,
  REPLAY_PROP_FORMAT,
  REPLAY_PROP_MATCH,
  REPLAY_PROP_TOLERANCE,
  REPLAY_PROP_BOXES_TIMEOUT,
  REPLAY_PROP_EXISTING,
  REPLAY_PROP_META,
  REPLAY_PROP_LOOP,
  REPLAY_PROP_ON_ERROR,
  REPLAY_PROP_MAX_LINE,
  REPLAY_PROP_MAX_LABELS,
  REPLAY_PROP_FOLLOW,
  REPLAY_PROP_HOLD,
  REPLAY_PROP_LINE_META,
  REPLAY_PROP_LAST = REPLAY_PROP_LINE_META,
} ReplayProp;

/* The values. The element guards them by its object lock. */
typedef struct
{
  gchar *location;
  RecordFormat format;
  RecordMatchBy match_by;
  guint64 tolerance;
  guint64 boxes_timeout;
  ReplayExisting existing;
  BoxMetaKind meta;
  gboolean loop;
  ReplayOnError on_error;
  guint max_line;
  guint max_labels;
  gboolean follow;
  guint64 hold;
  gboolean line_meta;
} ReplaySettings;

/* Installs these properties and the types of their enumerations. */
void replay_settings_install (GObjectClass *object_class);

/* Set all values to their defaults, and free them. */
void replay_settings_init (ReplaySettings *settings);
void replay_settings_clear (ReplaySettings *settings);

/* Returns the value of the property `id`, a ReplayProp, for properties.h. */
gpointer replay_settings_field (ReplaySettings *settings, guint id);

G_END_DECLS
