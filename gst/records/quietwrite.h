/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* quietwrite: writes to pipes and sockets without raising SIGPIPE. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Calls write (2) without raising SIGPIPE: a closed pipe or socket is only the errno
 * EPIPE. The handler and the mask of the process are unchanged. */
gssize quiet_write (int fd, const gchar *text, gsize length);

G_END_DECLS
