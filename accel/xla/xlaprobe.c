/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xlaprobe: finds the program nms-xla-probe, and keeps a list of its answers, one for each state
 * of a plugin file. */
#include "xlaprobe.h"
#include "xlachild.h"
#include "xlaerror.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_SECONDS 30
#define MAX_SECONDS 3600

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
  const int code = nms__xla_child_open (program (), path, seconds (), &is_final, text, sizeof text);
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
