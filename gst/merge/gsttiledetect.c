/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-tiledetect
 * @title: tiledetect
 *
 * Runs a detector on overlapping tiles of each frame, and attaches all their boxes to the frame. It
 * takes the place of the detector in a pipeline, and finds objects that are too small for that in
 * the whole frame. nmsfilter should follow, because neighboring tiles find the same objects.
 *
 * It is a bin: a tee, for each tile a bin `tile_0`, `tile_1` and so on with a videocrop, a bin
 * `shared` with the detector (#GstTileDetect:detector), and a boxmerge, whose statistics are posted
 * at the end of the stream. The tiles of a frame pass one after another through the detector, or
 * each through one of its own (#GstTileDetect:share-detector). The tiles are those of boxmerge's
 * property tiles, for the size of the frames. Only boxes are added to the frames; pixels do not
 * change. The main branch holds up to 60 frames while detectors work. Boxes at an edge of a tile
 * rank below whole boxes in nmsfilter (#GstTileDetect:edge-margin).
 *
 * Objects that are larger than a tile are found in further tiles of other sizes
 * (#GstTileDetect:scales) and in the whole frame (#GstTileDetect:whole-frame). Their parts in
 * smaller tiles are removed by `nmsfilter metric=ios`.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=video.mkv ! decodebin ! videoconvert ! video/x-raw,format=RGB \
 *   ! tiledetect columns=3 rows=2 overlap=64 detector='hogdetect pyramid-step=1.2' \
 *   ! nmsfilter ! boxoverlay ! videoconvert ! autovideosink
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "elements.h"
#include "framesize.h"
#include "mergeplace.h"
#include "meta/boxmeta.h"
#include "meta/boxremove.h"
#include "meta/framelength.h"
#include "properties.h"

GST_DEBUG_CATEGORY_STATIC (gst_tile_detect_debug);
#define GST_CAT_DEFAULT gst_tile_detect_debug

#define DEFAULT_DETECTOR NULL
#define DEFAULT_COLUMNS 2
#define DEFAULT_ROWS 2
#define DEFAULT_OVERLAP 0
#define DEFAULT_SCALES NULL
#define DEFAULT_WHOLE_FRAME FALSE
#define DEFAULT_EDGE_MARGIN "5"
#define DEFAULT_SHARE_DETECTOR TRUE
#define DEFAULT_LATENCY 0

#define MAIN_QUEUE_FRAMES 60
#define MOST_TILES 100 /* largest number of tiles in a row or a column */

enum
{
  PROP_DETECTOR = 1,
  PROP_COLUMNS,
  PROP_ROWS,
  PROP_OVERLAP,
  PROP_SCALES,
  PROP_WHOLE_FRAME,
  PROP_EDGE_MARGIN,
  PROP_SHARE_DETECTOR,
  PROP_LATENCY,
};

typedef struct
{
  gchar *detector;
  guint columns, rows, overlap;
  gchar *scales;
  gboolean whole_frame;
  gchar *edge_margin;
  gboolean share_detector;
  guint64 latency;
} TileSettings;

struct _GstTileDetect
{
  GstBin parent;

  TileSettings settings; /* under the object lock; fixed while `built` is TRUE */
  gboolean built;        /* the elements inside are there; under the object lock */
};

#define GST_TYPE_TILE_DETECT (gst_tile_detect_get_type ())
G_DECLARE_FINAL_TYPE (GstTileDetect, gst_tile_detect, GST, TILE_DETECT, GstBin)
G_DEFINE_TYPE (GstTileDetect, gst_tile_detect, GST_TYPE_BIN)
GST_ELEMENT_REGISTER_DEFINE (tiledetect, "tiledetect", GST_RANK_NONE, GST_TYPE_TILE_DETECT)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK,
    GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC,
    GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

static const gsize fields[] = {
  [PROP_DETECTOR] = G_STRUCT_OFFSET (TileSettings, detector),
  [PROP_COLUMNS] = G_STRUCT_OFFSET (TileSettings, columns),
  [PROP_ROWS] = G_STRUCT_OFFSET (TileSettings, rows),
  [PROP_OVERLAP] = G_STRUCT_OFFSET (TileSettings, overlap),
  [PROP_SCALES] = G_STRUCT_OFFSET (TileSettings, scales),
  [PROP_WHOLE_FRAME] = G_STRUCT_OFFSET (TileSettings, whole_frame),
  [PROP_EDGE_MARGIN] = G_STRUCT_OFFSET (TileSettings, edge_margin),
  [PROP_SHARE_DETECTOR] = G_STRUCT_OFFSET (TileSettings, share_detector),
  [PROP_LATENCY] = G_STRUCT_OFFSET (TileSettings, latency),
};

/* ----------------------------------------------------------------------- tiles */

typedef struct
{
  MergeTiles grid;
  guint index;      /* index of the tile in its grid */
  guint number;     /* index among the tiles of all grids, as in tile_0, tile_1, ... */
  gboolean shares;  /* all tiles share one detector */
  GstElement *crop; /* owned by its bin; a pad of the bin has the probe that uses this Tile */
} Tile;

/* Appends the grids of a list, "3x2+64,1x1". Returns FALSE if it is malformed. */
static gboolean
append_grids (GArray *grids, const gchar *list)
{
  gchar **texts = g_strsplit (list, ",", -1);
  gboolean usable = TRUE;

  for (guint i = 0; texts[i] && usable; i++) {
    MergeTiles grid;

    usable = merge_tiles_parse (g_strstrip (texts[i]), &grid) && grid.columns > 0
        && grid.columns <= MOST_TILES && grid.rows <= MOST_TILES;
    if (usable)
      g_array_append_val (grids, grid);
  }
  g_strfreev (texts);
  return usable;
}

/* Returns the grids of tiles (MergeTiles) in the order of the tiles' numbers, or NULL if a text is
 * malformed. */
static GArray *
grids_new (const TileSettings *set)
{
  const MergeTiles first = { set->columns, set->rows, set->overlap }, whole = { 1, 1, 0 };
  GArray *grids = g_array_new (FALSE, FALSE, sizeof (MergeTiles));
  gboolean has_whole = FALSE;

  g_array_append_val (grids, first);
  if (set->scales && *set->scales && !append_grids (grids, set->scales)) {
    g_array_free (grids, TRUE);
    return NULL;
  }
  for (guint i = 0; i < grids->len; i++) {
    const MergeTiles *grid = &g_array_index (grids, MergeTiles, i);

    has_whole = has_whole || (grid->columns == 1 && grid->rows == 1);
  }
  if (set->whole_frame && !has_whole)
    g_array_append_val (grids, whole);
  return grids;
}

/* Sets the crop of a tile for frames of a new size. boxmerge reports an impossible tile. */
static void
set_crop (const Tile *tile, const GstCaps *caps)
{
  GstVideoRectangle rect;
  gint width, height;

  frame_size_from_caps (caps, &width, &height);
  if (width > 0 && merge_tiles_rect (&tile->grid, tile->index, width, height, &rect))
    g_object_set (tile->crop, "left", rect.x, "right", width - rect.x - rect.w, "top", rect.y,
        "bottom", height - rect.y - rect.h, NULL);
}

/* Returns the caps of the frames whose tiles the detector accepts, to be unreffed. videocrop cannot
 * be asked, because it would answer for its current crop, which was set for the previous caps. */
static GstCaps *
frame_caps (const Tile *tile)
{
  GstPad *pad = gst_element_get_static_pad (tile->crop, "src");
  GstCaps *template = gst_pad_get_pad_template_caps (pad);
  GstCaps *caps = gst_pad_peer_query_caps (pad, template);

  caps = gst_caps_make_writable (caps);
  merge_tiles_widen_caps (&tile->grid, caps);
  gst_caps_unref (template);
  gst_object_unref (pad);
  return caps;
}

static GstPadProbeReturn
answer_query (const Tile *tile, GstQuery *query)
{
  GstCaps *caps, *asked, *found;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      gst_query_parse_caps (query, &asked);
      caps = frame_caps (tile);
      found = asked ? gst_caps_intersect_full (asked, caps, GST_CAPS_INTERSECT_FIRST)
                    : gst_caps_ref (caps);
      gst_query_set_caps_result (query, found);
      gst_caps_unref (found);
      break;
    case GST_QUERY_ACCEPT_CAPS:
      gst_query_parse_accept_caps (query, &asked);
      caps = frame_caps (tile);
      gst_query_set_accept_caps_result (query, gst_caps_can_intersect (asked, caps));
      break;
    default:
      return GST_PAD_PROBE_OK;
  }
  gst_caps_unref (caps);
  return GST_PAD_PROBE_HANDLED;
}

/* Removes the boxes that were found upstream from a frame for a detector, because boxmerge would
 * take them for the detector's. They stay on the main stream. */
static GstBuffer *
without_boxes (GstBuffer *frame)
{
  if (box_meta_any (frame)) {
    frame = gst_buffer_make_writable (frame);
    box_remove_all (frame);
  }
  return frame;
}

static GstPadProbeReturn
on_crop_input (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  const Tile *tile = user_data;
  GstCaps *caps;

  if (info->type & GST_PAD_PROBE_TYPE_EVENT_UPSTREAM) /* tile 0 passes on what the detector sends */
    return tile->shares && tile->number > 0 ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
  if (info->type & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM)
    return answer_query (tile, GST_PAD_PROBE_INFO_QUERY (info));
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    info->data = without_boxes (GST_PAD_PROBE_INFO_BUFFER (info));
    return GST_PAD_PROBE_OK;
  }
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_CAPS) {
    gst_event_parse_caps (GST_PAD_PROBE_INFO_EVENT (info), &caps);
    set_crop (tile, caps);
  }
  return GST_PAD_PROBE_OK;
}

static void
watch_crop (GstElement *bin, Tile *tile)
{
  GstPad *pad;

  tile->crop = gst_bin_get_by_name (GST_BIN (bin), "tilecrop");
  pad = gst_element_get_static_pad (tile->crop, "sink");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_BOTH
          | GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      on_crop_input, g_memdup2 (tile, sizeof *tile), g_free);
  gst_object_unref (pad);
  gst_object_unref (tile->crop);
}

