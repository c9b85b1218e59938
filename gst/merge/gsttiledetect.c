/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-tiledetect
 * @title: tiledetect
 *
 * Runs a detector on overlapping tiles of each frame, and attaches all their boxes to the frame. It
 * takes the place of the detector in a pipeline, and finds objects that are too small for that in
 * the whole frame. nmsfilter should follow, because neighboring tiles find the same objects.
 *
 * It is a bin: a tee, for each tile a queue, a videocrop and a detector
 * (#GstTileDetect:detector), and a boxmerge, whose statistics are posted at the end of the
 * stream. Each tile has a detector and a thread of its own. The tiles are those of boxmerge's
 * property tiles, for the size of the frames that come. The frames leave unchanged but for
 * the boxes. The branch of the whole frame holds up to 60 frames while detectors work. Boxes at an
 * edge of a tile rank below whole boxes in nmsfilter (#GstTileDetect:edge-margin).
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=video.mkv ! decodebin ! videoconvert ! video/x-raw,format=RGB \
 *   ! tiledetect columns=3 rows=2 overlap=64 detector='facedetect display=false qos=false' \
 *   ! nmsfilter ! boxoverlay ! videoconvert ! autovideosink
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "elements.h"
#include "framesize.h"
#include "mergeplace.h"
#include "properties.h"

GST_DEBUG_CATEGORY_STATIC (gst_tile_detect_debug);
#define GST_CAT_DEFAULT gst_tile_detect_debug

#define DEFAULT_DETECTOR NULL
#define DEFAULT_COLUMNS 2
#define DEFAULT_ROWS 2
#define DEFAULT_OVERLAP 0
#define DEFAULT_EDGE_MARGIN 5
#define DEFAULT_LATENCY 0

#define MAIN_QUEUE "queue max-size-buffers=60 max-size-bytes=0 max-size-time=0"

enum
{
  PROP_DETECTOR = 1,
  PROP_COLUMNS,
  PROP_ROWS,
  PROP_OVERLAP,
  PROP_EDGE_MARGIN,
  PROP_LATENCY,
};

typedef struct
{
  gchar *detector;
  guint columns, rows, overlap, edge_margin;
  guint64 latency;
} TileSettings;

struct _GstTileDetect
{
  GstBin parent;

  TileSettings settings; /* under the object lock; fixed while `inner` is not NULL */
  GstElement *inner;     /* the elements inside; owned by the bin; NULL in state NULL */
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
  [PROP_EDGE_MARGIN] = G_STRUCT_OFFSET (TileSettings, edge_margin),
  [PROP_LATENCY] = G_STRUCT_OFFSET (TileSettings, latency),
};

/* ----------------------------------------------------------------------- tiles */

typedef struct
{
  GstElement *crop; /* owned by its bin, whose pad has the probe with this data */
  MergeTiles tiles;
  guint index;
} Tile;

/* Sets the crop of a tile for frames of a new size. boxmerge reports an impossible tile. */
static GstPadProbeReturn
on_crop_event (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  const Tile *tile = user_data;
  GstVideoRectangle rect;
  gint width, height;
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (event, &caps);
  frame_size_from_caps (caps, &width, &height);
  if (width > 0 && merge_tiles_rect (&tile->tiles, tile->index, width, height, &rect))
    g_object_set (tile->crop, "left", rect.x, "right", width - rect.x - rect.w, "top", rect.y,
        "bottom", height - rect.y - rect.h, NULL);
  return GST_PAD_PROBE_OK;
}

static void
watch_crop (GstElement *inner, const MergeTiles *tiles, guint index)
{
  gchar *name = g_strdup_printf ("crop_%u", index);
  Tile tile = { gst_bin_get_by_name (GST_BIN (inner), name), *tiles, index };
  GstPad *pad = gst_element_get_static_pad (tile.crop, "sink");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_crop_event,
      g_memdup2 (&tile, sizeof tile), g_free);
  gst_object_unref (pad);
  gst_object_unref (tile.crop);
  g_free (name);
}

/* Returns the launch line of all that is inside. */
static gchar *
inner_line (const TileSettings *set)
{
  GString *line = g_string_new (NULL);
  const guint count = set->columns * set->rows;
  guint i;

  g_string_append_printf (line,
      "tee name=tiles tiles. ! " MAIN_QUEUE " ! boxmerge name=merged "
      "latency=%" G_GUINT64_FORMAT,
      set->latency);
  for (i = 0; i < count; i++)
    g_string_append_printf (line,
        " sink_%u::tiles=%ux%u+%u sink_%u::tile-index=%u "
        "sink_%u::edge-margin=%u",
        i, set->columns, set->rows, set->overlap, i, i, i, set->edge_margin);
  for (i = 0; i < count; i++)
    g_string_append_printf (line, " tiles. ! queue ! videocrop name=crop_%u ! %s ! merged.sink_%u",
        i, set->detector, i);
  return g_string_free (line, FALSE);
}

/* --------------------------------------------------------------- start and stop */

static void
set_target (GstTileDetect *self, const gchar *ghost, const gchar *element, const gchar *pad)
{
  GstPad *outer = gst_element_get_static_pad (GST_ELEMENT (self), ghost);
  GstElement *found = self->inner ? gst_bin_get_by_name (GST_BIN (self->inner), element) : NULL;
  GstPad *inner = found ? gst_element_get_static_pad (found, pad) : NULL;

  if (inner) {
    GstPad *between = gst_ghost_pad_new (ghost, inner);

    gst_element_add_pad (self->inner, between);
    gst_ghost_pad_set_target (GST_GHOST_PAD (outer), between);
    gst_object_unref (inner);
    gst_object_unref (found);
  } else {
    gst_ghost_pad_set_target (GST_GHOST_PAD (outer), NULL);
  }
  gst_object_unref (outer);
}

static gboolean
build (GstTileDetect *self)
{
  const TileSettings *set = &self->settings;
  const MergeTiles tiles = { set->columns, set->rows, set->overlap };
  GstElement *inner;
  GError *error = NULL;
  gchar *line;

  if (set->detector == NULL || *set->detector == '\0') {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Cannot detect: set the property detector to the "
         "launch line of a detector"),
        (NULL));
    return FALSE;
  }
  line = inner_line (set);
  inner = gst_parse_bin_from_description_full (line, FALSE, NULL, GST_PARSE_FLAG_FATAL_ERRORS,
      &error);
  g_free (line);
  if (inner == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Cannot use the property detector: %s", error->message), (NULL));
    g_error_free (error);
    return FALSE;
  }
  for (guint i = 0; i < set->columns * set->rows; i++)
    watch_crop (inner, &tiles, i);
  gst_bin_add (GST_BIN (self), inner);
  GST_OBJECT_LOCK (self);
  self->inner = inner;
  GST_OBJECT_UNLOCK (self);
  set_target (self, "sink", "tiles", "sink");
  set_target (self, "src", "merged", "src");
  return TRUE;
}

