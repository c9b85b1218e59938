/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replaysettings: a table of offsets connects the properties with their values. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "replaysettings.h"

#include "enumtype.h"

DEFINE_ENUM_TYPE (replay_format_get_type, "GstBoxReplayFormat",
    { RECORD_FORMAT_AUTO, "Detected by the first line", "auto" },
    { RECORD_FORMAT_JSONL, "JSON Lines, one object for each frame", "jsonl" },
    { RECORD_FORMAT_MOT, "MOT challenge text, one line for each box", "mot" })
DEFINE_ENUM_TYPE (replay_match_get_type, "GstBoxReplayMatch",
    { RECORD_MATCH_AUTO, "By time if the first record has one, else by index", "auto" },
    { RECORD_MATCH_TIMESTAMP, "By stream time, the nearest record", "timestamp" },
    { RECORD_MATCH_INDEX, "By index, one record for each buffer", "index" })
DEFINE_ENUM_TYPE (replay_existing_get_type, "GstBoxReplayExisting",
    { REPLAY_EXISTING_KEEP, "Existing boxes stay beside the recorded ones", "keep" },
    { REPLAY_EXISTING_REPLACE, "Existing boxes are removed from every buffer", "replace" })
#ifdef HAVE_ANALYTICS
#define WITH_ANALYTICS \
  , { BOX_META_ANALYTICS, "GstAnalytics object detections", "analytics" }, \
  { \
    BOX_META_BOTH, "Each box as both, with the same id", "both" \
  }
#else
#define WITH_ANALYTICS
#endif

DEFINE_ENUM_TYPE (replay_meta_get_type, "GstBoxReplayMeta",
    { BOX_META_ROI, "Regions of interest", "roi" } WITH_ANALYTICS)
DEFINE_ENUM_TYPE (replay_on_error_get_type, "GstBoxReplayOnError",
    { REPLAY_ON_ERROR_FAIL, "Stop with an error", "fail" },
    { REPLAY_ON_ERROR_SKIP, "Skip the line and count it; warn at the first one", "skip" })

#define DEFAULT_LOCATION NULL
#define DEFAULT_FORMAT RECORD_FORMAT_AUTO
#define DEFAULT_MATCH RECORD_MATCH_AUTO
#define DEFAULT_TOLERANCE 0
#define DEFAULT_BOXES_TIMEOUT GST_CLOCK_TIME_NONE
#define DEFAULT_EXISTING REPLAY_EXISTING_KEEP
#ifdef HAVE_ANALYTICS
#define DEFAULT_META BOX_META_BOTH
#else
#define DEFAULT_META BOX_META_ROI
#endif
#define DEFAULT_LOOP FALSE
#define DEFAULT_ON_ERROR REPLAY_ON_ERROR_FAIL
#define DEFAULT_MAX_LINE (64 * 1024 * 1024)
#define DEFAULT_MAX_LABELS 32768
#define DEFAULT_FOLLOW FALSE
#define DEFAULT_HOLD 0
#define DEFAULT_LINE_META FALSE

static const gsize fields[] = {
  [REPLAY_PROP_LOCATION] = G_STRUCT_OFFSET (ReplaySettings, location),
  [REPLAY_PROP_FORMAT] = G_STRUCT_OFFSET (ReplaySettings, format),
  [REPLAY_PROP_MATCH] = G_STRUCT_OFFSET (ReplaySettings, match_by),
  [REPLAY_PROP_TOLERANCE] = G_STRUCT_OFFSET (ReplaySettings, tolerance),
  [REPLAY_PROP_BOXES_TIMEOUT] = G_STRUCT_OFFSET (ReplaySettings, boxes_timeout),
  [REPLAY_PROP_EXISTING] = G_STRUCT_OFFSET (ReplaySettings, existing),
  [REPLAY_PROP_META] = G_STRUCT_OFFSET (ReplaySettings, meta),
  [REPLAY_PROP_LOOP] = G_STRUCT_OFFSET (ReplaySettings, loop),
  [REPLAY_PROP_ON_ERROR] = G_STRUCT_OFFSET (ReplaySettings, on_error),
  [REPLAY_PROP_MAX_LINE] = G_STRUCT_OFFSET (ReplaySettings, max_line),
  [REPLAY_PROP_MAX_LABELS] = G_STRUCT_OFFSET (ReplaySettings, max_labels),
  [REPLAY_PROP_FOLLOW] = G_STRUCT_OFFSET (ReplaySettings, follow),
  [REPLAY_PROP_HOLD] = G_STRUCT_OFFSET (ReplaySettings, hold),
  [REPLAY_PROP_LINE_META] = G_STRUCT_OFFSET (ReplaySettings, line_meta),
};

