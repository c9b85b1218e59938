/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mergesettings: the settable properties of the pads sink_%u of boxmerge: names, ranges,
 * defaults, descriptions and values.
 */
#pragma once

#include <gst/gst.h>

#include "mergeplace.h"

G_BEGIN_DECLS

/* The ids of the properties. Those of the pad itself begin after MERGE_PROP_LAST. */
typedef enum
{
  MERGE_PROP_XPOS = 1,
  MERGE_PROP_YPOS,
  MERGE_PROP_WIDTH,
  MERGE_PROP_HEIGHT,
  MERGE_PROP_TILES,
  MERGE_PROP_TILE_INDEX,
  MERGE_PROP_DIRECTION,
  MERGE_PROP_CLIP,
  MERGE_PROP_HOLD,
  MERGE_PROP_SOURCE,
  MERGE_PROP_LAST = MERGE_PROP_SOURCE,
} MergeProp;

/* The values. The pad guards them by its object lock. */
typedef struct
{
  MergePlace place;
  gchar *tiles;                 /* the text of place.tiles */
  gboolean clip;
  guint64 hold;                 /* ns */
  gchar *source;                /* NULL: the name of the pad; "": none */
} MergeSettings;

/* Installs these properties. */
void merge_settings_install (GObjectClass * object_class);

/* Set all values to their defaults, and free them. */
void merge_settings_init (MergeSettings * settings);
void merge_settings_clear (MergeSettings * settings);

/* Sets the property `id`, a MergeProp. Returns FALSE, and changes nothing, if a text is
 * malformed. */
gboolean merge_settings_set (MergeSettings * settings, guint id, const GValue * value);
void merge_settings_get (const MergeSettings * settings, guint id, GValue * value);

G_END_DECLS
