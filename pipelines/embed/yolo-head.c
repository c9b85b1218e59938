/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * yolo-head: from a detector's raw head to the boxes that are kept, in one
 * program: decoding and non-maximum suppression, compiled together for a device
 * if a PJRT plugin is named, or interpreted in C. Compile with
 *
 *   cc yolo-head.c -o yolo-head $(pkg-config --cflags --libs nmscore)
 *
 * Standard input: 4 + CLASSES rows of ANCHORS floats, as text, cx cy w h and a
 * score for each class (YOLOv8's output0 without its first axis). Standard
 * output: a line for each box kept: x1 y1 x2 y2 score class. --dump writes the
 * program instead, as StableHLO text.
 *
 *   yolo-head CLASSES ANCHORS IOU SCORE [PLUGIN.so | --dump] < head.txt
 */
#include <nmsgraph.h>
#include <nmsxla.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
fail (const char *what)
{
  fprintf (stderr, "yolo-head: %s\n", what);
  exit (1);
}

/* Records the program, and runs it or writes it. */
static void
run (nms_lazy *lz, int32_t classes, int32_t anchors, const float *head, const char *iou,
    const char *least, int dump)
{
  const int32_t dims[] = { 4 + classes, anchors };
  int32_t count, *picks = calloc (2 * (size_t) anchors, sizeof *picks), *class = picks + anchors;
  float *values = calloc (5 * (size_t) anchors, sizeof *values);
  nms_lazy_tensor score;

  if (!picks || !values)
    fail ("out of memory");
  nms_lazy_boxes boxes = nms_lazy_decode_head (lz, nms_lazy_input (lz, NMS_LAZY_F32, 2, dims, head),
      &score);
  boxes.limit = nms_lazy_input_f32 (lz, nms_lazy_limit_of (strtof (iou, NULL), 0));
  boxes.least = nms_lazy_input_s32 (lz, nms_lazy_order_key_of (strtof (least, NULL)));
  nms_lazy_kept kept = nms_lazy_nms (lz, &boxes, 0);

  const nms_lazy_tensor want[] = { kept.picks, kept.count, boxes.class_id, boxes.x1, boxes.y1,
    boxes.x2, boxes.y2, score };
  void *into[8] = { picks, &count, class };
  for (int k = 0; k < 5; k++)
    into[3 + k] = values + (size_t) k * (size_t) anchors;
  char *text = dump ? nms_lazy_dump (lz, 8, want) : NULL;
  if (dump && text)
    fputs (text, stdout);
  else if (dump || nms_lazy_read (lz, 8, want, into) < 0)
    fail (nms_lazy_error (lz));
  for (int32_t k = 0; !dump && k < count; k++) {
    for (int v = 0; v < 5; v++)
      printf ("%g ", (double) values[(size_t) v * (size_t) anchors + (size_t) picks[k]]);
    printf ("%d\n", (int) class[picks[k]]);
  }
  free (text);
  free (picks);
  free (values);
}

int
main (int argc, char **argv)
{
  const int32_t classes = argc > 4 ? atoi (argv[1]) : 0, anchors = argc > 4 ? atoi (argv[2]) : 0;
  const int dump = argc > 5 && !strcmp (argv[5], "--dump");
  nms_lazy_backend *device = NULL;
  char why[256];

  if (classes < 1 || classes > 10000 || anchors < 1 || anchors > 1000000)
    fail ("CLASSES ANCHORS IOU SCORE [PLUGIN.so | --dump] < head.txt");
  size_t size = (size_t) (4 + classes) * (size_t) anchors;
  float *head = calloc (size, sizeof *head);
  if (!head)
    fail ("out of memory");
  for (size_t i = 0; i < size && !dump; i++)
    if (scanf ("%f", &head[i]) != 1)
      fail ("the head ends too soon, or holds something that is not a number");
  if (argc > 5 && !dump && nms_xla_open (argv[5], &device, why, sizeof why) < 0)
    fail (why);
  nms_lazy_cache *cache = nms_lazy_cache_new (device, 0);
  nms_lazy *lz = nms_lazy_new (cache);
  if (!lz)
    fail ("out of memory");
  run (lz, classes, anchors, head, argv[3], argv[4], dump);
  nms_lazy_free (&lz);
  nms_lazy_cache_free (&cache);
  nms_xla_close (&device);
  free (head);
  return 0;
}
