/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * boxes: the library nmscore alone, without GStreamer. Reads boxes from standard
 * input, a line each: x1 y1 x2 y2 score [class]; writes those that are kept, best
 * first, and for each that is not, which one suppressed it. Compile with
 *
 *   cc boxes.c -o boxes $(pkg-config --cflags --libs nmscore)
 *
 * and try: printf '0 0 10 10 .9\n1 0 11 10 .8\n' | ./boxes 0.5
 */
#include <nmscore.h>
#include <stdio.h>
#include <stdlib.h>

/* Boxes as a detector returns them: rows of corners, and arrays of scores and classes. */
typedef struct {
  float *rows, *scores;
  int32_t *classes;
  size_t count, room;
} Boxes;

static int
grow (Boxes *b)
{
  size_t room = b->room ? 2 * b->room : 64;
  float *rows = realloc (b->rows, room * 4 * sizeof *rows);
  if (rows)
    b->rows = rows;
  float *scores = realloc (b->scores, room * sizeof *scores);
  if (scores)
    b->scores = scores;
  int32_t *classes = realloc (b->classes, room * sizeof *classes);
  if (classes)
    b->classes = classes;
  if (!rows || !scores || !classes)
    return -1;
  b->room = room;
  return 0;
}

static int
read_boxes (Boxes *b)
{
  char line[256];
  for (int number = 1; fgets (line, sizeof line, stdin); number++) {
    if (b->count == b->room && grow (b) < 0) {
      fprintf (stderr, "boxes: out of memory\n");
      return -1;
    }
    float *row = b->rows + 4 * b->count;
    int class_id = 0;
    if (sscanf (line, "%f %f %f %f %f %d", row, row + 1, row + 2, row + 3, &b->scores[b->count],
            &class_id)
        < 5) {
      fprintf (stderr, "boxes: line %d is not x1 y1 x2 y2 score [class]\n", number);
      return -1;
    }
    b->classes[b->count++] = class_id;
  }
  return 0;
}

int
main (int argc, char **argv)
{
  Boxes b = { 0 };
  nms_context *ctx = nms_context_new (); /* keep it: later frames allocate nothing */
  nms_options options;
  nms_result result = { .size = sizeof result };
  int rc = 1;

  nms_options_init (&options, sizeof options);
  if (argc > 1)
    options.iou_threshold = (float) atof (argv[1]);
  options.outputs = NMS_OUTPUT_OUTCOME | NMS_OUTPUT_SUPPRESSED_BY;

  if (ctx && read_boxes (&b) == 0) {
    nms_boxes boxes = { .size = sizeof boxes, .count = b.count };
    nms_boxes_set_rows (&boxes, b.rows); /* columns with strides: nothing is copied */
    boxes.score.data = b.scores;
    boxes.class_id.data = b.classes;

    if (nms_run (ctx, &boxes, &options, &result) < 0) {
      fprintf (stderr, "boxes: %s\n", nms_context_error (ctx));
    } else {
      for (size_t k = 0; k < result.kept_count; k++)
        printf ("kept %d\n", result.kept[k]);
      for (size_t i = 0; i < b.count; i++)
        if (result.outcome[i] == NMS_OUTCOME_SUPPRESSED)
          printf ("%zu suppressed by %d\n", i, result.suppressed_by[i]);
        else if (result.outcome[i] == NMS_OUTCOME_INVALID)
          printf ("%zu invalid\n", i);
      rc = 0;
    }
  }
  nms_context_free (&ctx);
  free (b.rows);
  free (b.scores);
  free (b.classes);
  return rc;
}
