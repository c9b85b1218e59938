/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* leak-canary: leaks a buffer on demand, to check that the leak test fails. */
#include <gst/gst.h>

int
main (int argc, char **argv)
{
  GstBuffer *buffer;

  gst_init (&argc, &argv);
  buffer = gst_buffer_new_allocate (NULL, 16, NULL);
  if (argc < 2)
    gst_buffer_unref (buffer);
  gst_deinit ();
  return 0;
}
