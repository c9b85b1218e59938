/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gstboxes: what tests of the elements share: buffers with regions of interest, the
 * regions that are left on them, and elements in a harness. Each region has an id, so
 * that an expectation is a string like "1 4 7".
 */
#pragma once

#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_WIDTH 640
#define FRAME_HEIGHT 480
#define FRAME_CAPS "video/x-raw,format=GRAY8,width=640,height=480,framerate=10/1"

/* Returns a buffer of 16 bytes, which no element may read, with this PTS. */
static inline GstBuffer *
frame_new (GstClockTime pts)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 16, NULL);

  gst_buffer_memset (buffer, 0, 0x5a, 16);
  GST_BUFFER_PTS (buffer) = pts;
  if (GST_CLOCK_TIME_IS_VALID (pts))
    GST_BUFFER_DURATION (buffer) = 100 * GST_MSECOND;
  return buffer;
}

typedef struct
{
  gint x, y; /* they may be negative, and then wrap */
  guint w, h;
} Rect;

/* Adds a region without a confidence. */
static inline GstVideoRegionOfInterestMeta *
add_region (GstBuffer *buffer, gint id, const gchar *label, Rect at)
{
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (buffer, label,
      (guint) at.x, (guint) at.y, at.w, at.h);

  roi->id = id;
  return roi;
}

/* Adds a region with a confidence and without normalized coordinates. */
static inline GstVideoRegionOfInterestMeta *
add_scored (GstBuffer *buffer, gint id, const gchar *label, Rect at, gdouble confidence)
{
  GstVideoRegionOfInterestMeta *roi = add_region (buffer, id, label, at);

  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, confidence, NULL));
  return roi;
}

/* Adds a structure, written as GStreamer does: "detection, confidence=(double)0.5;". */
static inline void
add_structure (GstVideoRegionOfInterestMeta *roi, const gchar *text)
{
  gst_video_region_of_interest_meta_add_param (roi, gst_structure_from_string (text, NULL));
}

/* Adds a region as detectors write it: the corners x1, y1, x2, y2 as doubles, normalized by the
 * frame size, and the integers that they round to. */
static inline GstVideoRegionOfInterestMeta *
add_exact (GstBuffer *buffer, gint id, const gchar *label, const gdouble *at, gdouble confidence)
{
  const Rect rounded = { (gint) (at[0] + 0.5), (gint) (at[1] + 0.5), (guint) (at[2] - at[0] + 0.5),
    (guint) (at[3] - at[1] + 0.5) };
  GstVideoRegionOfInterestMeta *roi = add_region (buffer, id, label, rounded);

  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, at[0] / FRAME_WIDTH, "x_max",
          G_TYPE_DOUBLE, at[2] / FRAME_WIDTH, "y_min", G_TYPE_DOUBLE, at[1] / FRAME_HEIGHT, "y_max",
          G_TYPE_DOUBLE, at[3] / FRAME_HEIGHT, "confidence", G_TYPE_DOUBLE, confidence, NULL));
  return roi;
}

/* Returns the structure of this name on a region, to which it adds one if it has none. */
static inline GstStructure *
structure_on (GstVideoRegionOfInterestMeta *roi, const gchar *name)
{
  GstStructure *structure = gst_video_region_of_interest_meta_get_param (roi, name);

  if (structure == NULL) {
    structure = gst_structure_new_empty (name);
    gst_video_region_of_interest_meta_add_param (roi, structure);
  }
  return structure;
}

/* Adds the regions of a text such as "1 car 0,0,100,50 0.9; 2 wheel 5,40,9,9 in 1": id, label (-:
 * none, '': empty, _: a blank), place, and if it has them, confidence (also nan, inf) and id of the
 * parent. The place is x,y,width,height in pixels, or x1:y1:x2:y2, the corners as add_exact takes
 * them. "as 7" is the label id, "from left" the source, "cut" what boxmerge marks as cut, "#7" the
 * track, "@0.5" the rotation, and "tagged kept" the state that a filter has written. */