static void
tear_down (GstTileDetect *self)
{
  GstElement *inner;

  GST_OBJECT_LOCK (self);
  inner = g_steal_pointer (&self->inner);
  GST_OBJECT_UNLOCK (self);
  if (inner == NULL)
    return;
  set_target (self, "sink", NULL, NULL);
  set_target (self, "src", NULL, NULL);
  gst_element_set_state (inner, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (self), inner);
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
  fixed = self->inner != NULL;
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
    .edge_margin = DEFAULT_EDGE_MARGIN,
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
          "Launch line of the detector, with one input and one output, such as \"facedetect "
          "display=false\"; it may scale and convert the tile. Each tile gets its own. Settable in "
          "the state NULL",
          DEFAULT_DETECTOR, FIXED));
  g_object_class_install_property (object_class, PROP_COLUMNS,
      g_param_spec_uint ("columns", "Columns", "Tiles in a row. Settable in the state NULL", 1, 100,
          DEFAULT_COLUMNS, FIXED));
  g_object_class_install_property (object_class, PROP_ROWS,
      g_param_spec_uint ("rows", "Rows", "Tiles in a column. Settable in the state NULL", 1, 100,
          DEFAULT_ROWS, FIXED));
  g_object_class_install_property (object_class, PROP_OVERLAP,
      g_param_spec_uint ("overlap", "Overlap",
          "Pixels by which neighboring tiles overlap; objects up to this size are whole in at "
          "least one tile. Settable in the state NULL",
          0, 100000, DEFAULT_OVERLAP, FIXED));
  g_object_class_install_property (object_class, PROP_EDGE_MARGIN,
      g_param_spec_uint ("edge-margin", "Edge margin",
          "Boxes at most this many pixels away from an edge of their tile that lies inside the "
          "frame are marked as cut, so that nmsfilter ranks them below whole boxes of other "
          "tiles: the property edge-margin of the pads of boxmerge. 0 = off. Settable in the "
          "state NULL",
          0, G_MAXINT, DEFAULT_EDGE_MARGIN, FIXED));
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

  GST_DEBUG_CATEGORY_INIT (gst_tile_detect_debug, "tiledetect", 0, "detection in tiles");

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