/* Returns a bin with the pads sink and src, or NULL with an error that names the detector. */
static GstElement *
bin_new (const gchar *line, const gchar *detector, GError **error)
{
  GstElement *bin = gst_parse_bin_from_description_full (line, TRUE, NULL,
      GST_PARSE_FLAG_FATAL_ERRORS, error);

  if (bin == NULL)
    return NULL;
  if (bin->numsinkpads != 1 || bin->numsrcpads != 1) {
    g_set_error (error, GST_PARSE_ERROR, GST_PARSE_ERROR_LINK,
        "\"%s\" has no unlinked input at its beginning or no unlinked output at its end", detector);
    gst_object_unref (gst_object_ref_sink (bin));
    return NULL;
  }
  return bin;
}

/* Returns the bin of a tile, or NULL with an error. Scales the tile to a size that the detector
 * takes, unless it is one of the first grid, which sets the frame size. */
static GstElement *
tile_bin_new (const TileSettings *set, Tile *tile, GError **error)
{
  const gchar *scale = tile->number == tile->index
      ? ""
      : "! videoscale add-borders=false method=bilinear2";
  gchar *line = tile->shares
      ? g_strdup_printf ("videocrop name=tilecrop %s", scale)
      : g_strdup_printf ("queue ! videocrop name=tilecrop %s ! %s ! identity", scale,
          set->detector);
  GstElement *bin = bin_new (line, set->detector, error);

  g_free (line);
  if (bin)
    watch_crop (bin, tile);
  return bin;
}

