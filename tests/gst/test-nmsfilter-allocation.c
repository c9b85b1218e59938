/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsfilter without memory: each allocation that nmscore makes in the element fails once. That
 * is an error message; the element leaks nothing, and works after a new start. Allocations by
 * GLib cannot fail: they end the program.
 *
 * The linker redirects the calls of the allocator in the plugin, which is linked statically, to
 * this file (--wrap).
 */
#include <errno.h>

#include "gstboxes.h"
#include "testrunner.h"

GST_PLUGIN_STATIC_DECLARE (nms);

static struct
{
  gint fail_at; /* index of the allocation that fails; -1: none fails */
  gint calls;   /* allocations so far */
} heap = { .fail_at = -1 };

static gboolean
fails (void)
{
  if (heap.calls++ != heap.fail_at)
    return FALSE;
  errno = ENOMEM;
  return TRUE;
}

#define WRAPPED(type, name, ...) \
  type __real_##name (__VA_ARGS__); \
  type __wrap_##name (__VA_ARGS__); \
  type __wrap_##name (__VA_ARGS__)

WRAPPED (void *, malloc, size_t size) { return fails () ? NULL : __real_malloc (size); }

WRAPPED (void *, calloc, size_t count, size_t size)
{
  return fails () ? NULL : __real_calloc (count, size);
}

WRAPPED (void *, realloc, void *memory, size_t size)
{
  return fails () ? NULL : __real_realloc (memory, size);
}

WRAPPED (void *, aligned_alloc, size_t alignment, size_t size)
{
  return fails () ? NULL : __real_aligned_alloc (alignment, size);
}

WRAPPED (int, posix_memalign, void **memory, size_t alignment, size_t size)
{
  return fails () ? ENOMEM : __real_posix_memalign (memory, alignment, size);
}

/* Returns a buffer with this number of boxes, of which each overlaps the next one. */
static GstBuffer *
crowd (gint count)
{
  GstBuffer *buffer = frame_new (0);

  for (gint i = 0; i < count; i++)
    add_scored (buffer, i + 1, i % 2 ? "a" : "b", (Rect) { 4 * (i % 150), 3 * (i / 150), 40, 40 },
        1 - i / 2000.);
  return buffer;
}

/* Pushes a small and a large buffer through a new element. Returns whether it started and both came
 * out. */
static gboolean
play (const gchar *launch, GstBus *bus)
{
  static const gint counts[] = { 10, 700 };
  g_autoptr (GstElement) element = element_new (launch);
  g_autoptr (GstHarness) h = NULL;
  guint pushed = 0;

  gst_element_set_bus (element, bus);
  /* (a harness ends the program if the start fails) */
  if (gst_element_set_state (element, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE) {
    h = gst_harness_new_with_element (element, "sink", "src");
    gst_harness_set_src_caps_str (h, FRAME_CAPS);
    while (pushed < G_N_ELEMENTS (counts)
        && gst_harness_push (h, crowd (counts[pushed])) == GST_FLOW_OK) {
      g_autoptr (GstBuffer) out = gst_harness_pull (h);

      g_assert_cmpuint (count_on (out), >, 0);
      pushed++;
    }
  }
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  return pushed == G_N_ELEMENTS (counts);
}

/* Returns whether the bus has an error message, which names the lack of memory. Clears it. */
static gboolean
take_error (GstBus *bus)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  GError *error = NULL;
  gchar *debug = NULL;

  if (message == NULL)
    return FALSE;
  gst_message_parse_error (message, &error, &debug);
  g_assert_true (strstr (error->message, "memory") || (debug && strstr (debug, "memory")));
  g_clear_error (&error);
  g_free (debug);
  gst_message_unref (message);
  gst_bus_set_flushing (bus, TRUE);
  gst_bus_set_flushing (bus, FALSE);
  return TRUE;
}

static void
test_each (gconstpointer row)
{
  const gchar *launch = *(const gchar *const *) row;
  g_autoptr (GstBus) bus = gst_bus_new ();
  gint errors = 0, index = 0;

  for (;; index++) {
    gboolean played;

    heap.calls = 0;
    heap.fail_at = index;
    played = play (launch, bus);
    heap.fail_at = -1;
    if (heap.calls <= index)
      break;
    errors += !played;
    g_assert_true (take_error (bus) == !played);
    g_assert_true (play (launch, bus));
    g_assert_false (take_error (bus));
  }
  g_assert_cmpint (errors, >, 2);
  g_test_message ("%d allocations, %d errors", index, errors);
}

static const char *
start (const char *needs)
{
  gst_init (NULL, NULL);
  GST_PLUGIN_STATIC_REGISTER (nms);
  return NULL;
}

static const gchar *const lines[] = {
  "nmsfilter iou-threshold=0.5",
  "nmsfilter engine=sorted min-neighbors=1",
  "nmsfilter engine=spatial max-detections=50 max-candidates=500",
  "nmsfilter method=soft-linear method-options=o,min-score=0.3",
  "nmsfilter method=weighted",
  "nmsfilter action=tag class-options=o,a=[o,max=20]",
  NULL,
};

static const TestCase cases[] = { TEST_ROWS ("/nmsfilter/allocation/%s", test_each, lines),
  { NULL } };

TEST_PROGRAM (cases, start, gst_deinit, NULL)