static inline void
add_boxes (GstBuffer *buffer, const gchar *text)
{
  gchar **list = g_strsplit (text, "; ", -1);

  for (guint i = 0; list[i] && (*list[i] || list[i + 1]); i++) { /* the last one may be empty */
    gchar **words = g_strsplit (list[i], " ", -1), *end;
    const gchar *label = strcmp (words[1], "-") == 0 ? NULL
        : strcmp (words[1], "''") == 0               ? ""
                                                     : g_strdelimit (words[1], "_", ' ');
    const gboolean scored = words[3] && *words[3] && strchr ("-0123456789ni", *words[3])
        && strcmp (words[3], "in") != 0;
    const gdouble confidence = scored ? g_ascii_strtod (words[3], &end) : 0;
    const gint id = atoi (words[0]);
    GstVideoRegionOfInterestMeta *roi;
    gint x, y, w, h;
    gdouble at[4];

    g_assert_true (!scored || *end == '\0');
    if (strchr (words[2], ':')) {
      for (guint k = 0; k < 4; k++, end++)
        at[k] = g_ascii_strtod (k ? end : words[2], &end);
      g_assert_true (scored);
      roi = add_exact (buffer, id, label, at, confidence);
    } else {
      g_assert_cmpint (sscanf (words[2], "%d,%d,%d,%d", &x, &y, &w, &h), ==, 4);
      roi = add_region (buffer, id, label, (Rect) { x, y, (guint) w, (guint) h });
      if (scored)
        gst_structure_set (structure_on (roi, "detection"), "confidence", G_TYPE_DOUBLE, confidence,
            NULL);
    }
    for (guint k = scored ? 4 : 3; words[k]; k++)
      if (strcmp (words[k], "cut") == 0)
        gst_structure_set (structure_on (roi, "source"), "cut", G_TYPE_BOOLEAN, TRUE, NULL);
      else if (strcmp (words[k], "in") == 0)
        roi->parent_id = atoi (words[++k]);
      else if (strcmp (words[k], "from") == 0)
        gst_structure_set (structure_on (roi, "source"), "name", G_TYPE_STRING, words[++k], NULL);
      else if (strcmp (words[k], "as") == 0)
        gst_structure_set (structure_on (roi, "detection"), "label_id", G_TYPE_INT,
            atoi (words[++k]), NULL);
      else if (strcmp (words[k], "tagged") == 0)
        gst_structure_set (structure_on (roi, "nms"), "state", G_TYPE_STRING, words[++k], NULL);
      else if (*words[k] == '#')
        gst_structure_set (structure_on (roi, "object_id"), "id", G_TYPE_INT, atoi (words[k] + 1),
            NULL);
      else if (*words[k] == '@')
        gst_structure_set (structure_on (roi, "rotation"), "angle", G_TYPE_DOUBLE,
            g_ascii_strtod (words[k] + 1, NULL), NULL);
      else
        g_error ("%s: what is %s?", list[i], words[k]);
    g_strfreev (words);
  }
  g_strfreev (list);
}

/* Returns a frame at 0 s with the regions of this text. */
static inline GstBuffer *
frame_with (const gchar *boxes)
{
  GstBuffer *buffer = frame_new (0);

  add_boxes (buffer, boxes);
  return buffer;
}

