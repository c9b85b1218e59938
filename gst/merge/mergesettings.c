/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergesettings: a table of fields by property. */
#include "mergesettings.h"

#include "properties.h"

#include <gst/base/gstaggregator.h>

#define DEFAULT_IGNORE_INACTIVE_PADS FALSE
#define DEFAULT_FORCE_LIVE FALSE
#define DEFAULT_XPOS 0
#define DEFAULT_YPOS 0
#define DEFAULT_WIDTH 0
#define DEFAULT_HEIGHT 0
#define DEFAULT_TILES NULL
#define DEFAULT_TILE_INDEX 0
#define DEFAULT_DIRECTION GST_VIDEO_ORIENTATION_IDENTITY
#define DEFAULT_CLIP FALSE
#define DEFAULT_HOLD 0
#define DEFAULT_SOURCE NULL
#define DEFAULT_EDGE_MARGIN "5"

static const gsize fields[] = {
  [MERGE_PROP_XPOS] = G_STRUCT_OFFSET (MergeSettings, place.xpos),
  [MERGE_PROP_YPOS] = G_STRUCT_OFFSET (MergeSettings, place.ypos),
  [MERGE_PROP_WIDTH] = G_STRUCT_OFFSET (MergeSettings, place.width),
  [MERGE_PROP_HEIGHT] = G_STRUCT_OFFSET (MergeSettings, place.height),
  [MERGE_PROP_TILES] = G_STRUCT_OFFSET (MergeSettings, tiles),
  [MERGE_PROP_TILE_INDEX] = G_STRUCT_OFFSET (MergeSettings, place.tile_index),
  [MERGE_PROP_DIRECTION] = G_STRUCT_OFFSET (MergeSettings, place.direction),
  [MERGE_PROP_CLIP] = G_STRUCT_OFFSET (MergeSettings, clip),
  [MERGE_PROP_HOLD] = G_STRUCT_OFFSET (MergeSettings, hold),
  [MERGE_PROP_SOURCE] = G_STRUCT_OFFSET (MergeSettings, source),
  [MERGE_PROP_EDGE_MARGIN] = G_STRUCT_OFFSET (MergeSettings, edge_margin),
};

#define READWRITE (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)
#define PLAYING (READWRITE | GST_PARAM_MUTABLE_PLAYING)
#define CONTROLLABLE (PLAYING | GST_PARAM_CONTROLLABLE)

/* Replaces the properties of GstAggregator that have no effect here, to say so. */
static void
install_without_effect (GObjectClass *object_class)
{
  const GType selection =
      g_object_class_find_property (object_class, "start-time-selection")->value_type;

  g_object_class_install_property (object_class, MERGE_ELEMENT_PROP_START_TIME,
      g_param_spec_uint64 ("start-time", "Start time",
          "Has no effect: buffers and segments keep the times of the main stream", 0, G_MAXUINT64,
          G_MAXUINT64, READWRITE));
  g_object_class_install_property (object_class, MERGE_ELEMENT_PROP_START_TIME_SELECTION,
      g_param_spec_enum ("start-time-selection", "Start time selection",
          "Has no effect: buffers and segments keep the times of the main stream", selection,
          GST_AGGREGATOR_START_TIME_SELECTION_ZERO, READWRITE));
}

