/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* recordsettings: a table of offsets connects the properties with their values. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "recordsettings.h"

#include "enumtype.h"

DEFINE_ENUM_TYPE (record_format_get_type, "GstBoxRecordFormat",
    { RECORD_FORMAT_JSONL, "JSON Lines, one object for each frame", "jsonl" },
    { RECORD_FORMAT_MOT, "MOT challenge text, one line for each box", "mot" })
DEFINE_ENUM_TYPE (record_on_error_get_type, "GstBoxRecordOnError",
    { RECORD_ON_ERROR_FAIL, "Stop with an error", "fail" },
    { RECORD_ON_ERROR_CONTINUE, "Drop the line and count it; warn at the first one", "continue" })
DEFINE_ENUM_TYPE (record_flush_get_type, "GstBoxRecordFlush",
    { RECORD_FLUSH_LINE, "Write each line at once; other programs can read it", "line" },
    { RECORD_FLUSH_BUFFER, "Write lines when 64 KiB are collected, and at EOS", "buffer" },
    { RECORD_FLUSH_DISK, "Write each line onto the disk; it survives a power failure", "disk" })

#define DEFAULT_LOCATION NULL
#define DEFAULT_FORMAT RECORD_FORMAT_JSONL
#define DEFAULT_APPEND FALSE
#define DEFAULT_EMIT_SIGNALS FALSE
#define DEFAULT_EMPTY_LINES FALSE
#define DEFAULT_ON_ERROR RECORD_ON_ERROR_FAIL
#define DEFAULT_FLUSH RECORD_FLUSH_LINE
#define DEFAULT_ADD_STREAM_ID FALSE
#define DEFAULT_LINE_META FALSE

static const gsize fields[] = {
  [RECORD_PROP_LOCATION] = G_STRUCT_OFFSET (RecordSettings, location),
  [RECORD_PROP_FORMAT] = G_STRUCT_OFFSET (RecordSettings, format),
  [RECORD_PROP_APPEND] = G_STRUCT_OFFSET (RecordSettings, append),
  [RECORD_PROP_EMIT_SIGNALS] = G_STRUCT_OFFSET (RecordSettings, emit_signals),
  [RECORD_PROP_EMPTY_LINES] = G_STRUCT_OFFSET (RecordSettings, empty_lines),
  [RECORD_PROP_ON_ERROR] = G_STRUCT_OFFSET (RecordSettings, on_error),
  [RECORD_PROP_FLUSH] = G_STRUCT_OFFSET (RecordSettings, flush),
  [RECORD_PROP_ADD_STREAM_ID] = G_STRUCT_OFFSET (RecordSettings, add_stream_id),
  [RECORD_PROP_LINE_META] = G_STRUCT_OFFSET (RecordSettings, line_meta),
};

static const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
    | GST_PARAM_MUTABLE_READY;
static const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
    | GST_PARAM_MUTABLE_PLAYING;

