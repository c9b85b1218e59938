/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordings FOLDER: lets boxrecord write files *.jsonl to FOLDER, with all kinds of
 * boxes that it can meet.
 * recordings --skipped FILE: prints how many lines of FILE boxreplay refuses.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gstboxes.h"

static const gchar *folder;
static GRand *rand_state;

static void
add_param (GstVideoRegionOfInterestMeta *roi, GstStructure *param)
{
  gst_video_region_of_interest_meta_add_param (roi, param);
}

/* -------------------------------------------------------- frames, one of each kind */

static void
add_plain (GstBuffer *buffer)
{
  add_boxes (buffer, "0 person 10,20,30,40; 2 person 10,20,30,40 0.5");
  add_exact (buffer, 3, "traffic light", 10.25, 20.5, 30.75, 40.125, 0.75);
}

static void
add_off_frame (GstBuffer *buffer)
{
  add_boxes (buffer, "1 a -10,-20,30,40");
  add_region (buffer, 2, "a", G_MININT, G_MAXINT, G_MAXUINT, G_MAXUINT);
  add_boxes (buffer, "3 a 5000,5000,1,0");
  add_exact (buffer, 4, "a", -100.5, -7, 50, 9000, 1);
}

static void
add_identities (GstBuffer *buffer)
{
  GstVideoRegionOfInterestMeta *roi = add_scored (buffer, 7, "car", 0, 0, 90, 90, 0.5);

  add_param (roi, gst_structure_new ("object_id", "id", G_TYPE_INT, -12, NULL));
  roi = add_exact (buffer, -8, "wheel", 10, 10, 20, 20, 0.25);
  roi->parent_id = 7;
  gst_structure_set (roi->params->data, "label_id", G_TYPE_INT, G_MININT, NULL);
}

static void
add_rotated (GstBuffer *buffer)
{
  static const gdouble angles[] = { 0.5, -3, 1e-300, 1e300, INFINITY, NAN, 0 };

  for (guint i = 0; i < G_N_ELEMENTS (angles); i++)
    add_param (add_scored (buffer, (gint) i, "ship", 200, 200, 100, 10, 0.5),
        gst_structure_new ("rotation", "angle", G_TYPE_DOUBLE, angles[i], NULL));
}

static void
add_odd_values (GstBuffer *buffer)
{
  static const gchar *const labels[] = { NULL, "", "\xff\xfe", "\"\\\n\x01", "\xc3\xa9" };
  static const gdouble confidences[] = { NAN, INFINITY, -INFINITY, 5e-324, 1e308, -0.0, 1e22 };

  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    add_scored (buffer, 1, labels[i], 1, 2, 3, 4, 0.1);
  for (guint i = 0; i < G_N_ELEMENTS (confidences); i++)
    add_scored (buffer, 1, "a", 1, 2, 3, 4, confidences[i]);
}

/* Adds boxes to which nmsfilter gives each of the states, for record_states (). */
static void
add_for_states (GstBuffer *buffer)
{
  for (guint i = 0; i < 4; i++)
    add_scored (buffer, 1, "a", (gint) (i / 2) * 200, 0, 100, 100, 0.9 - i / 10.);
  add_boxes (buffer, "1 a 0,300,9,9 0.1");
  add_scored (buffer, 1, "a", 0, 300, 9, 9, NAN);
  add_boxes (buffer, "1 b 400,300,9,9");
  add_structure (add_scored (buffer, 1, "other", 400, 300, 9, 9, 0.9),
      "source, cut=(boolean)true;");
}

static gint
random_int (void)
{
  return (gint) g_rand_int (rand_state);
}

/* Draws a double of any bits. */
static gdouble
random_double (void)
{
  guint32 bits[2] = { g_rand_int (rand_state), g_rand_int (rand_state) };
  gdouble number;

  memcpy (&number, bits, sizeof number);
  return number;
}

static void
add_random (GstBuffer *buffer)
{
  guint count = (guint) g_rand_int_range (rand_state, 0, 20);

  for (guint i = 0; i < count; i++) {
    GstVideoRegionOfInterestMeta *roi = add_scored (buffer, random_int (), "random", random_int (),
        random_int (), (guint) random_int (), (guint) random_int (), random_double ());

    roi->parent_id = random_int ();
    add_param (roi, gst_structure_new ("rotation", "angle", G_TYPE_DOUBLE, random_double (), NULL));
    add_param (roi, gst_structure_new ("object_id", "id", G_TYPE_INT, random_int (), NULL));
  }
}