/* ------------------------------------------------------ one detector for all tiles */

/*
 * The tiles of a frame, cropped by the thread of the input, pass one after another through a
 * funnel, a queue and the detector. Each carries its number as metadata. A tee behind the detector
 * passes all to the pads of boxmerge, and a probe of each drops the other tiles. The queues
 * between have no limit, because boxmerge waits for a pad whose tile the detector leaves out while
 * it blocks others; the queue of the main stream limits them, and they hold no pictures.
 */

#define MARK "GstNmsTile" /* name of the metadata and its structure */

static void
mark (GstBuffer *buffer, guint number)
{
  GstCustomMeta *meta = gst_buffer_get_custom_meta (buffer, MARK);

  if (meta == NULL)
    meta = gst_buffer_add_custom_meta (buffer, MARK);
  gst_structure_set (gst_custom_meta_get_structure (meta), "number", G_TYPE_UINT, number, NULL);
}

/* Returns FALSE if the detector has not passed on the metadata. */
static gboolean
read_mark (GstBuffer *buffer, guint *number)
{
  GstCustomMeta *meta = gst_buffer_get_custom_meta (buffer, MARK);

  return meta && gst_structure_get_uint (gst_custom_meta_get_structure (meta), "number", number);
}

/* Pushes the caps of a pad of the funnel if they differ from those of the tile before, because the
 * funnel passes on the sticky events of only one pad. */
