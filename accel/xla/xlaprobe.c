/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * xlaprobe: starts the program nms-xla-probe with a pipe as its standard output, reads one line
 * and reaps the process. The line is "ok ..." or "error ...". The end of the pipe without a line
 * means that the plugin has ended the process. Keeps a list of answers, one for each state of a
 * plugin file.
 */
#define _GNU_SOURCE /* pipe2, because another thread may start a program at any time */
#include "xlaprobe.h"
#include "xlaerror.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_SECONDS 30
#define MAX_SECONDS 3600
#define LINE 256

extern char **environ;

/* ------------------------------------------------------------------- trial */

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

/* Makes `program` open the plugin in file `path`, and kills it and the processes that it started
 * after `seconds`. Returns 0 if the plugin could be opened and closed, or if the program could
 * not be started. Otherwise returns NMS_ERROR_DEVICE and one line of text: the plugin's error,
 * or how the program ended. Sets *is_final to 0 if another attempt may end differently: the
 * program was not started, or the plugin returned an error. */
static int
try_open (const char *program, const char *path, unsigned seconds, int *is_final, char *error,
    size_t error_size)
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

/* ----------------------------------------------------------------- answers */

typedef struct answer {
  struct answer *next;
  struct stat file; /* all 0 for a name without a slash, which dlopen () searches for */
  int code;
  char error[256];
  char path[];
} answer;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static answer *answers; /* under the lock */

/* Returns the path of the program, or "" if trials are switched off. */
static const char *
program (void)
{
  const char *named = getenv ("NMS_XLA_PROBE");

  return named ? named : NMS__XLA_PROBE_PROGRAM;
}

static unsigned
seconds (void)
{
  const char *text = getenv ("NMS_XLA_PROBE_SECONDS");
  const long value = text ? strtol (text, NULL, 10) : 0;

  return value > 0 && value <= MAX_SECONDS ? (unsigned) value : DEFAULT_SECONDS;
}

static int
is_same_file (const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size
      && a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void
keep_answer (const char *path, const struct stat *file, int code, const char *error)
{
  const size_t size = strlen (path) + 1;
  answer *a = calloc (1, sizeof *a + size);

  if (!a)
    return; /* the next call probes again */
  memcpy (a->path, path, size);
  a->file = *file;
  a->code = nms__xla_error_set (code, a->error, sizeof a->error, "%s", error);
  a->next = answers;
  answers = a;
}

static int
probe_locked (const char *path, const struct stat *file, char *error, size_t error_size)
{
  char text[256] = "";
  int is_final;

  for (const answer *a = answers; a; a = a->next)
    if (!strcmp (a->path, path) && is_same_file (&a->file, file))
      return a->code ? nms__xla_error_set (a->code, error, error_size, "%s", a->error) : NMS_OK;
  const int code = try_open (program (), path, seconds (), &is_final, text, sizeof text);
  if (is_final)
    keep_answer (path, file, code, text);
  return code ? nms__xla_error_set (code, error, error_size, "%s", text) : NMS_OK;
}

int
nms__xla_probe (const char *path, char *error, size_t error_size)
{
  struct stat file;
  int code;

  memset (&file, 0, sizeof file);
  if (!*program () || nms__xla_probe_check (NULL, 0) || (strchr (path, '/') && stat (path, &file)))
    return NMS_OK;
  pthread_mutex_lock (&lock);
  code = probe_locked (path, &file, error, error_size);
  pthread_mutex_unlock (&lock);
  return code;
}

int
nms__xla_probe_check (char *error, size_t error_size)
{
  const char *file = program ();

  if (!*file || !access (file, X_OK))
    return NMS_OK;
  return nms__xla_error_set (NMS_ERROR_DEVICE, error, error_size,
      "the program %s cannot be run, so a plugin that crashes or blocks is not detected "
      "before it is opened",
      file);
}
