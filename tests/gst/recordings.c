/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recordings FOLDER: lets boxrecord write files *.jsonl to FOLDER, with all kinds of boxes that it
 * can meet. tests/data/marked.jsonl has the kinds of lines that depend on the stream.
 * recordings --skipped FILE: prints how many lines of FILE boxreplay refuses.
 */
#include <math.h>

#include "gstboxes.h"

#define SIZELESS_CAPS "application/x-frames"

static const gchar *folder;
static GRand *rand_state;

static void
add_double (GstVideoRegionOfInterestMeta *roi, const gchar *structure, const gchar *field,
    gdouble d)
{
  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new (structure, field, G_TYPE_DOUBLE, d, NULL));
}

/* -------------------------------------------------------- frames, one of each kind */

static const gdouble odd_numbers[] = { 0.5, -3, 1e-300, 1e300, INFINITY, -INFINITY, NAN, 0, -0.0,
  5e-324, 1e22 };

static void
add_nothing (GstBuffer *buffer)
{
  (void) buffer;
}

static void
add_plain (GstBuffer *buffer)
{
  add_boxes (buffer,
      "0 person 10,20,30,40; 2 person 10,20,30,40 0.5; 3 light 10.25:20.5:30.75:40.125 0.75; "
      /* off the frame */
      "1 a -10,-20,30,40; 2 a -2147483648,2147483647,-1,-1; 3 a 5000,5000,1,0; "
      "4 a -100.5:-7:50:9000 1");
}

static void
add_identities (GstBuffer *buffer)
{
  add_structure (add_region (buffer, 7, "car", (Rect) { 0, 0, 90, 90 }), "object_id, id=(int)-12;");
  add_structure (add_region (buffer, -8, "wheel", (Rect) { 10, 10, 10, 10 }),
      "detection, x_min=0.1, y_min=0.1, x_max=0.2, y_max=0.2, label_id=(int)-2147483648;");
  gst_buffer_get_video_region_of_interest_meta_id (buffer, -8)->parent_id = 7;
}

static void
add_rotated (GstBuffer *buffer)
{
  for (guint i = 0; i < G_N_ELEMENTS (odd_numbers); i++)
    add_double (add_region (buffer, (gint) i, "ship", (Rect) { 200, 200, 100, 10 }), "rotation",
        "angle", odd_numbers[i]);
}

static void
add_odd_values (GstBuffer *buffer)
{
  static const gchar *const labels[] = { NULL, "", "\xff\xfe", "\"\\\n\x01", "\xc3\xa9" };

  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    add_region (buffer, 1, labels[i], (Rect) { 1, 2, 3, 4 });
  for (guint i = 0; i < G_N_ELEMENTS (odd_numbers); i++)
    add_double (add_region (buffer, 1, "a", (Rect) { 1, 2, 3, 4 }), "detection", "confidence",
        odd_numbers[i]);
}

/* Adds boxes to which nmsfilter gives each of the states, for record_states (). */
static void
add_for_states (GstBuffer *buffer)
{
  add_boxes (buffer,
      "1 a 0,0,100,100 0.9; 1 a 0,0,100,100 0.8; 1 a 200,0,100,100 0.7; 1 a 200,0,100,100 0.6; "
      "1 a 0,300,9,9 0.1; 1 a 0,300,9,9 nan; 1 b 400,300,9,9; 2 other 400,300,9,9 0.9");
  add_structure (gst_buffer_get_video_region_of_interest_meta_id (buffer, 2),
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
  for (gint i = g_rand_int_range (rand_state, 0, 20); i > 0; i--) {
    GstVideoRegionOfInterestMeta *roi = add_region (buffer, random_int (), "random",
        (Rect) { random_int (), random_int (), random_int (), random_int () });

    roi->parent_id = random_int ();
    add_double (roi, "detection", "confidence", random_double ());
    add_double (roi, "rotation", "angle", random_double ());
    gst_video_region_of_interest_meta_add_param (roi,
        gst_structure_new ("object_id", "id", G_TYPE_INT, random_int (), NULL));
  }
}

/* --------------------------------------------------------------------- recording */

/* Records frames behind these elements ("" or ending in "! "). */
static void
record (const gchar *name, const gchar *elements, const gchar *caps, void (*add) (GstBuffer *))
{
  g_autofree gchar *line = g_strdup_printf ("%sboxrecord location=\"%s/%s.jsonl\"", elements,
      folder, name);
  g_autoptr (GstHarness) h = gst_harness_new_parse (line);

  gst_harness_set_src_caps_str (h, caps);
  for (guint i = 0; i < (add == add_random ? 40 : 5); i++) {
    GstBuffer *buffer = frame_new (i % 4 == 3 ? GST_CLOCK_TIME_NONE : i * 100 * GST_MSECOND);

    add (buffer);
    gst_buffer_unref (through (h, buffer));
  }
}

/* Records frames also behind nmsfilter. */
static void
record_tagged (const gchar *name, const gchar *elements, const gchar *caps,
    void (*add) (GstBuffer *))
{
  g_autofree gchar *tagged = g_strconcat (name, "-tagged", NULL);
  g_autofree gchar *filtered = g_strconcat (elements, "nmsfilter action=tag ! ", NULL);

  record (name, elements, caps, add);
  record (tagged, filtered, caps, add);
}

static void
record_kinds (void)
{
  static const struct
  {
    const gchar *name;
    void (*add) (GstBuffer *);
  } kinds[] = { { "nothing", add_nothing }, { "plain", add_plain },
    { "identities", add_identities }, { "rotated", add_rotated }, { "odd-values", add_odd_values },
    { "random", add_random } };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autofree gchar *sizeless = g_strconcat (kinds[i].name, "-sizeless", NULL);

    record_tagged (kinds[i].name, "", FRAME_CAPS, kinds[i].add);
    record (sizeless, "", SIZELESS_CAPS, kinds[i].add);
  }
}