static void
push_caps (GstPad *pad)
{
  GstElement *funnel = gst_pad_get_parent_element (pad);
  GstPad *output = gst_element_get_static_pad (funnel, "src");
  GstCaps *caps = gst_pad_get_current_caps (pad), *before = gst_pad_get_current_caps (output);

  if (before && caps && !gst_caps_is_equal (before, caps))
    gst_pad_push_event (output, gst_event_new_caps (caps));
  gst_clear_caps (&before);
  gst_clear_caps (&caps);
  gst_object_unref (output);
  gst_object_unref (funnel);
}

/* Marks the tiles that enter the funnel, and the GAP events that replace tiles. */
static GstPadProbeReturn
on_funnel_input (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  const guint number = GPOINTER_TO_UINT (user_data);

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    push_caps (pad);
    info->data = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
    mark (info->data, number);
  } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_GAP) {
    info->data = gst_event_make_writable (GST_PAD_PROBE_INFO_EVENT (info));
    gst_structure_set (gst_event_writable_structure (info->data), MARK, G_TYPE_UINT, number, NULL);
  }
  return GST_PAD_PROBE_OK;
}

/* Drops the picture of a tile after its boxes were found. */
static GstPadProbeReturn
on_found (GstPad *pad, GstPadProbeInfo *info, gpointer self)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  guint number;

  if (read_mark (buffer, &number)) {
    info->data = buffer = gst_buffer_make_writable (buffer);
    gst_buffer_remove_all_memory (buffer);
    return GST_PAD_PROBE_OK;
  }
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("Cannot tell the tiles apart, because the detector drops the metadata of its buffers: set "
       "share-detector=false."),
      (NULL));
  gst_buffer_unref (buffer);
  info->data = NULL;
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_ERROR;
  return GST_PAD_PROBE_HANDLED;
}

/* Drops the buffers and GAP events of other tiles than this one, and the GAP events that the
 * detector sends for a tile that it leaves out, because boxmerge would not wait for the other tiles
 * of the frame. Only tile 0 passes on the events that boxmerge sends upstream. */