void
merge_settings_install_element (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, MERGE_ELEMENT_PROP_TOLERANCE,
      g_param_spec_uint64 ("tolerance", "Tolerance",
          "Largest distance, in ns, between the running times of a main buffer and the buffer of a "
          "branch that belongs to it. 0 = half a frame: half of the main buffer's duration, else "
          "of a frame at the main stream's frame rate, else of 40 ms",
          0, G_MAXUINT64, MERGE_DEFAULT_TOLERANCE, PLAYING));
  g_object_class_install_property (object_class, MERGE_ELEMENT_PROP_IGNORE_INACTIVE_PADS,
      g_param_spec_boolean ("ignore-inactive-pads", "Ignore inactive pads",
          "In a live pipeline, do not wait for a branch that has had no buffer yet, once a "
          "main buffer has waited for it",
          DEFAULT_IGNORE_INACTIVE_PADS, PLAYING));
  g_object_class_install_property (object_class, MERGE_ELEMENT_PROP_FORCE_LIVE,
      g_param_spec_boolean ("force-live", "Force live",
          "Wait for branches at most until the main buffer's running time plus latency, also if no "
          "source is live",
          DEFAULT_FORCE_LIVE, READWRITE | G_PARAM_CONSTRUCT_ONLY));
  install_without_effect (object_class);
}

static void
install_place (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, MERGE_PROP_XPOS,
      g_param_spec_int ("xpos", "X position",
          "Left edge of the branch's picture in the main frame, in pixels of the main frame. For a "
          "branch behind videocrop: its property left",
          G_MININT, G_MAXINT, DEFAULT_XPOS, CONTROLLABLE));
  g_object_class_install_property (object_class, MERGE_PROP_YPOS,
      g_param_spec_int ("ypos", "Y position",
          "Top edge of the branch's picture in the main frame, in pixels of the main frame. For a "
          "branch behind videocrop: its property top",
          G_MININT, G_MAXINT, DEFAULT_YPOS, CONTROLLABLE));
  g_object_class_install_property (object_class, MERGE_PROP_WIDTH,
      g_param_spec_uint ("width", "Width",
          "Width of the branch's picture in the main frame, in pixels of the main frame; boxes are "
          "scaled to it. 0 = the width of the branch's picture: not scaled",
          0, G_MAXINT, DEFAULT_WIDTH, CONTROLLABLE));
  g_object_class_install_property (object_class, MERGE_PROP_HEIGHT,
      g_param_spec_uint ("height", "Height",
          "Height of the branch's picture in the main frame, in pixels of the main frame; boxes "
          "are scaled to it. 0 = the height of the branch's picture: not scaled",
          0, G_MAXINT, DEFAULT_HEIGHT, CONTROLLABLE));
}

static void
install_tiles (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, MERGE_PROP_TILES,
      g_param_spec_string ("tiles", "Tiles",
          "Grid of tiles, COLUMNSxROWS or COLUMNSxROWS+OVERLAP with OVERLAP in pixels, such as "
          "3x2+64; the branch is the tile with number tile-index, and xpos, ypos, width and height "
          "are not used. A tile is (WIDTH + (COLUMNS - 1) * OVERLAP) / COLUMNS wide, rounded up to "
          "an even number, and tile i of a row begins at i * (WIDTH - tile) / (COLUMNS - 1), "
          "rounded down to an even number but for the last; heights likewise. NULL = no grid",
          DEFAULT_TILES, PLAYING));
  g_object_class_install_property (object_class, MERGE_PROP_TILE_INDEX,
      g_param_spec_uint ("tile-index", "Tile index",
          "Number of the tile, from 0, row by row from the top left; only with tiles. In a batch "
          "(caps with meta:GstAnalyticsBatchMeta), buffer n of stream s is the tile tile-index + s "
          "+ n, or lies where its GstVideoCropMeta states, with or without tiles",
          0, G_MAXINT, DEFAULT_TILE_INDEX, PLAYING));
}