/* --------------------------------------------------------------------- recording */

/* Records `frames` frames into the file `name`, behind the elements `before` ("" or
 * ending in "! "). */
static void
record (const gchar *name, const gchar *before, const gchar *caps, guint frames,
    void (*add) (GstBuffer *))
{
  g_autofree gchar *line = g_strdup_printf ("%sboxrecord location=\"%s/%s.jsonl\"", before, folder,
      name);
  g_autoptr (GstHarness) h = gst_harness_new_parse (line);

  gst_harness_set_src_caps_str (h, caps);
  for (guint i = 0; i < frames; i++) {
    GstBuffer *buffer = frame_new (i % 4 == 3 ? GST_CLOCK_TIME_NONE : i * 100 * GST_MSECOND);

    if (add)
      add (buffer);
    gst_buffer_unref (through (h, buffer));
  }
}

#define SIZELESS_CAPS "application/x-frames"

static void
record_kinds (void)
{
  static const struct
  {
    const gchar *name;
    void (*add) (GstBuffer *);
  } kinds[] = { { "nothing", NULL }, { "plain", add_plain }, { "off-frame", add_off_frame },
    { "identities", add_identities }, { "rotated", add_rotated }, { "odd-values", add_odd_values },
    { "random", add_random } };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    guint frames = kinds[i].add == add_random ? 40 : 5;
    g_autofree gchar *sizeless = g_strconcat (kinds[i].name, "-sizeless", NULL);
    g_autofree gchar *tagged = g_strconcat (kinds[i].name, "-tagged", NULL);

    record (kinds[i].name, "", FRAME_CAPS, frames, kinds[i].add);
    record (sizeless, "", SIZELESS_CAPS, frames, kinds[i].add);
    record (tagged, "nmsfilter action=tag ! ", FRAME_CAPS, frames, kinds[i].add);
  }
}

/* Records the frames before a segment and those in it, with the id of the stream. */
static void
record_outside (void)
{
  g_autofree gchar *line =
      g_strdup_printf ("boxrecord add-stream-id=true location=\"%s/outside.jsonl\"", folder);
  g_autoptr (GstHarness) h = gst_harness_new_parse (line);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  segment.start = segment.time = 2 * 100 * GST_MSECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  for (guint i = 0; i < 4; i++)
    gst_buffer_unref (through (h, frame_new (i * 100 * GST_MSECOND)));
}

/* Copies what a pipe holds to the end of a file. */
static void
drain (int fd, FILE *file)
{
  gchar block[4096];
  gssize got;

  while ((got = read (fd, block, sizeof block)) > 0)
    fwrite (block, 1, (gsize) got, file);
}

/* Records into a pipe whose reader leaves and comes back, so that a frame has no line. */
static void
record_dropped (void)
{
  g_autofree gchar *fifo = g_strconcat (folder, "/fifo", NULL);
  g_autofree gchar *path = g_strconcat (folder, "/dropped.jsonl", NULL);
  g_autofree gchar *line = g_strdup_printf ("boxrecord on-error=continue location=\"%s\"", fifo);
  FILE *file = g_fopen (path, "w");
  GstHarness *h;
  int fd;

  g_assert (file && mkfifo (fifo, 0600) == 0);
  fd = g_open (fifo, O_RDONLY | O_NONBLOCK, 0);
  h = gst_harness_new_parse (line);
  gst_harness_set_src_caps_str (h, FRAME_CAPS);
  gst_buffer_unref (through (h, frame_new (0)));
  drain (fd, file);
  close (fd);
  gst_buffer_unref (through (h, frame_new (100 * GST_MSECOND)));
  fd = g_open (fifo, O_RDONLY | O_NONBLOCK, 0);
  for (guint i = 2; i < 4; i++)
    gst_buffer_unref (through (h, frame_new (i * 100 * GST_MSECOND)));
  drain (fd, file);
  gst_harness_teardown (h);
  fclose (file);
  close (fd);
  g_remove (fifo);
}