static void
record_states (void)
{
#define FILTER "nmsfilter action=tag score-threshold=0.2 classes=a,b "
#define SELECT "boxselect action=tag "
  static const gchar *const filters[] = { FILTER "max-detections=1 ! ",
    FILTER "max-candidates=2 ! ", FILTER "missing-score=drop ! ", FILTER "min-neighbors=1 ! ",
    SELECT "min-width=50 ! ", SELECT "max-width=50 ! ", SELECT "max-aspect-ratio=0.5 ! ",
    SELECT "roi=0,0,9,9 ! ", SELECT "drop-classes=a ! ", SELECT "drop-cut=true ! ",
    "boxsteady action=tag iou-threshold=1 ! " };

  for (guint i = 0; i < G_N_ELEMENTS (filters); i++) {
    g_autofree gchar *name = g_strdup_printf ("states-%u", i);

    record (name, filters[i], FRAME_CAPS, add_for_states);
  }
}

/* Replays recordings as each kind of metadata of this build. */
static void
record_replayed (void)
{
  const gchar *data = g_getenv ("NMS_TEST_DATA");
  const gchar *const recordings[][3] = {
    { data, "boxes.jsonl", FRAME_CAPS },
    { data, "boxes-nosize.jsonl", SIZELESS_CAPS },
    { data, "boxes.mot.txt", FRAME_CAPS },
    { folder, "rotated.jsonl", FRAME_CAPS },
  };
  g_autoptr (GstElement) element = element_new ("boxreplay");
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), "meta");
  GEnumClass *kinds = G_PARAM_SPEC_ENUM (spec)->enum_class;

  for (guint i = 0; i < G_N_ELEMENTS (recordings); i++)
    for (guint k = 0; k < kinds->n_values; k++) {
      g_autofree gchar *name = g_strdup_printf ("replayed-%u-%u", i, k);
      g_autofree gchar *elements =
          g_strdup_printf ("boxreplay location=\"%s/%s\" match=index meta=%s ! ", recordings[i][0],
              recordings[i][1], kinds->values[k].value_nick);

      record_tagged (name, elements, recordings[i][2], add_nothing);
    }
}

static void
print_skipped (const gchar *path)
{
  g_autofree gchar *line = g_strdup_printf ("boxreplay location=\"%s\" match=index on-error=skip",
      path);
  g_autoptr (GstHarness) h = harness_new (line);
  g_autofree gchar *text = NULL;
  guint frames = 0;

  /* a frame for each line, because contents of boxes are checked when they are needed; a line may
   * state two dropped frames */
  g_assert (g_file_get_contents (path, &text, NULL, NULL));
  for (const gchar *c = text; *c; c++)
    frames += *c == '\n' ? 3 : 0;
  for (guint i = 0; i < frames; i++)
    gst_buffer_unref (through (h, frame_new (i * 100 * GST_MSECOND)));
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
    record_replayed ();
  } else {
    g_printerr ("usage: recordings FOLDER | --skipped FILE\n");
    return 2;
  }
  g_rand_free (rand_state);
  gst_deinit ();
  return 0;
}