void
merge_settings_install (GObjectClass *object_class)
{
  install_place (object_class);
  install_tiles (object_class);
  g_object_class_install_property (object_class, MERGE_PROP_DIRECTION,
      g_param_spec_enum ("video-direction", "Video direction",
          "How the branch turned its picture, after cropping it: the property of that name of its "
          "videoflip. Boxes are turned back. auto and custom = not turned",
          GST_TYPE_VIDEO_ORIENTATION_METHOD, DEFAULT_DIRECTION, PLAYING));
  g_object_class_install_property (object_class, MERGE_PROP_CLIP,
      g_param_spec_boolean ("clip", "Clip",
          "Clip boxes to the main frame. Rotated boxes are not clipped. Boxes wholly outside of "
          "the main frame are left out in any case",
          DEFAULT_CLIP, PLAYING));
  g_object_class_install_property (object_class, MERGE_PROP_HOLD,
      g_param_spec_uint64 ("hold", "Hold",
          "Largest age of a buffer of the branch, in ns since its time, at which its boxes are "
          "also added to main buffers that have no buffer of the branch, until the next one. For "
          "detectors that are slower than the video. 0 = off",
          0, G_MAXUINT64, DEFAULT_HOLD, PLAYING));
  g_object_class_install_property (object_class, MERGE_PROP_SOURCE,
      g_param_spec_string ("source", "Source",
          "Name of the branch that its boxes carry: the field name of a structure \"source\" of a "
          "region, and a class \"source:NAME\" related to an OD. NULL = the name of the pad, such "
          "as sink_0; empty = none",
          DEFAULT_SOURCE, PLAYING));
  g_object_class_install_property (object_class, MERGE_PROP_EDGE_MARGIN,
      g_param_spec_string ("edge-margin", "Edge margin",
          "Largest distance of a box from an edge of the branch's picture at which it is marked as "
          "cut: pixels of the main frame or, with %, per cent of the width (left and right edge) "
          "and of the height (top and bottom edge) of the picture there. Edges of the main frame "
          "do not cut. nmsfilter ranks marked boxes below all others, so that a whole box of "
          "another branch suppresses them. The mark is the field cut of a structure \"source\" of "
          "a region, and a class \"source-cut\" related to an OD. 0 = boxes that touch the edge; "
          "NULL or empty = none",
          DEFAULT_EDGE_MARGIN, PLAYING));
}

void
merge_settings_init (MergeSettings *settings)
{
  *settings = (MergeSettings) {
    .place = {
      .xpos = DEFAULT_XPOS,
      .ypos = DEFAULT_YPOS,
      .width = DEFAULT_WIDTH,
      .height = DEFAULT_HEIGHT,
      .tile_index = DEFAULT_TILE_INDEX,
      .direction = DEFAULT_DIRECTION,
    },
    .tiles = g_strdup (DEFAULT_TILES),
    .clip = DEFAULT_CLIP,
    .hold = DEFAULT_HOLD,
    .source = g_strdup (DEFAULT_SOURCE),
    .edge_margin = g_strdup (DEFAULT_EDGE_MARGIN),
  };
  frame_length_parse (settings->edge_margin, &settings->margin);
}

void
merge_settings_clear (MergeSettings *settings)
{
  g_free (settings->tiles);
  g_free (settings->source);
  g_free (settings->edge_margin);
}

void
merge_settings_set (MergeSettings *settings, guint id, const GValue *value)
{
  property_field_set (G_STRUCT_MEMBER_P (settings, fields[id]), value);
  merge_tiles_parse (settings->tiles, &settings->place.tiles);
  frame_length_parse (settings->edge_margin, &settings->margin);
}

gchar *
merge_settings_fault (const MergeSettings *settings)
{
  FrameLength margin;
  MergeTiles tiles;

  if (!merge_tiles_parse (settings->tiles, &tiles))
    return g_strdup_printf ("cannot use tiles: \"%s\" is not COLUMNSxROWS or COLUMNSxROWS+OVERLAP",
        settings->tiles);
  if (!frame_length_parse (settings->edge_margin, &margin))
    return g_strdup_printf ("cannot use edge-margin: \"%s\" is not %s", settings->edge_margin,
        FRAME_LENGTH_FORM);
  return NULL;
}

void
merge_settings_get (const MergeSettings *settings, guint id, GValue *value)
{
  property_field_get (G_STRUCT_MEMBER_P (settings, fields[id]), value);
}
