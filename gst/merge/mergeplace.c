/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mergeplace: computes tiles and places in pixels. */
#include "mergeplace.h"

#include "meta/boxmap.h"

#include <stdio.h>
#include <string.h>

#define MOST_TILES 1000 /* largest number of tiles in a row or a column */

static gboolean
parse (const gchar *text, MergeTiles *tiles)
{
  const gsize length = strlen (text);
  int used = 0;

  if (length > 32 || strspn (text, "0123456789x+") != length)
    return FALSE;
  if (sscanf (text, "%4ux%4u%n", &tiles->columns, &tiles->rows, &used) != 2)
    return FALSE;
  if (text[used] == '+') {
    const gchar *rest = text + used;

    if (sscanf (rest, "+%6u%n", &tiles->overlap, &used) != 1)
      return FALSE;
    text = rest;
  }
  return text[used] == '\0' && tiles->columns > 0 && tiles->columns <= MOST_TILES && tiles->rows > 0
      && tiles->rows <= MOST_TILES;
}

gboolean
merge_tiles_parse (const gchar *text, MergeTiles *tiles)
{
  MergeTiles found = { 0 };
  const gboolean usable = text == NULL || *text == '\0' || parse (text, &found);

  *tiles = usable ? found : (MergeTiles) { 0 };
  return usable;
}

/* Places tile `index` of `count` along an axis of `size` pixels. */
static gboolean
place_along (gint64 size, guint count, guint overlap, guint index, gint *start, gint *length)
{
  gint64 tile = (size + (gint64) (count - 1) * overlap + count - 1) / count;

  tile = MIN (tile + (tile & 1), size);
  *length = (gint) tile;
  if (index + 1 == count)
    *start = (gint) (size - tile);
  else
    *start = (gint) (index * (size - tile) / (count - 1) & ~(gint64) 1);
  return overlap < tile;
}

gboolean
merge_tiles_rect (const MergeTiles *tiles, guint index, gint width, gint height,
    GstVideoRectangle *rect)
{
  if (index >= tiles->columns * tiles->rows)
    return FALSE;
  return place_along (width, tiles->columns, tiles->overlap, index % tiles->columns, &rect->x,
             &rect->w)
      && place_along (height, tiles->rows, tiles->overlap, index / tiles->columns, &rect->y,
          &rect->h);
}

/* Writes the lengths of frames along an axis whose tiles are `value` long, an integer, a range or a
 * list of these. The inverse of place_along. */
static void
widen_value (const GValue *value, guint count, guint overlap, GValue *frames)
{
  const gint64 shared = (gint64) (count - 1) * overlap;
  gint64 from, to;

  if (GST_VALUE_HOLDS_LIST (value)) {
    g_value_init (frames, GST_TYPE_LIST);
    for (guint i = 0; i < gst_value_list_get_size (value); i++) {
      GValue entry = G_VALUE_INIT;

      widen_value (gst_value_list_get_value (value, i), count, overlap, &entry);
      gst_value_list_append_and_take_value (frames, &entry);
    }
    return;
  }
  if (GST_VALUE_HOLDS_INT_RANGE (value)) {
    from = gst_value_get_int_range_min (value);
    to = gst_value_get_int_range_max (value);
  } else {
    from = to = g_value_get_int (value);
  }
  /* (Tiles are rounded up to an even number, but are not larger than the frame.) */
  from = CLAMP (count * (from - 2 + (from & 1)) + 1 - shared, from, G_MAXINT);
  to = CLAMP (count * (to & ~(gint64) 1) - shared, to, G_MAXINT);
  if (from < to) {
    g_value_init (frames, GST_TYPE_INT_RANGE);
    gst_value_set_int_range (frames, (gint) from, (gint) to);
  } else if (from == to) {
    g_value_init (frames, G_TYPE_INT);
    g_value_set_int (frames, (gint) from);
  } else {
    g_value_init (frames, GST_TYPE_LIST); /* empty, because no frame has such tiles */
  }
}

static void
widen_field (GstStructure *structure, const gchar *name, guint count, guint overlap)
{
  const GValue *value = gst_structure_get_value (structure, name);
  GValue frames = G_VALUE_INIT;

  if (value == NULL)
    return;
  widen_value (value, count, overlap, &frames);
  gst_structure_take_value (structure, name, &frames);
}

void
merge_tiles_widen_caps (const MergeTiles *tiles, GstCaps *caps)
{
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstStructure *structure = gst_caps_get_structure (caps, i);

    widen_field (structure, "width", tiles->columns, tiles->overlap);
    widen_field (structure, "height", tiles->rows, tiles->overlap);
  }
}

static gchar *
place_tile (const MergePlace *self, gint width, gint height, GstVideoRectangle *rect)
{
  if (width <= 0 || height <= 0)
    return g_strdup ("tiles need the size of the main frame, which its caps do not state");
  if (!merge_tiles_rect (&self->tiles, self->tile_index, width, height, rect))
    return g_strdup_printf ("a frame of %dx%d has no tile %u in a grid of %ux%u tiles that "
                            "overlap by %u pixels",
        width, height, self->tile_index, self->tiles.columns, self->tiles.rows,
        self->tiles.overlap);
  return NULL;
}

gchar *
merge_place_rect (const MergePlace *self, gint width, gint height, gint picture_width,
    gint picture_height, GstVideoRectangle *rect)
{
  const gboolean sideways = box_map_swaps (self->direction);

  if (self->tiles.columns > 0)
    return place_tile (self, width, height, rect);
  rect->x = self->xpos;
  rect->y = self->ypos;
  rect->w = self->width > 0 ? (gint) self->width : sideways ? picture_height : picture_width;
  rect->h = self->height > 0 ? (gint) self->height : sideways ? picture_width : picture_height;
  return NULL;
}