static GstPadProbeReturn
on_tile_output (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  const guint own = GPOINTER_TO_UINT (user_data);
  guint number = G_MAXUINT;

  if (info->type & GST_PAD_PROBE_TYPE_EVENT_UPSTREAM)
    number = 0;
  else if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    read_mark (GST_PAD_PROBE_INFO_BUFFER (info), &number);
  else if (GST_EVENT_TYPE (info->data) == GST_EVENT_GAP)
    gst_structure_get_uint (gst_event_get_structure (info->data), MARK, &number);
  else
    return GST_PAD_PROBE_OK;
  return number == own ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

/* Adds a probe to a pad of an element, requested if it has none of this name. */
static void
add_probe (GstElement *element, const gchar *name, GstPadProbeType type,
    GstPadProbeCallback callback, gpointer user_data)
{
  GstPad *pad = gst_element_get_static_pad (element, name);

  if (pad == NULL)
    pad = gst_element_request_pad_simple (element, name);
  gst_pad_add_probe (pad, type, callback, user_data, NULL);
  gst_object_unref (pad);
}

/* --------------------------------------------------------------- start and stop */

/* Answers ALLOCATION as a consumer of memory without any layout but that of the caps, because the
 * query would wait in a queue behind frames that wait for a detector that leaves frames out. */
static GstPadProbeReturn
on_input_query (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  box_meta_propose (query);
  return GST_PAD_PROBE_HANDLED;
}

/* Sets the target of the ghost pad `ghost` to the pad of the same name of `inside`. */
static void
set_target (GstTileDetect *self, const gchar *ghost, GstElement *inside)
{
  GstPad *outer = gst_element_get_static_pad (GST_ELEMENT (self), ghost);
  GstPad *inner = gst_element_get_static_pad (inside, ghost);

  gst_ghost_pad_set_target (GST_GHOST_PAD (outer), inner);
  gst_object_unref (inner);
  gst_object_unref (outer);
}

/* The elements before and after the tiles. */
typedef struct
{
  GstElement *tee, *merge;
  GstElement *funnel, *found; /* input and output of the shared detector, or NULL */
} Frame;

/* Adds the elements through which whole frames pass. */
static void
add_main (GstTileDetect *self, Frame *frame)
{
  GstElement *queue = gst_element_factory_make ("queue", NULL);
  GstElement *tee = gst_element_factory_make ("tee", "tiles");
  GstElement *merge = gst_element_factory_make ("boxmerge", "merged");

  g_object_set (queue, "max-size-buffers", MAIN_QUEUE_FRAMES, "max-size-bytes", 0, "max-size-time",
      G_GUINT64_CONSTANT (0), NULL);
  g_object_set (merge, "latency", self->settings.latency, NULL);
  gst_bin_add_many (GST_BIN (self), tee, queue, merge, NULL);
  gst_element_link (tee, queue);
  gst_element_link_pads (queue, "src", merge, "sink");
  add_probe (tee, "sink", GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, on_input_query, NULL);
  set_target (self, "sink", tee);
  set_target (self, "src", merge);
  frame->tee = tee;
  frame->merge = merge;
}

/* Adds the detector that all tiles share. */
static gboolean
add_shared (GstTileDetect *self, Frame *frame, GError **error)
{
  const gchar *detector = self->settings.detector;
  gchar *line = g_strdup_printf ("queue ! %s ! identity", detector);
  GstElement *bin = bin_new (line, detector, error);

  g_free (line);
  if (bin == NULL)
    return FALSE;
  gst_object_set_name (GST_OBJECT (bin), "shared");
  frame->funnel = gst_element_factory_make ("funnel", "turns");
  frame->found = gst_element_factory_make ("tee", "found");
  g_object_set (frame->funnel, "forward-sticky-events", FALSE, NULL);
  gst_bin_add_many (GST_BIN (self), frame->funnel, bin, frame->found, NULL);
  gst_element_link_many (frame->funnel, bin, frame->found, NULL);
  add_probe (frame->found, "sink", GST_PAD_PROBE_TYPE_BUFFER, on_found, self);
  return TRUE;
}

/* Links a tile to a pad of boxmerge, through the shared detector. */
static void
link_shared (GstTileDetect *self, const Frame *frame, const Tile *tile, GstElement *bin,
    const gchar *sink)
{
  GstElement *queue = gst_element_factory_make ("queue", NULL);
  gchar *src = g_strdup_printf ("src_%u", tile->number);

  g_object_set (queue, "max-size-buffers", 0, "max-size-bytes", 0, "max-size-time",
      G_GUINT64_CONSTANT (0), NULL);
  gst_bin_add (GST_BIN (self), queue);
  add_probe (frame->funnel, sink, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      on_funnel_input, GUINT_TO_POINTER (tile->number));
  add_probe (frame->found, src, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_BOTH,
      on_tile_output, GUINT_TO_POINTER (tile->number));
  gst_element_link_pads (bin, "src", frame->funnel, sink);
  gst_element_link_pads (frame->found, src, queue, "sink");
  gst_element_link_pads_full (queue, "src", frame->merge, sink, GST_PAD_LINK_CHECK_TEMPLATE_CAPS);
  g_free (src);
}

static gboolean
add_tile (GstTileDetect *self, const Frame *frame, Tile *tile, GError **error)
{
  const MergeTiles *grid = &tile->grid;
  GstElement *bin = tile_bin_new (&self->settings, tile, error);
  gchar *name, *text;
  GstPad *pad;

  if (bin == NULL)
    return FALSE;
  name = g_strdup_printf ("tile_%u", tile->number);
  gst_object_set_name (GST_OBJECT (bin), name);
  g_free (name);
  gst_bin_add (GST_BIN (self), bin);
  gst_element_link (frame->tee, bin);
  name = g_strdup_printf ("sink_%u", tile->number);
  text = g_strdup_printf ("%ux%u+%u", grid->columns, grid->rows, grid->overlap);
  pad = gst_element_request_pad_simple (frame->merge, name);
  g_object_set (pad, "tiles", text, "tile-index", tile->index, "edge-margin",
      self->settings.edge_margin, NULL);
  if (tile->shares)
    link_shared (self, frame, tile, bin, name);
  else
    gst_element_link_pads_full (bin, "src", frame->merge, name, GST_PAD_LINK_CHECK_TEMPLATE_CAPS);
  gst_object_unref (pad);
  g_free (text);
  g_free (name);
  return TRUE;
}

static gboolean
add_tiles (GstTileDetect *self, const Frame *frame, GArray *grids, GError **error)
{
  Tile tile = { .shares = frame->funnel != NULL };

  for (guint i = 0; i < grids->len; i++) {
    tile.grid = g_array_index (grids, MergeTiles, i);
    for (tile.index = 0; tile.index < tile.grid.columns * tile.grid.rows; tile.index++) {
      if (!add_tile (self, frame, &tile, error))
        return FALSE;
      tile.number++;
    }
  }
  return TRUE;
}

static void
tear_down (GstTileDetect *self)
{
  GstBin *bin = GST_BIN (self);

  while (bin->children) {
    GstElement *child = gst_object_ref (bin->children->data);

    gst_element_set_state (child, GST_STATE_NULL);
    gst_bin_remove (bin, child);
    gst_object_unref (child);
  }
  GST_OBJECT_LOCK (self);
  self->built = FALSE;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
build (GstTileDetect *self)
{
  const TileSettings *set = &self->settings;
  Frame frame = { 0 };
  FrameLength margin;
  gboolean built;
  GArray *grids;
  GError *error = NULL;

  if (set->detector == NULL || *set->detector == '\0') {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Cannot detect: set the property detector to the "
         "launch line of a detector"),
        (NULL));
    return FALSE;
  }
  if (!frame_length_parse (set->edge_margin, &margin)) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Cannot use edge-margin: \"%s\" is not %s.", set->edge_margin, FRAME_LENGTH_FORM), (NULL));
    return FALSE;
  }
  grids = grids_new (set);
  if (grids == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Cannot use scales: \"%s\" is not a list of COLUMNSxROWS or COLUMNSxROWS+OVERLAP with "
         "up to %d columns and rows, as in 4x3+64,1x1.",
            set->scales, MOST_TILES),
        (NULL));
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  self->built = TRUE;
  GST_OBJECT_UNLOCK (self);
  add_main (self, &frame);
  built = (!set->share_detector || add_shared (self, &frame, &error))
      && add_tiles (self, &frame, grids, &error);
  if (!built) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Cannot use the property detector: %s", error->message), (NULL));
    g_clear_error (&error);
    tear_down (self);
  }
  g_array_free (grids, TRUE);
  return built;
}

