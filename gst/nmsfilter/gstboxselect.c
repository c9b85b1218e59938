/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* boxselect: the element around the rules of boxselect.h. */

/**
 * SECTION:element-boxselect
 * @title: boxselect
 * @short_description: selects detections by class, size, shape and place
 *
 * Drops the boxes that are of unwanted classes, too small or too large, of a wrong shape, outside
 * of a region of interest, or cut by the edge of a tile. Each box is judged by itself, so boxselect
 * is useful with any detector. In front of nmsfilter, a dropped box suppresses no other; behind it,
 * a dropped box may have suppressed others.
 *
 * It reads the same metadata as nmsfilter, accepts any caps, and filters each buffer inside of
 * batches.
 *
 * ## Example launch lines
 *
 * Keep the people in the lower part of the picture that are at least 40 pixels tall:
 * |[
 * gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl \
 *   ! boxselect keep-classes=person min-height=40 roi=0,50%,100%,50% ! nmsfilter ! fakesink
 * ]|
 * Use other limits for single classes:
 * |[
 * gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl \
 *   ! boxselect min-height=20 class-limits='o,person=[o,min-height=40],face=[o,min-height=0]' \
 *   ! fakesink
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "boxfilter.h"
#include "elements.h"
#include "selectsettings.h"

#define GST_TYPE_BOX_SELECT (gst_box_select_get_type ())
G_DECLARE_FINAL_TYPE (GstBoxSelect, gst_box_select, GST, BOX_SELECT, GstBoxFilter)

struct _GstBoxSelect
{
  GstBoxFilter parent;

  SelectSettings settings; /* under the object lock */

  /* used by the streaming thread only */
  gboolean warned_size; /* since the start, a warning said that roi needs the size */
};

G_DEFINE_TYPE (GstBoxSelect, gst_box_select, GST_TYPE_BOX_FILTER)
GST_ELEMENT_REGISTER_DEFINE (boxselect, "boxselect", GST_RANK_NONE, GST_TYPE_BOX_SELECT)

enum
{
  PROP_SETTINGS = 1, /* the first of the properties of selectsettings.h */
  PROP_STATS = PROP_SETTINGS + SELECT_PROP_COUNT,
};

static gchar *
gst_box_select_set (GstBoxFilter *filter, guint id, const GValue *value, gboolean started)
{
  return select_settings_set (&GST_BOX_SELECT (filter)->settings, id - PROP_SETTINGS, value,
      started);
}

static void
gst_box_select_get (GstBoxFilter *filter, guint id, GValue *value)
{
  select_settings_get (&GST_BOX_SELECT (filter)->settings, id - PROP_SETTINGS, value);
}

static gchar *
gst_box_select_error (GstBoxFilter *filter)
{
  return select_settings_error (&GST_BOX_SELECT (filter)->settings);
}

static void
describe_stats (const FilterStats *stats, GstStructure *structure)
{
  for (guint i = BOX_STATE_TOO_SMALL; i <= BOX_STATE_CUT_BY_EDGE; i++)
    gst_structure_set (structure, box_state_name ((BoxState) i), G_TYPE_UINT64, stats->by_state[i],
        NULL);
  gst_structure_set (structure, "not-selected", G_TYPE_UINT64, stats->by_state[BOX_STATE_NONE],
      NULL);
}

/* Warns once after a start. */
static void
warn_unknown_size (GstBoxSelect *self)
{
  if (self->warned_size)
    return;
  self->warned_size = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("roi in per cent does not apply: the caps state no frame size."), (NULL));
}

static GstFlowReturn
gst_box_select_decide (GstBoxFilter *filter, BoxFilterFrame *frame)
{
  GstBoxSelect *self = GST_BOX_SELECT (filter);
  const gboolean tag = frame->action == GST_NMS_ACTION_TAG;
  BoxSelectFrame select;
  BoxSelectRules *rules;

  GST_OBJECT_LOCK (self);
  rules = select_settings_get_rules (&self->settings);
  GST_OBJECT_UNLOCK (self);
  if (!box_select_begin (&select, rules, frame->width, frame->height))
    warn_unknown_size (self);
  box_filter_read (filter, frame,
      BOX_READ_LEAN | (rules->drop_cut ? BOX_READ_CUT : 0) | (tag ? BOX_READ_STATE : 0));
  box_select_run (&select, frame->boxes);
  frame->counts = box_counts_of (frame->boxes);
  box_select_rules_unref (rules);
  return GST_FLOW_OK;
}

static gboolean
gst_box_select_start (GstBaseTransform *trans)
{
  GST_BOX_SELECT (trans)->warned_size = FALSE;
  return GST_BASE_TRANSFORM_CLASS (gst_box_select_parent_class)->start (trans);
}

static void
gst_box_select_init (GstBoxSelect *self)
{
  select_settings_init (&self->settings);
}

static void
gst_box_select_finalize (GObject *object)
{
  select_settings_clear (&GST_BOX_SELECT (object)->settings);
  G_OBJECT_CLASS (gst_box_select_parent_class)->finalize (object);
}

static void
gst_box_select_class_init (GstBoxSelectClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstBoxFilterClass *filter_class = GST_BOX_FILTER_CLASS (klass);

  object_class->finalize = gst_box_select_finalize;
  box_filter_handle_properties (object_class);
  select_settings_install (object_class, PROP_SETTINGS);
  box_filter_install_stats (object_class, PROP_STATS,
      "Totals since READY, all guint64: frames, boxes-in, boxes-out, boxes by "
      "the reason why they were dropped or tagged (too-small, too-large, "
      "wrong-aspect-ratio, outside-roi, dropped-class, cut-by-edge), boxes "
      "that nmsfilter has tagged as dropped and action=tag therefore leaves "
      "out (not-selected), and the nanoseconds spent (time). For each "
      "stream of batches a structure stream-INDEX with the same fields and "
      "stream-id. Notifies at EOS");
  element_class_describe (GST_ELEMENT_CLASS (klass), "Box selection", "Filter/Metadata/Video",
      "Drops detection boxes by class, size, shape and place",
      "gst-launch-1.0 filesrc location=video.mkv ! decodebin ! boxreplay location=boxes.jsonl "
      "! boxselect min-height=40 ! boxoverlay ! videoconvert ! autovideosink");
  trans_class->start = GST_DEBUG_FUNCPTR (gst_box_select_start);
  filter_class->set = gst_box_select_set;
  filter_class->get = gst_box_select_get;
  filter_class->error = gst_box_select_error;
  filter_class->stats_name = "boxselect-stats";
  filter_class->decide = gst_box_select_decide;
  filter_class->describe_stats = describe_stats;
}