/* A loop over the regions of a buffer, in its order. */
#define EACH_REGION(buffer, roi) \
  for (gpointer state_ = NULL; \
       (roi = (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (buffer, &state_, \
            GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) \
       != NULL;)

/* Returns the ids of all regions on the buffer, in its order: "1 4 7". Static. */
static inline const gchar *
ids_on (GstBuffer *buffer)
{
  static GString *text = NULL;
  GstVideoRegionOfInterestMeta *roi;

  if (text == NULL)
    text = g_string_new (NULL);
  g_string_truncate (text, 0);
  EACH_REGION (buffer, roi)
  g_string_append_printf (text, "%s%d", text->len ? " " : "", roi->id);
  return text->str;
}

/* Returns the places of all regions on the buffer: "10,20,30,40 5,5,9,9". Static. */
static inline const gchar *
boxes_on (GstBuffer *buffer)
{
  static GString *text = NULL;
  GstVideoRegionOfInterestMeta *roi;

  if (text == NULL)
    text = g_string_new (NULL);
  g_string_truncate (text, 0);
  EACH_REGION (buffer, roi)
  g_string_append_printf (text, "%s%d,%d,%u,%u", text->len ? " " : "", (gint) roi->x, (gint) roi->y,
      roi->w, roi->h);
  return text->str;
}

static inline guint
count_on (GstBuffer *buffer)
{
  return gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

#define assert_ids(buffer, expected) g_assert_cmpstr (ids_on (buffer), ==, expected)

/* Returns the structure "nms" of region `id` as text: "kept", "suppressed:0"; "" if it
 * has none. Fails if there is no such region. Free it. */
static inline gchar *
tag_of (GstBuffer *buffer, gint id)
{
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, id);
  GstStructure *tag;
  gint by;

  g_assert_nonnull (roi);
  tag = gst_video_region_of_interest_meta_get_param (roi, "nms");
  if (tag == NULL)
    return g_strdup ("");
  if (gst_structure_get_int (tag, "suppressed-by", &by))
    return g_strdup_printf ("%s:%d", gst_structure_get_string (tag, "state"), by);
  return g_strdup (gst_structure_get_string (tag, "state"));
}

#define assert_tag(buffer, id, expected) \
  G_STMT_START \
  { \
    gchar *tag_ = tag_of (buffer, id); \
    g_assert_cmpstr (tag_, ==, expected); \
    g_free (tag_); \
  } \
  G_STMT_END

/* Fails unless regions have these tags: "1=kept 2=suppressed:0". */
static inline void
assert_tags (GstBuffer *buffer, const gchar *expected)
{
  gchar **list = g_strsplit (expected, " ", -1);

  for (guint i = 0; list[i]; i++)
    assert_tag (buffer, atoi (list[i]), strchr (list[i], '=') + 1);
  g_strfreev (list);
}

/* Creates the element of a launch line, which names only one. */
static inline GstElement *
element_new (const gchar *launch_line)
{
  GError *error = NULL;
  GstElement *element = gst_parse_launch (launch_line, &error);

  if (element == NULL || error)
    g_error ("%s: %s", launch_line, error->message);
  g_assert_false (GST_IS_BIN (element));
  return gst_object_ref_sink (element);
}

/* Creates the element in a harness, and starts a stream with these caps; with NULL sends
 * no caps. */
static inline GstHarness *
harness_new_caps (const gchar *launch_line, const gchar *caps)
{
  GstElement *element = element_new (launch_line);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");

  gst_object_unref (element);
  if (caps)
    gst_harness_set_src_caps_str (h, caps);
  return h;
}

static inline GstHarness *
harness_new (const gchar *launch_line)
{
  return harness_new_caps (launch_line, FRAME_CAPS);
}

/* Pushes `buffer`, which it takes, and returns the buffer that comes out. Fails if the
 * push fails. */
static inline GstBuffer *
through (GstHarness *h, GstBuffer *buffer)
{
  GstBuffer *out;

  g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
  out = gst_harness_try_pull (h);
  g_assert_nonnull (out);
  return out;
}

/* Pushes `buffer` through a new element of this launch line and returns what comes out. */
static inline GstBuffer *
filtered (const gchar *launch_line, GstBuffer *buffer)
{
  GstHarness *h = harness_new (launch_line);
  GstBuffer *out = through (h, buffer);

  gst_harness_teardown (h);
  return out;
}

/* Sends `buffer`, which it takes, through a new element of this launch line. Fails unless
 * exactly the regions with these ids are left on it. */
static inline void
expect (const gchar *launch_line, GstBuffer *buffer, const gchar *ids)
{
  GstBuffer *out = filtered (launch_line, buffer);

  if (g_strcmp0 (ids_on (out), ids) != 0)
    g_error ("%s left \"%s\", not \"%s\"", launch_line, ids_on (out), ids);
  gst_buffer_unref (out);
}

/* Pushes `buffer`, which it takes. Fails unless exactly the regions with these ids are left on the
 * buffer that comes out. */
static inline void
expect_through (GstHarness *h, GstBuffer *buffer, const gchar *ids)
{
  GstBuffer *out = through (h, buffer);

  assert_ids (out, ids);
  gst_buffer_unref (out);
}

/* Returns a field of the property "stats" of an element. Fails if there is no such
 * field. */
static inline guint64
stat_of (GstElement *element, const gchar *name)
{
  GstStructure *stats;
  guint64 value = 0;

  g_object_get (element, "stats", &stats, NULL);
  if (!gst_structure_get_uint64 (stats, name, &value))
    g_error ("stats have no guint64 %s", name);
  gst_structure_free (stats);
  return value;
}

/* Fails unless fields of the property "stats" have these values: "boxes-in=8 boxes-out=1". */
static inline void
assert_stats (GstElement *element, const gchar *expected)
{
  gchar **list = g_strsplit (expected, " ", -1);

  for (guint i = 0; list[i]; i++) {
    gchar *value = strchr (list[i], '=');
    guint64 found;

    *value = '\0';
    found = stat_of (element, list[i]);
    if (found != g_ascii_strtoull (value + 1, NULL, 10))
      g_error ("%s is %" G_GUINT64_FORMAT ", not %s", list[i], found, value + 1);
  }
  g_strfreev (list);
}

/* A frame with `boxes`, the launch line of an element, and what the frame has behind it. */
typedef struct
{
  const gchar *name, *line, *boxes;
  const gchar *ids;   /* ids of the boxes that are left */
  const gchar *tags;  /* as assert_tags takes them, or NULL */
  const gchar *stats; /* as assert_stats takes them, or NULL */
  const gchar *first; /* launch line of elements in front, or NULL */
} FrameRow;

/* Sends each frame through a new element. */
static inline void
expect_frames (const FrameRow *rows, guint count)
{
  for (guint i = 0; i < count; i++) {
    GstHarness *h, *first = gst_harness_new_parse (rows[i].first ? rows[i].first : "identity");
    GstBuffer *out;

    g_test_message ("%s: %s", rows[i].name, rows[i].line);
    h = harness_new (rows[i].line);
    gst_harness_set_src_caps_str (first, FRAME_CAPS);
    out = through (h, through (first, frame_with (rows[i].boxes)));
    if (strcmp (ids_on (out), rows[i].ids) != 0)
      g_error ("%s: %s left \"%s\", not \"%s\"", rows[i].name, rows[i].line, ids_on (out),
          rows[i].ids);
    if (rows[i].tags)
      assert_tags (out, rows[i].tags);
    if (rows[i].stats)
      assert_stats (h->element, rows[i].stats);
    gst_buffer_unref (out);
    gst_harness_teardown (h);
    gst_harness_teardown (first);
  }
}

/* Increments the gint `count`, atomically: for the signal notify. */
static inline void
count_notification (GObject *object, GParamSpec *property, gpointer count)
{
  (void) object;
  (void) property;
  g_atomic_int_inc ((gint *) count);
}

/* Begins a segment at this time, which is the stream time `time`. */
static inline void
push_segment (GstHarness *h, GstClockTime start, GstClockTime time)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.position = start;
  segment.time = time;
  g_assert_true (gst_harness_push_event (h, gst_event_new_segment (&segment)));
}

static inline void
push_flush (GstHarness *h)
{
  g_assert_true (gst_harness_push_event (h, gst_event_new_flush_start ()));
  g_assert_true (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
}

/* Gives the element of a harness a bus, which it owns, and returns it. */
static inline GstBus *
harness_bus (GstHarness *h)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  gst_object_unref (bus);
  return bus;
}

/* Frees a harness, and the bus of its element with its messages. */
static inline void
harness_free (GstHarness *h)
{
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstHarness, harness_free)

/* Fails unless the element asks for regions in an allocation query that no element downstream
 * answers. */
static inline void
expect_allocation (const gchar *launch_line, GstCaps *caps)
{
  GstElement *element = element_new (launch_line);
  GstPad *pad = gst_element_get_static_pad (element, "sink");
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  gst_element_set_state (element, GST_STATE_PAUSED);
  g_assert_true (gst_pad_send_event (pad, gst_event_new_stream_start ("s")));
  g_assert_true (gst_pad_send_event (pad, gst_event_new_caps (caps)));
  g_assert_true (gst_pad_query (pad, query));
  g_assert_true (
      gst_query_find_allocation_meta (query, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, NULL));
  gst_element_set_state (element, GST_STATE_NULL);
  gst_query_unref (query);
  gst_object_unref (pad);
  gst_object_unref (element);
}

/* Removes all messages from the bus. Returns how many have this type. */
static inline guint
count_messages (GstBus *bus, GstMessageType type)
{
  GstMessage *message;
  guint count = 0;

  while ((message = gst_bus_pop (bus)) != NULL) {
    count += GST_MESSAGE_TYPE (message) == type;
    gst_message_unref (message);
  }
  return count;
}

/* Returns the text of a warning or an error that users see. Free it. */
static inline gchar *
message_text (GstMessage *message)
{
  GError *error = NULL;
  gchar *text;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  return text;
}

/* Fails unless the message, which it takes, is there and a part of its text matches `words`, in
 * which * stands for any text. */
static inline void
assert_says (GstMessage *message, const gchar *words)
{
  gchar *text, *pattern = g_strdup_printf ("*%s*", words);

  g_assert_nonnull (message);
  text = message_text (message);
  if (!g_pattern_match_simple (pattern, text))
    g_error ("\"%s\" does not say \"%s\"", text, words);
  g_free (text);
  g_free (pattern);
  gst_message_unref (message);
}

/* Returns a value as text, or "NULL". Free it. */
static inline gchar *
value_text (const GValue *value)
{
  gchar *text;

  if (G_VALUE_HOLDS_STRING (value))
    text = g_value_dup_string (value);
  else if (GST_VALUE_HOLDS_STRUCTURE (value))
    text = g_value_get_boxed (value) ? gst_structure_to_string (g_value_get_boxed (value)) : NULL;
  else
    text = gst_value_serialize (value);
  return text ? text : g_strdup ("NULL");
}

/* Fails unless the properties of these names, separated by blanks, have these values, as
 * gst_value_serialize writes them, but texts and structures are not quoted: "0 true NULL text". */
static inline void
assert_values (gpointer object, const gchar *names, const gchar *expected)
{
  gchar **list = g_strsplit (names, " ", -1), *found;

  for (guint i = 0; list[i]; i++) {
    GValue value = G_VALUE_INIT;

    g_object_get_property (object, list[i], &value);
    g_free (list[i]);
    list[i] = value_text (&value);
    g_value_unset (&value);
  }
  found = g_strjoinv (" ", list);
  g_assert_cmpstr (found, ==, expected);
  g_free (found);
  g_strfreev (list);
}

/* Fails unless the element does not start, with an error that says these words, and no other
 * message before. */
static inline void
expect_no_start (GstElement *element, const gchar *words)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
  g_assert_null (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  assert_says (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR), words);
  g_assert_cmpuint (count_messages (bus, GST_MESSAGE_ERROR), ==, 0);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
}

/* Fails unless the element starts. Stops it. */
static inline void
expect_start (GstElement *element)
{
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), !=, GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
}

/* Makes an element of each launch line, which must not start. */
static inline void
expect_no_starts (const gchar *const (*rows)[2], guint count)
{
  for (guint i = 0; i < count; i++) {
    GstElement *element = element_new (rows[i][0]);

    expect_no_start (element, rows[i][1]);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_object_unref (element);
  }
}

/* Returns whether an element, which another package may provide, is installed. */
static inline gboolean
has_element (const gchar *name)
{
  GstElementFactory *factory = gst_element_factory_find (name);

  if (factory == NULL)
    return FALSE;
  gst_object_unref (factory);
  return TRUE;
}