static GstStateChangeReturn
gst_tile_detect_change_state (GstElement *element, GstStateChange transition)
{
  GstTileDetect *self = GST_TILE_DETECT (element);
  GstStateChangeReturn result;

  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !build (self))
    return GST_STATE_CHANGE_FAILURE;
  result = GST_ELEMENT_CLASS (gst_tile_detect_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL
      || (transition == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE))
    tear_down (self);
  return result;
}

/* ----------------------------------------------------------------------- class */

static void
gst_tile_detect_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstTileDetect *self = GST_TILE_DETECT (object);
  gboolean fixed;

  GST_OBJECT_LOCK (self);
  fixed = self->built;
  if (!fixed)
    property_field_set (G_STRUCT_MEMBER_P (&self->settings, fields[id]), value);
  GST_OBJECT_UNLOCK (self);
  if (fixed)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("%s can be set only in the state NULL; its "
         "value is unchanged",
            pspec->name),
        (NULL));
}

static void
gst_tile_detect_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstTileDetect *self = GST_TILE_DETECT (object);

  GST_OBJECT_LOCK (self);
  property_field_get (G_STRUCT_MEMBER_P (&self->settings, fields[id]), value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_tile_detect_finalize (GObject *object)
{
  g_free (GST_TILE_DETECT (object)->settings.detector);
  g_free (GST_TILE_DETECT (object)->settings.scales);
  g_free (GST_TILE_DETECT (object)->settings.edge_margin);
  G_OBJECT_CLASS (gst_tile_detect_parent_class)->finalize (object);
}

static void
add_ghost (GstTileDetect *self, GstStaticPadTemplate *template)
{
  GstPadTemplate *pad_template = gst_static_pad_template_get (template);

  gst_element_add_pad (GST_ELEMENT (self),
      gst_ghost_pad_new_no_target_from_template (template->name_template, pad_template));
  gst_object_unref (pad_template);
}

static void
gst_tile_detect_init (GstTileDetect *self)
{
  self->settings = (TileSettings) {
    .detector = g_strdup (DEFAULT_DETECTOR),
    .columns = DEFAULT_COLUMNS,
    .rows = DEFAULT_ROWS,
    .overlap = DEFAULT_OVERLAP,
    .scales = g_strdup (DEFAULT_SCALES),
    .whole_frame = DEFAULT_WHOLE_FRAME,
    .edge_margin = g_strdup (DEFAULT_EDGE_MARGIN),
    .share_detector = DEFAULT_SHARE_DETECTOR,
    .latency = DEFAULT_LATENCY,
  };
  add_ghost (self, &sink_template);
  add_ghost (self, &src_template);
}

#define FIXED (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)

static void
install_properties (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, PROP_DETECTOR,
      g_param_spec_string ("detector", "Detector",
          "Launch line of the detector, with one input and one output, such as \"hogdetect "
          "scale=2\"; it may scale and convert the tile. Settable in the state NULL",
          DEFAULT_DETECTOR, FIXED));
  g_object_class_install_property (object_class, PROP_COLUMNS,
      g_param_spec_uint ("columns", "Columns", "Tiles in a row. Settable in the state NULL", 1,
          MOST_TILES, DEFAULT_COLUMNS, FIXED));
  g_object_class_install_property (object_class, PROP_ROWS,
      g_param_spec_uint ("rows", "Rows", "Tiles in a column. Settable in the state NULL", 1,
          MOST_TILES, DEFAULT_ROWS, FIXED));
  g_object_class_install_property (object_class, PROP_OVERLAP,
      g_param_spec_uint ("overlap", "Overlap",
          "Pixels by which neighboring tiles overlap; objects up to this size are whole in at "
          "least one tile. Settable in the state NULL",
          0, 100000, DEFAULT_OVERLAP, FIXED));
  g_object_class_install_property (object_class, PROP_SCALES,
      g_param_spec_string ("scales", "Scales",
          "Further grids of tiles in which the detector runs too, for objects of other sizes: "
          "COLUMNSxROWS or COLUMNSxROWS+OVERLAP, separated by commas, such as 4x3+64,2x1. Their "
          "tiles are numbered after those of columns and rows, and are scaled if the detector does "
          "not take their size. NULL or empty = none. Settable in the state NULL",
          DEFAULT_SCALES, FIXED));
  g_object_class_install_property (object_class, PROP_WHOLE_FRAME,
      g_param_spec_boolean ("whole-frame", "Whole frame",
          "Run the detector on the whole frame too, for objects that are larger than a tile: the "
          "last tile, as with 1x1 in scales. nmsfilter metric=ios removes their parts that tiles "
          "show. Settable in the state NULL",
          DEFAULT_WHOLE_FRAME, FIXED));
  g_object_class_install_property (object_class, PROP_EDGE_MARGIN,
      g_param_spec_string ("edge-margin", "Edge margin",
          "Boxes within this distance of an edge of their tile are marked as cut, so that "
          "nmsfilter ranks them below whole boxes of other tiles: pixels or, with %, per cent of "
          "the tile. Edges of the frame do not count. 0 = boxes that touch the edge; NULL or "
          "empty = none. It is the property edge-margin of the pads of boxmerge. Settable in the "
          "state NULL",
          DEFAULT_EDGE_MARGIN, FIXED));
  g_object_class_install_property (object_class, PROP_SHARE_DETECTOR,
      g_param_spec_boolean ("share-detector", "Share detector",
          "Let the tiles of a frame pass one after another through one detector, in the bin "
          "shared, so that a model is loaded once. false = each tile has a detector and a thread "
          "of its own, in its bin tile_0, tile_1 and so on. Use false for detectors that use one "
          "processor only, and for those that remember earlier pictures, such as trackers. "
          "Settable in the state NULL",
          DEFAULT_SHARE_DETECTOR, FIXED));
  g_object_class_install_property (object_class, PROP_LATENCY,
      g_param_spec_uint64 ("latency", "Latency",
          "Longest time in ns that a frame of a live stream waits for its detectors: the property "
          "latency of boxmerge. Settable in the state NULL",
          0, G_MAXUINT64, DEFAULT_LATENCY, FIXED));
}

static void
gst_tile_detect_class_init (GstTileDetectClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  const gchar *no_tags[] = { NULL };

  GST_DEBUG_CATEGORY_INIT (gst_tile_detect_debug, "tiledetect", 0, "detection in tiles");
  if (gst_meta_get_info (MARK) == NULL)
    gst_meta_register_custom (MARK, no_tags, NULL, NULL, NULL);

  object_class->set_property = gst_tile_detect_set_property;
  object_class->get_property = gst_tile_detect_get_property;
  object_class->finalize = gst_tile_detect_finalize;
  install_properties (object_class);
  element_class_describe (element_class, "Tile detector", "Filter/Analyzer/Video",
      "Runs a detector on overlapping tiles of each frame and merges the boxes",
      "gst-launch-1.0 filesrc location=video.mkv ! decodebin ! videoconvert "
      "! tiledetect columns=2 rows=2 overlap=64 detector='boxreplay location=boxes.jsonl' "
      "! nmsfilter ! boxoverlay ! videoconvert ! autovideosink");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  element_class->change_state = GST_DEBUG_FUNCPTR (gst_tile_detect_change_state);
}
