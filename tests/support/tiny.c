/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tiny: the smallest program on an installed nmscore; two of its three boxes
 * overlap by 0.68, so two are kept. */
#include <nmscore.h>
#include <stdio.h>

int
main (void)
{
  const float rows[] = { 0, 0, 10, 10, 1, 1, 11, 11, 50, 50, 60, 60 };
  const float scores[] = { 0.8f, 0.9f, 0.7f };
  nms_context *ctx = nms_context_new ();
  nms_boxes boxes = { .size = sizeof boxes, .count = 3 };
  nms_result res = { .size = sizeof res };
  nms_options opt;

  nms_options_init (&opt, sizeof opt);
  nms_boxes_set_rows (&boxes, rows);
  boxes.score.data = scores;
  if (nms_run (ctx, &boxes, &opt, &res) < 0) {
    puts (nms_context_error (ctx));
    return 1;
  }
  if (res.kept_count != 2 || res.kept[0] != 1 || res.kept[1] != 2) {
    printf ("kept %zu\n", res.kept_count);
    return 1;
  }
  nms_context_free (&ctx);
  return nms_version () == NMS_VERSION_NUMBER ? 0 : 1;
}
