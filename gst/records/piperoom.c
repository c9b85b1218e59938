/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * piperoom: Linux tells how many bytes are in a pipe, but a pipe holds pages. A write
 * begins a new page if its first part does not fit into the last one, so two pages in
 * a row hold more bytes than one page, except for the first, which is being read.
 * Therefore `n` bytes occupy at most 2 n / page + 2 pages.
 */
#define _GNU_SOURCE /* F_GETPIPE_SZ */
#include "piperoom.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LARGEST_PIPE (1024 * 1024)

gsize
pipe_room_unread (int fd)
{
  int unread = 0;

  return ioctl (fd, FIONREAD, &unread) == 0 ? (gsize) MAX (unread, 0) : 0;
}

static gsize
enlarge (int fd, gsize length, gsize capacity)
{
  int larger;

  if (capacity >= 4 * length || capacity >= LARGEST_PIPE)
    return capacity;
  larger = fcntl (fd, F_SETPIPE_SZ, (int) MIN (4 * length, LARGEST_PIPE));
  return larger > 0 ? (gsize) larger : capacity;
}

gboolean
pipe_room_for (int fd, gsize length)
{
  int size = fcntl (fd, F_GETPIPE_SZ);
  gsize page = (gsize) sysconf (_SC_PAGESIZE), capacity, unread;

  if (length <= PIPE_BUF || size <= 0)
    return TRUE;
  capacity = enlarge (fd, length, (gsize) size);
  unread = pipe_room_unread (fd);
  return length > capacity || unread == 0 || 2 * unread + length + 3 * page <= capacity;
}
