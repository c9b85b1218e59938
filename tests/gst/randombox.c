/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* randombox: half of the numbers are special ones, such as 0, 1 and -1e-300,
 * because those find errors. */
#include "randombox.h"

static gdouble
odd_number (GRand *random)
{
  switch (g_rand_int_range (random, 0, 8)) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
      return -1e-300;
    case 3:
      return g_rand_double_range (random, -1e6, 1e6);
    case 4:
      return g_rand_int_range (random, -5, 5) / 64.0;
    default:
      return g_rand_double_range (random, -0.5, 1.5);
  }
}

void
random_box (GRand *random, Box *b, guint count)
{
  static const gchar *const labels[] = { NULL, "person", "traffic light", "\"\\\n\x02", "\xff\xfe",
    "\xc3\xa9\xe2\x80\xa8", "{[,:]}" };
  const gchar *label = labels[g_rand_int_range (random, 0, G_N_ELEMENTS (labels))];

  *b = (Box) { .parent = -1, .suppressed_by = -1 };
  b->x = g_rand_int_range (random, -1000, 3000);
  b->y = g_rand_int_range (random, -1000, 3000);
  b->w = g_rand_int_range (random, 0, 3000);
  b->h = g_rand_int_range (random, 0, 3000);
  b->label = label ? g_quark_from_string (label) : 0;
  b->flags = g_rand_int_range (random, 0, 16);
  b->x_min = odd_number (random);
  b->y_min = odd_number (random);
  b->x_max = odd_number (random);
  b->y_max = odd_number (random);
  b->confidence = g_rand_boolean (random) ? (gfloat) g_rand_double (random) : odd_number (random);
  b->label_id = (gint) g_rand_int (random);
  b->region_id = g_rand_int_range (random, -2, 3);
  b->parent_id = g_rand_int_range (random, -2, 3);
  b->track_id = (gint) g_rand_int (random);
  b->state = g_rand_int_range (random, BOX_STATE_NONE, BOX_STATE_INVALID + 1);
  if (b->state == BOX_STATE_SUPPRESSED)
    b->suppressed_by = g_rand_int_range (random, -1, count);
}
