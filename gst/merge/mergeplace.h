/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mergeplace: where in the main frame the picture of a branch lies, as its pad's properties
 * state it.
 */
#pragma once

#include <gst/video/video.h>

G_BEGIN_DECLS

/* A regular grid of tiles of one size, of which neighbors overlap by the same number of
 * pixels. Text: COLUMNSxROWS or COLUMNSxROWS+OVERLAP, such as 2x2+64. */
typedef struct
{
  guint columns, rows; /* 0 if there is no grid */
  guint overlap;       /* minimum overlap of adjacent tiles, in pixels */
} MergeTiles;

/* Reads the text; NULL and "" are no grid. Returns FALSE, and no grid, if it is malformed. */
gboolean merge_tiles_parse (const gchar *text, MergeTiles *tiles);

/* Writes the place of tile `index`, counted from 0 row by row. A tile is
 * (WIDTH + (COLUMNS - 1) * OVERLAP) / COLUMNS wide, rounded up to an even number, and tile i of
 * a row begins at i * (WIDTH - tile) / (COLUMNS - 1), rounded down to an even number except
 * for the last tile. Heights are computed in the same way. (Even, because croppers move the
 * chroma of 4:2:0 otherwise.) Returns FALSE if there is no such tile, or the overlap is not
 * smaller than a tile. */
gboolean merge_tiles_rect (const MergeTiles *tiles, guint index, gint width, gint height,
    GstVideoRectangle *rect);

/* Replaces the tile sizes in writable caps by the sizes of the frames that have such tiles. */
void merge_tiles_widen_caps (const MergeTiles *tiles, GstCaps *caps);

typedef struct
{
  gint xpos, ypos;     /* pixels of the main frame */
  guint width, height; /* 0 for as large as the picture of the branch */
  MergeTiles tiles;    /* if it has columns, the fields above are not used */
  guint tile_index;
  GstVideoOrientationMethod direction; /* how the branch was turned */
} MergePlace;

/* Writes the place of a branch whose picture has the size `picture_width` x `picture_height`
 * (0 if unknown) in a main frame of `width` x `height` (0 if unknown). Returns NULL, or why there
 * is none, a text to be freed. */
gchar *merge_place_rect (const MergePlace *self, gint width, gint height, gint picture_width,
    gint picture_height, GstVideoRectangle *rect);

G_END_DECLS