void
replay_settings_install (GObjectClass *object_class)
{
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (object_class, REPLAY_PROP_LOCATION,
      g_param_spec_string ("location", "Location",
          "The recording: a file, a FIFO, or - for standard input. Needs memory for the longest "
          "line and, for a file, 16 bytes for each record",
          DEFAULT_LOCATION, ready));
  g_object_class_install_property (object_class, REPLAY_PROP_FORMAT,
      g_param_spec_enum ("format", "Format", "Format of the recording", replay_format_get_type (),
          DEFAULT_FORMAT, ready));
  g_object_class_install_property (object_class, REPLAY_PROP_MATCH,
      g_param_spec_enum ("match", "Match",
          "How the record of a buffer is found. Of several records with the same time, the last "
          "one written counts; a buffer without a record gets no boxes; a buffer without a PTS "
          "takes the next record",
          replay_match_get_type (), DEFAULT_MATCH, ready));
  g_object_class_install_property (object_class, REPLAY_PROP_TOLERANCE,
      g_param_spec_uint64 ("tolerance", "Tolerance",
          "Largest distance between a record's timestamp and the buffer's stream time, in ns. "
          "0 = half a frame: half of the buffer's duration, else of a frame at the frame rate, "
          "else of the distance to the previous buffer, else of 40 ms",
          0, G_MAXUINT64, DEFAULT_TOLERANCE, playing));
  g_object_class_install_property (object_class, REPLAY_PROP_BOXES_TIMEOUT,
      g_param_spec_uint64 ("boxes-timeout", "Boxes timeout",
          "Longest time, in ns, that a buffer waits for its record from a pipe, a followed file or "
          "the pad boxes; after that it passes without boxes. A live pipeline adds it to its "
          "latency. 18446744073709551615 = no limit",
          0, G_MAXUINT64, DEFAULT_BOXES_TIMEOUT, playing));
  g_object_class_install_property (object_class, REPLAY_PROP_EXISTING,
      g_param_spec_enum ("existing", "Existing", "What happens to boxes already on a buffer",
          replay_existing_get_type (), DEFAULT_EXISTING, playing));
  g_object_class_install_property (object_class, REPLAY_PROP_META,
      g_param_spec_enum ("meta", "Metadata",
          "The type of metadata in which boxes are attached. The default is both if the plugin "
          "was built with GstAnalytics, which needs GStreamer 1.24; otherwise roi, the only value",
          replay_meta_get_type (), DEFAULT_META, playing));
  g_object_class_install_property (object_class, REPLAY_PROP_LOOP,
      g_param_spec_boolean ("loop", "Loop",
          "Begin again at the end of the recording, one frame later", DEFAULT_LOOP, ready));
  g_object_class_install_property (object_class, REPLAY_PROP_ON_ERROR,
      g_param_spec_enum ("on-error", "On error",
          "What to do with a line that is malformed or too long", replay_on_error_get_type (),
          DEFAULT_ON_ERROR, ready));
  g_object_class_install_property (object_class, REPLAY_PROP_MAX_LINE,
      g_param_spec_uint ("max-line", "Max line",
          "Longest line to accept, in bytes. It limits the memory used", 1, G_MAXINT,
          DEFAULT_MAX_LINE, ready));
  g_object_class_install_property (object_class, REPLAY_PROP_MAX_LABELS,
      g_param_spec_uint ("max-labels", "Max labels",
          "Number of different labels to take from recordings while the element exists, because "
          "a process keeps every label until it ends. A box with a further new label, or one of "
          "more than 4096 bytes, is attached without a label and counted as labels-refused. "
          "Labels that the process knows already are not counted. 0 = no limit",
          0, G_MAXUINT, DEFAULT_MAX_LABELS, ready));
  g_object_class_install_property (object_class, REPLAY_PROP_FOLLOW,
      g_param_spec_boolean ("follow", "Follow",
          "Wait for further lines at the end of the recording, as for a pipe. Use it if the "
          "recording is still being written. A file that was renamed (log rotation) is read to "
          "its end, then the new file at the location; one that was emptied is read from its "
          "start. A flush or a state change ends the wait. Not possible with loop",
          DEFAULT_FOLLOW, ready));
  g_object_class_install_property (object_class, REPLAY_PROP_HOLD,
      g_param_spec_uint64 ("hold", "Hold",
          "How long a record is also attached to buffers without a record of their own, in ns "
          "from its timestamp, at most until the next record. Use it with detectors that are "
          "slower than the video. It works only if records are matched by time. 0 = off",
          0, G_MAXUINT64, DEFAULT_HOLD, playing));
  g_object_class_install_property (object_class, REPLAY_PROP_LINE_META,
      g_param_spec_boolean ("line-meta", "Line metadata",
          "Take the boxes of each buffer from its own metadata NmsBoxLineMeta, which boxrecord "
          "line-meta=true attached and unixfdsrc of GStreamer 1.24 and later receives, and remove "
          "it. A buffer without it gets no boxes. Not possible with location or the pad boxes",
          DEFAULT_LINE_META, ready));
  gst_type_mark_as_plugin_api (replay_format_get_type (), 0);
  gst_type_mark_as_plugin_api (replay_match_get_type (), 0);
  gst_type_mark_as_plugin_api (replay_existing_get_type (), 0);
  gst_type_mark_as_plugin_api (replay_meta_get_type (), 0);
  gst_type_mark_as_plugin_api (replay_on_error_get_type (), 0);
}

void
replay_settings_init (ReplaySettings *settings)
{
  *settings = (ReplaySettings) {
    .location = g_strdup (DEFAULT_LOCATION),
    .format = DEFAULT_FORMAT,
    .match_by = DEFAULT_MATCH,
    .tolerance = DEFAULT_TOLERANCE,
    .boxes_timeout = DEFAULT_BOXES_TIMEOUT,
    .existing = DEFAULT_EXISTING,
    .meta = DEFAULT_META,
    .loop = DEFAULT_LOOP,
    .on_error = DEFAULT_ON_ERROR,
    .max_line = DEFAULT_MAX_LINE,
    .max_labels = DEFAULT_MAX_LABELS,
    .follow = DEFAULT_FOLLOW,
    .hold = DEFAULT_HOLD,
    .line_meta = DEFAULT_LINE_META,
  };
}

void
replay_settings_clear (ReplaySettings *settings)
{
  g_free (settings->location);
}

gpointer
replay_settings_field (ReplaySettings *settings, guint id)
{
  return G_STRUCT_MEMBER_P (settings, fields[id]);
}
