/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* piperoom: tells whether a pipe has room for a whole line, so that none is cut. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns whether a pipe has room for `length` bytes. A pipe smaller than four lines
 * is enlarged first, up to the 1 MiB that the system allows. Returns TRUE for a line of
 * at most PIPE_BUF bytes, which a write takes whole or not at all, and for one longer than
 * the pipe, which cannot be whole. */
gboolean pipe_room_for (int fd, gsize length);

/* Returns the number of bytes in a pipe that were not read yet. */
gsize pipe_room_unread (int fd);

G_END_DECLS
