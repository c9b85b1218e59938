/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlachild: starts the program with a pipe as its standard output, reads one line and reaps
 * the process. The line is "ok ..." or "error ...". The end of the pipe without a line
 * means that the plugin has ended the process.
 */
#define _GNU_SOURCE /* pipe2, because another thread may start a program at any time */
#include "xlachild.h"
#include "xlaerror.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE 256

extern char **environ;

/* Gives the child a process group of its own, so that Ctrl-C does not reach it and one call kills
 * it with all its children. Gives it the default action for every signal, and blocks none. */
static int
set_attributes (posix_spawnattr_t *attributes)
{
  sigset_t none, all;

  sigemptyset (&none);
  sigfillset (&all);
  return posix_spawnattr_setflags (attributes,
             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
      || posix_spawnattr_setpgroup (attributes, 0) || posix_spawnattr_setsigmask (attributes, &none)
      || posix_spawnattr_setsigdefault (attributes, &all);
}

/* Starts the program with `output` as its standard output. Returns whether it was started. */
static int
start (const char *program, const char *path, unsigned seconds, int output, pid_t *child)
{
  char limit[16];
  char *const argv[] = { (char *) program, (char *) path, limit, NULL };
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  int failed;

  /* a time limit in the child itself, because this process may end first */
  snprintf (limit, sizeof limit, "%u", seconds + 1);
  if (posix_spawn_file_actions_init (&files))
    return 0;
  if (posix_spawnattr_init (&attributes)) {
    posix_spawn_file_actions_destroy (&files);
    return 0;
  }
  failed = posix_spawn_file_actions_addopen (&files, 0, "/dev/null", O_RDONLY, 0)
      || posix_spawn_file_actions_adddup2 (&files, output, 1) || set_attributes (&attributes)
      || posix_spawn (child, program, &files, &attributes, argv, environ);
  posix_spawnattr_destroy (&attributes);
  posix_spawn_file_actions_destroy (&files);
  return !failed;
}

static long long
milliseconds_now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Reads until the first newline, the end of the pipe or the time limit. Writes the text without
 * the newline to `line`. Returns 0 if the time limit has passed. */
static int
read_line (int pipe, unsigned seconds, char line[LINE])
{
  const long long end = milliseconds_now () + seconds * 1000LL;
  struct pollfd waited = { .fd = pipe, .events = POLLIN };
  size_t length = 0;

  line[0] = '\0';
  while (!strchr (line, '\n') && length < LINE - 1) {
    const long long left = end - milliseconds_now ();
    if (left <= 0)
      return 0;
    if (poll (&waited, 1, (int) left) <= 0)
      continue;
    const ssize_t got = read (pipe, line + length, LINE - 1 - length);
    if (got <= 0 && !(got < 0 && errno == EINTR))
      break;
    length += got > 0 ? (size_t) got : 0;
    line[length] = '\0';
  }
  line[strcspn (line, "\n")] = '\0';
  return 1;
}

/* Waits for the child, which it kills first if `is_late`, and kills the other processes of its
 * group. Returns the child's status as waitpid () writes it, or -1 if the application has reaped
 * the child. */
static int
reap (pid_t child, int is_late)
{
  int status;
  pid_t reaped;

  if (is_late)
    kill (-child, SIGKILL);
  while ((reaped = waitpid (child, &status, 0)) < 0 && errno == EINTR)
    ;
  kill (-child, SIGKILL); /* processes that the plugin has started */
  return reaped == child ? status : -1;
}

static int
refuse (const char *path, const char *line, int is_late, unsigned seconds, int status, char *error,
    size_t error_size)
{
  static const char prefix[] = "error ";

  if (!strncmp (line, prefix, sizeof prefix - 1))
    return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size, "%s", line + sizeof prefix - 1);
  if (is_late)
    return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
        "the plugin blocks: a trial process had not opened it after %u s: %s", seconds, path);
  if (status != -1 && WIFSIGNALED (status))
    return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
        "the plugin crashes: it ended a trial process by signal %d (%s): %s", WTERMSIG (status),
        strsignal (WTERMSIG (status)), path);
  if (status != -1)
    return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
        "the plugin crashes: it ended a trial process with status %d: %s", WEXITSTATUS (status),
        path);
  return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
      "the plugin crashes: it ended a trial process: %s", path);
}

int
nms__xla_child_open (const char *program, const char *path, unsigned seconds, int *is_final,
    char *error, size_t error_size)
{
  char line[LINE];
  int ends[2];
  pid_t child;

  *is_final = 0;
  if (pipe2 (ends, O_CLOEXEC))
    return NMS_OK;
  const int started = start (program, path, seconds, ends[1], &child);
  close (ends[1]);
  if (!started) {
    close (ends[0]);
    return NMS_OK;
  }
  const int is_late = !read_line (ends[0], seconds, line);
  close (ends[0]);
  const int status = reap (child, is_late);
  const int opened = !strncmp (line, "ok ", 3);
  *is_final = opened || strncmp (line, "error ", 6);
  return opened ? NMS_OK : refuse (path, line, is_late, seconds, status, error, error_size);
}
