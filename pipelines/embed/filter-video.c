/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * filter-video: an application with nmsfilter in it. Builds
 *
 *   filesrc ! decodebin ! boxreplay ! nmsfilter ! boxoverlay ! ... ! a sink
 *
 * from code (boxreplay is where a detector would be), reads each frame's survivors,
 * and takes keys while it plays: + and - change the threshold, q ends. Compile with
 *
 *   cc filter-video.c -o filter-video \
 *     $(pkg-config --cflags --libs gstreamer-1.0 gstreamer-video-1.0)
 *
 * and run it where GST_PLUGIN_PATH names the folder of the plugin. */
#include <glib-unix.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <termios.h>
#include <unistd.h>

typedef struct {
  GMainLoop *loop;
  GstElement *pipeline, *filter;
  gboolean failed, ending; /* an error message came; the user asked for the end */
  gint frames, survivors;  /* atomic, because the streaming thread counts them */
} App;

/* Counts the survivors of one frame. It runs in the streaming thread, so it must be quick. */
static GstPadProbeReturn
on_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  App *app = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
              GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *box = (GstVideoRegionOfInterestMeta *) meta;
    GstStructure *detection = gst_video_region_of_interest_meta_get_param (box, "detection");
    gdouble confidence = 0; /* stays 0 where the detector gave none */

    if (detection)
      gst_structure_get_double (detection, "confidence", &confidence);
    GST_DEBUG ("%s at %u,%u, confidence %g", g_quark_to_string (box->roi_type), box->x, box->y,
        confidence);
    g_atomic_int_inc (&app->survivors);
  }
  g_atomic_int_inc (&app->frames);
  return GST_PAD_PROBE_OK;
}

/* Ends the stream. Buffers in the pipeline still reach the sink, and files are completed. */
static gboolean
end (gpointer data)
{
  App *app = data;
  if (app->ending) /* the user asked a second time */
    g_main_loop_quit (app->loop);
  app->ending = TRUE;
  gst_element_send_event (app->pipeline, gst_event_new_eos ());
  return G_SOURCE_CONTINUE;
}

static gboolean
on_key (gint fd, GIOCondition condition, gpointer data)
{
  App *app = data;
  gfloat threshold;
  gchar key;

  if (read (fd, &key, 1) != 1)
    return G_SOURCE_REMOVE; /* the input has ended; the video plays on */
  g_object_get (app->filter, "iou-threshold", &threshold, NULL);
  if (key == '+' || key == '-') {
    threshold = CLAMP (threshold + (key == '+' ? 0.05f : -0.05f), 0, 1);
    g_object_set (app->filter, "iou-threshold", threshold, NULL);
    g_print ("iou-threshold is %.2f\n", threshold);
  } else if (key == 'q') {
    end (app);
  }
  return G_SOURCE_CONTINUE;
}

static gboolean
report (gpointer data)
{
  App *app = data;
  GstStructure *stats;
  guint64 in, out;

  g_object_get (app->filter, "stats", &stats, NULL);
  gst_structure_get (stats, "boxes-in", G_TYPE_UINT64, &in, "boxes-out", G_TYPE_UINT64, &out, NULL);
  gst_structure_free (stats);
  g_print ("%d frames, boxes: %" G_GUINT64_FORMAT " in, %" G_GUINT64_FORMAT " out, %d seen\n",
      g_atomic_int_get (&app->frames), in, out, g_atomic_int_get (&app->survivors));
  return G_SOURCE_CONTINUE;
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  App *app = data;
  GError *error = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    app->failed = TRUE;
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) { /* such as a bad setting */
    gst_message_parse_warning (message, &error, NULL);
  }
  if (error)
    g_printerr ("filter-video: %s: %s\n", GST_OBJECT_NAME (message->src), error->message);
  if (app->failed || GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
    g_main_loop_quit (app->loop);
  g_clear_error (&error);
  return G_SOURCE_CONTINUE;
}

/* decodebin knows its pads only when it has seen the file. */
static void
on_pad (GstElement *decoder, GstPad *pad, gpointer next)
{
  GstPad *sink = gst_element_get_static_pad (next, "sink");
  if (!gst_pad_is_linked (sink))
    gst_pad_link (pad, sink);
  gst_object_unref (sink);
}

static gboolean
build (App *app, const gchar *video, const gchar *boxes, const gchar *sink)
{
  /* the filter before any converter, which would drop the confidences */
  const gchar *names[] = { "filesrc", "decodebin", "queue", "boxreplay", "nmsfilter", "boxoverlay",
    "videoconvert", sink };
  GstElement *element[G_N_ELEMENTS (names)];
  GstPad *pad;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (!(element[i] = gst_element_factory_make (names[i], NULL))) {
      g_printerr ("filter-video: there is no element %s\n", names[i]);
      return FALSE;
    }
    gst_bin_add (GST_BIN (app->pipeline), element[i]);
    if (i > 0 && i != 2 && !gst_element_link (element[i - 1], element[i]))
      return FALSE;
  }
  g_signal_connect (element[1], "pad-added", G_CALLBACK (on_pad), element[2]);
  g_object_set (element[0], "location", video, NULL);
  g_object_set (element[3], "location", boxes, NULL);
  app->filter = element[4];
  g_object_set (app->filter, "iou-threshold", 0.3, NULL);
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (element[7]), "sync"))
    g_object_set (element[7], "sync", TRUE, NULL);
  pad = gst_element_get_static_pad (app->filter, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, app, NULL);
  gst_object_unref (pad);
  return TRUE;
}

int
main (int argc, char **argv)
{
  App app = { 0 };
  struct termios before = { 0 }, keys;
  GstBus *bus;

  gst_init (&argc, &argv);
  if (argc < 3) {
    g_printerr ("usage: filter-video VIDEO BOXES.jsonl [SINK]\n");
    return 2;
  }
  app.loop = g_main_loop_new (NULL, FALSE);
  app.pipeline = gst_pipeline_new (NULL);
  if (!build (&app, argv[1], argv[2], argc > 3 ? argv[3] : "autovideosink"))
    return 1;

  bus = gst_element_get_bus (app.pipeline);
  gst_bus_add_watch (bus, on_message, &app);
  g_unix_signal_add (SIGINT, end, &app);
  g_unix_fd_add (STDIN_FILENO, G_IO_IN | G_IO_HUP, on_key, &app);
  g_timeout_add_seconds (1, report, &app);
  tcgetattr (STDIN_FILENO, &before);
  keys = before; /* read each key at once, without Enter */
  keys.c_lflag &= ~(tcflag_t) (ICANON | ECHO);
  tcsetattr (STDIN_FILENO, TCSANOW, &keys); /* fails, rightly, where there is no terminal */
  gst_element_set_state (app.pipeline, GST_STATE_PLAYING);
  g_main_loop_run (app.loop);
  report (&app);
  tcsetattr (STDIN_FILENO, TCSANOW, &before);
  gst_element_set_state (app.pipeline, GST_STATE_NULL);
  gst_bus_remove_watch (bus);
  gst_object_unref (bus);
  gst_object_unref (app.pipeline);
  g_main_loop_unref (app.loop);
  return app.failed ? 1 : 0;
}
