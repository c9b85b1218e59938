/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mergesettings: the settable properties of boxmerge and of its pads sink_%u: names, ranges,
 * defaults and descriptions, and the values of those of the pads.
 */
#pragma once

#include <gst/gst.h>

#include "mergeplace.h"
#include "meta/framelength.h"

G_BEGIN_DECLS

/* The ids of the properties of the element. Others begin after MERGE_ELEMENT_PROP_LAST. */
typedef enum
{
  MERGE_ELEMENT_PROP_TOLERANCE = 1,
  MERGE_ELEMENT_PROP_IGNORE_INACTIVE_PADS,
  MERGE_ELEMENT_PROP_FORCE_LIVE,
  MERGE_ELEMENT_PROP_START_TIME, /* this and the next one have no effect */
  MERGE_ELEMENT_PROP_START_TIME_SELECTION,
  MERGE_ELEMENT_PROP_LAST = MERGE_ELEMENT_PROP_START_TIME_SELECTION,
} MergeElementProp;

#define MERGE_DEFAULT_TOLERANCE 0

/* Installs the properties of the element. */
void merge_settings_install_element (GObjectClass *object_class);

/* The ids of the properties of a pad. Those of the pad itself begin after MERGE_PROP_LAST. */
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
  MERGE_PROP_EDGE_MARGIN,
  MERGE_PROP_LAST = MERGE_PROP_EDGE_MARGIN,
} MergeProp;

/* The values. The pad guards them by its object lock. */
typedef struct
{
  MergePlace place;
  gchar *tiles; /* the text of place.tiles */
  gboolean clip;
  guint64 hold;       /* ns */
  gchar *source;      /* NULL: the name of the pad; "": none */
  gchar *edge_margin; /* the text of margin */
  FrameLength margin; /* distance from an edge within which a box is cut */
} MergeSettings;

/* Installs the properties of a pad. */
void merge_settings_install (GObjectClass *object_class);

/* Set all values to their defaults, and free them. */
void merge_settings_init (MergeSettings *settings);
void merge_settings_clear (MergeSettings *settings);

/* Sets the property `id`, a MergeProp. A malformed text is stored, and merge_settings_fault finds
 * it. */
void merge_settings_set (MergeSettings *settings, guint id, const GValue *value);

/* Returns which text is malformed, and its form, as a text to be freed, or NULL. */
gchar *merge_settings_fault (const MergeSettings *settings);

void merge_settings_get (const MergeSettings *settings, guint id, GValue *value);

G_END_DECLS