/* Installs the properties that select the contents of the recording. */
static void
install_recording (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, RECORD_PROP_LOCATION,
      g_param_spec_string ("location", "Location",
          "The recording: a file, a FIFO, or - for standard output (with gst-launch-1.0 -q). For "
          "numbered files, sockets and slow readers, use other sinks behind the pad boxes",
          DEFAULT_LOCATION, ready));
  g_object_class_install_property (object_class, RECORD_PROP_FORMAT,
      g_param_spec_enum ("format", "Format",
          "Format of the recording. jsonl keeps everything; mot "
          "cannot hold labels, region ids, states, angles and times",
          record_format_get_type (), DEFAULT_FORMAT, ready));
  g_object_class_install_property (object_class, RECORD_PROP_APPEND,
      g_param_spec_boolean ("append", "Append",
          "Continue an existing file after its last complete line. Otherwise the first line, or "
          "the end of the stream, empties it",
          DEFAULT_APPEND, ready));
  g_object_class_install_property (object_class, RECORD_PROP_EMIT_SIGNALS,
      g_param_spec_boolean ("emit-signals", "Emit signals",
          "Emit frame-boxes (buffer, structure) for every buffer; no location is needed then. The "
          "structure has timestamp (guint64, ns of stream time; only with a PTS), width and height "
          "(int; only if the caps state them) and boxes, a GstValueArray of structures. Each has "
          "x y w h (gint64, pixels) and region_id (int), and if they are known label and state "
          "(string), parent_id, label_id, id (the track) and suppressed-by (int), and as double "
          "x_min y_min x_max y_max (fractions of the frame), confidence and rotation (radians, "
          "clockwise)",
          DEFAULT_EMIT_SIGNALS, playing));
  g_object_class_install_property (object_class, RECORD_PROP_EMPTY_LINES,
      g_param_spec_boolean ("empty-lines", "Empty lines",
          "What the pad boxes pushes for a frame without boxes: true = a line with an empty "
          "objects array, false = a GAP event. Set it where GAP events are lost, as by rtpgstpay",
          DEFAULT_EMPTY_LINES, playing));
  g_object_class_install_property (object_class, RECORD_PROP_ADD_STREAM_ID,
      g_param_spec_boolean ("add-stream-id", "Add stream id",
          "Write the id of the stream, from its STREAM_START event, to each line of JSON Lines, so "
          "that a reader can tell the lines of several streams in one pipe apart",
          DEFAULT_ADD_STREAM_ID, ready));
  g_object_class_install_property (object_class, RECORD_PROP_LINE_META,
      g_param_spec_boolean ("line-meta", "Line metadata",
          "Attach the line of each frame to its buffer as the metadata NmsBoxLineMeta, a structure "
          "with the string line; no location is needed then. unixfdsink of GStreamer 1.24 and "
          "later passes it to another process, where boxreplay line-meta=true takes it. Elements "
          "that crop, scale or turn the picture drop it",
          DEFAULT_LINE_META, ready));
}

/* Installs the properties of how files and pipes are written. */
static void
install_output (GObjectClass *object_class)
{
  g_object_class_install_property (object_class, RECORD_PROP_ON_ERROR,
      g_param_spec_enum ("on-error", "On error",
          "What to do if a line cannot be written, for example because the disk is full or the "
          "reader closed the pipe. continue counts the frame in stats as failed, tries the next "
          "line, and writes the number of missing frames to it. A location that cannot be opened "
          "at start is always an error",
          record_on_error_get_type (), DEFAULT_ON_ERROR, playing));
  g_object_class_install_property (object_class, RECORD_PROP_FLUSH,
      g_param_spec_enum ("flush", "Flush",
          "When the lines of a regular file are written. Lines for a pipe are written at once",
          record_flush_get_type (), DEFAULT_FLUSH, ready));
}

void
record_settings_install (GObjectClass *object_class)
{
  install_recording (object_class);
  install_output (object_class);
  gst_type_mark_as_plugin_api (record_format_get_type (), 0);
  gst_type_mark_as_plugin_api (record_on_error_get_type (), 0);
  gst_type_mark_as_plugin_api (record_flush_get_type (), 0);
}

void
record_settings_init (RecordSettings *settings)
{
  *settings = (RecordSettings) {
    .location = g_strdup (DEFAULT_LOCATION),
    .format = DEFAULT_FORMAT,
    .append = DEFAULT_APPEND,
    .emit_signals = DEFAULT_EMIT_SIGNALS,
    .empty_lines = DEFAULT_EMPTY_LINES,
    .on_error = DEFAULT_ON_ERROR,
    .flush = DEFAULT_FLUSH,
    .add_stream_id = DEFAULT_ADD_STREAM_ID,
    .line_meta = DEFAULT_LINE_META,
  };
}

void
record_settings_clear (RecordSettings *settings)
{
  g_free (settings->location);
}

gpointer
record_settings_field (RecordSettings *settings, guint id)
{
  return G_STRUCT_MEMBER_P (settings, fields[id]);
}
