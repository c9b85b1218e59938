/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaelf: finds truncated plugin files before they are mapped. */
#ifndef NMS_XLAELF_H
#define NMS_XLAELF_H

#include <stddef.h>

/* Checks that file `path` is a regular file that holds all segments of its ELF program
 * headers. Reading a mapped page beyond the end of a truncated file would kill the process
 * with SIGBUS. Returns 0 also for a file that is absent or not of this machine's ELF class,
 * and for a name without a slash, which dlopen () looks for in the system's folders: dlopen ()
 * reports the fault. Otherwise returns NMS_ERROR_DEVICE and one line of text. */
int nms__xla_elf_check (const char *path, char *error, size_t error_size);

#endif