static void
record_states (void)
{
  static const gchar *const settings[] = { "max-detections=1", "max-candidates=2",
    "missing-score=drop", "min-neighbors=1" };
  static const gchar *const selections[] = { "min-width=50", "max-width=50", "max-aspect-ratio=0.5",
    "roi=0,0,9,9", "drop-classes=a", "drop-cut=true" };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_autofree gchar *filter =
        g_strdup_printf ("nmsfilter action=tag score-threshold=0.2 classes=a,b %s ! ", settings[i]);
    g_autofree gchar *name = g_strconcat ("states-", settings[i], NULL);

    record (name, filter, FRAME_CAPS, 1, add_for_states);
  }
  for (guint i = 0; i < G_N_ELEMENTS (selections); i++) {
    g_autofree gchar *filter = g_strdup_printf ("boxselect action=tag %s ! ", selections[i]);
    g_autofree gchar *name = g_strconcat ("states-", selections[i], NULL);

    record (name, filter, FRAME_CAPS, 1, add_for_states);
  }
  record ("states-steady", "boxsteady action=tag iou-threshold=1 ! ", FRAME_CAPS, 2,
      add_for_states);
}

/* Replays recordings as each kind of metadata of this build. */
static void
record_replayed (const gchar *location, const gchar *stem, const gchar *caps)
{
  g_autoptr (GstElement) element = element_new ("boxreplay");
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), "meta");
  GEnumClass *kinds = G_PARAM_SPEC_ENUM (spec)->enum_class;

  for (guint i = 0; i < kinds->n_values; i++) {
    const gchar *kind = kinds->values[i].value_nick;
    g_autofree gchar *before = g_strdup_printf ("boxreplay location=\"%s\" match=index meta=%s ! ",
        location, kind);
    g_autofree gchar *tagged = g_strconcat (before, "nmsfilter action=tag ! ", NULL);
    g_autofree gchar *name = g_strdup_printf ("%s-%s", stem, kind);
    g_autofree gchar *tagged_name = g_strconcat (name, "-tagged", NULL);

    record (name, before, caps, 5, NULL);
    record (tagged_name, tagged, caps, 5, NULL);
  }
}

static void
record_data (void)
{
  const gchar *data = g_getenv ("NMS_TEST_DATA");
  g_autofree gchar *sized = g_build_filename (data, "boxes.jsonl", NULL);
  g_autofree gchar *sizeless = g_build_filename (data, "boxes-nosize.jsonl", NULL);
  g_autofree gchar *mot = g_build_filename (data, "boxes.mot.txt", NULL);
  g_autofree gchar *rotated = g_build_filename (folder, "rotated.jsonl", NULL);

  record_replayed (sized, "data", FRAME_CAPS);
  record_replayed (sizeless, "data-sizeless", SIZELESS_CAPS);
  record_replayed (mot, "data-mot", FRAME_CAPS);
  record_replayed (rotated, "data-rotated", FRAME_CAPS);
}

static void
print_skipped (const gchar *path)
{
  g_autofree gchar *line = g_strdup_printf ("boxreplay location=\"%s\" match=index on-error=skip",
      path);
  g_autoptr (GstHarness) h = harness_new (line);
  gchar *text = NULL, **lines;

  /* a frame for each line, because contents of boxes are checked when they are needed; a line may
   * state two dropped frames */
  g_assert (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; i < 3 * g_strv_length (lines); i++)
    gst_buffer_unref (through (h, frame_new (i * 100 * GST_MSECOND)));
  g_strfreev (lines);
  g_free (text);
  gst_harness_push_event (h, gst_event_new_eos ());
  g_print ("%" G_GUINT64_FORMAT "\n", stat_of (h->element, "skipped"));
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  rand_state = g_rand_new_with_seed (1);
  if (argc == 3 && strcmp (argv[1], "--skipped") == 0) {
    print_skipped (argv[2]);
  } else if (argc == 2) {
    folder = argv[1];
    record_kinds ();
    record_states ();
    record_outside ();
    record_dropped ();
    record_data ();
  } else {
    g_printerr ("usage: recordings FOLDER | --skipped FILE\n");
    return 2;
  }
  g_rand_free (rand_state);
  gst_deinit ();
  return 0;
}
