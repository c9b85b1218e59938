/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filterrun: the main thread reads blocks of about a megabyte that contain whole frames, and writes
 * the results in their order; the threads of a GThreadPool filter the blocks, of which there are
 * at most two for each thread. A block takes about ten milliseconds, so the lock does not matter.
 * It uses read (2) and write (2), because blocks are large already. */
#define _GNU_SOURCE /* memrchr () */
#include "filterrun.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records/fileclaim.h"
#include "records/fileerror.h"

#define BLOCK_SIZE (1 << 20)
#define PROGRESS_INTERVAL (G_USEC_PER_SEC / 4)

/* A block that was given to the pool. */
typedef struct
{
  Block block;
  guint64 end;   /* offset of its end in the input, in bytes */
  gboolean done; /* under the lock of the run */
} Task;

typedef struct
{
  const FilterRun *options;
  RecordFormat from, to;
  gint in, out;
  FileClaim *in_claim, *out_claim; /* keep the output from replacing the input */

  /* reading */
  GString *rest; /* read, but not in a block yet */
  gboolean ended;
  guint64 size;          /* size of the input in bytes; 0 if unknown */
  guint64 offset, lines; /* before `rest` */
  guint64 frame;         /* MOT text: number of the last frame before `rest`, from 1; 0: none */

  /* filtering */
  GThreadPool *pool;
  GAsyncQueue *filters; /* BlockFilters that no thread uses */
  GQueue tasks;         /* tasks in the order of their blocks in the input */
  GMutex lock;
  GCond done;

  /* what was written */
  BlockCounts counts;
  guint64 reached; /* offset in the input, in bytes */

  gint64 begun, shown; /* g_get_monotonic_time () */
  gboolean terminal;   /* shows progress */
} Run;

/* -------------------------------------------------------------------- reading */

/* Reads about BLOCK_SIZE bytes more, or up to the end of the file. */
static gboolean
read_more (Run *self, GError **error)
{
  const gsize before = self->rest->len;
  gssize got;

  g_string_set_size (self->rest, before + BLOCK_SIZE);
  do
    got = read (self->in, self->rest->str + before, BLOCK_SIZE);
  while (got < 0 && errno == EINTR);
  g_string_set_size (self->rest, before + (got > 0 ? (gsize) got : 0));
  self->ended = got == 0;
  return got >= 0 || file_error_set (error, errno);
}

/* Reads until the first line that is not blank is known, and sets the format. */
static gboolean
read_beginning (Run *self, GError **error)
{
  gchar first;

  do
    if (!read_more (self, error))
      return FALSE;
  while (!self->ended && strspn (self->rest->str, " \t\r\n") == self->rest->len);
  first = self->rest->str[strspn (self->rest->str, " \t\r\n")];
  self->from = self->options->from;
  if (self->from == RECORD_FORMAT_AUTO && (first == '{' || first == '\0'))
    self->from = RECORD_FORMAT_JSONL;
  else if (self->from == RECORD_FORMAT_AUTO && g_ascii_isdigit (first))
    self->from = RECORD_FORMAT_MOT;
  self->to = self->options->to == RECORD_FORMAT_AUTO ? self->from : self->options->to;
  if (self->from == RECORD_FORMAT_AUTO)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "the text is neither JSON Lines, MOT challenge text nor empty");
  return self->from != RECORD_FORMAT_AUTO;
}

/* Returns the beginning of the line that ends at `end`, the position behind a newline. */
static gsize
line_before (const GString *text, gsize end)
{
  const gchar *newline = end > 1 ? memrchr (text->str, '\n', end - 1) : NULL;

  return newline ? (gsize) (newline + 1 - text->str) : 0;
}

/* Returns the number of the frame of a line of MOT text, from 1. */
static guint64
frame_at (const GString *text, gsize line)
{
  return g_ascii_strtoull (text->str + line, NULL, 10);
}

/* Returns the length of the whole frames in `rest`, 0 if there is none, and for MOT text the number
 * of the last one. */
static gsize
whole_frames (const Run *self, guint64 *frame)
{
  const GString *text = self->rest;
  const gchar *newline = memrchr (text->str, '\n', text->len);
  gsize end = self->ended ? text->len : newline ? (gsize) (newline + 1 - text->str) : 0;
  gsize begin = line_before (text, end);
  guint64 last;

  if (self->from != RECORD_FORMAT_MOT || end == 0)
    return end;
  last = frame_at (text, begin);
  while (!self->ended && begin > 0 && frame_at (text, begin) == last) {
    end = begin;
    begin = line_before (text, end);
  }
  *frame = frame_at (text, begin);
  return self->ended || *frame != last ? end : 0;
}

static guint64
count_lines (const gchar *text, gsize length)
{
  const gchar *end = text + length;
  guint64 lines = 0;

  while ((text = memchr (text, '\n', end - text)) != NULL) {
    text++;
    lines++;
  }
  return lines;
}

/* Moves the whole frames of `rest` to a new task. Returns NULL at the end of the input, or after
 * an error. */
static Task *
read_task (Run *self, GError **error)
{
  guint64 frame = self->frame;
  gsize length = self->rest->len > 0 ? whole_frames (self, &frame) : 0;
  Task *task;

  while (length == 0 && !self->ended) {
    if (!read_more (self, error))
      return NULL;
    length = whole_frames (self, &frame);
  }
  if (length == 0)
    return NULL;
  task = g_new0 (Task, 1);
  task->block.text = g_string_new_len (self->rest->str, length);
  task->block.out = g_string_new (NULL);
  task->block.lines_before = self->lines;
  task->block.frames_before = self->frame;
  self->frame = frame;
  g_string_erase (self->rest, 0, length);
  self->lines += count_lines (task->block.text->str, length);
  self->offset += length;
  task->end = self->offset;
  return task;
}

static void
task_free (gpointer data)
{
  Task *task = data;

  g_string_free (task->block.text, TRUE);
  g_string_free (task->block.out, TRUE);
  g_clear_error (&task->block.error);
  g_free (task);
}

/* ------------------------------------------------------------------ filtering */

/* Filters a block on a thread of the pool. */
static void
run_task (gpointer data, gpointer user_data)
{
  Run *self = user_data;
  Task *task = data;
  BlockFilter *filter = g_async_queue_pop (self->filters);

  block_filter_run (filter, &task->block);
  g_async_queue_push (self->filters, filter);
  g_mutex_lock (&self->lock);
  task->done = TRUE;
  g_cond_signal (&self->done);
  g_mutex_unlock (&self->lock);
}

/* Gives blocks to the pool until each thread has two, or the input ends. */
static void
fill_pool (Run *self, GError **error)
{
  Task *task;

  while (
      self->tasks.length < 2 * self->options->threads && (task = read_task (self, error)) != NULL) {
    g_queue_push_tail (&self->tasks, task);
    g_thread_pool_push (self->pool, task, NULL);
  }
}

/* Waits for the first block, and removes it. Returns NULL if there is none. */
static Task *
next_task (Run *self)
{
  Task *task = g_queue_pop_head (&self->tasks);

  g_mutex_lock (&self->lock);
  while (task && !task->done)
    g_cond_wait (&self->done, &self->lock);
  g_mutex_unlock (&self->lock);
  return task;
}

/* -------------------------------------------------------------------- writing */

static gboolean
write_all (gint fd, const gchar *text, gsize length, GError **error)
{
  while (length > 0) {
    const gssize written = write (fd, text, length);

    if (written < 0 && errno != EINTR)
      return file_error_set (error, errno);
    text += MAX (written, 0);
    length -= (gsize) MAX (written, 0);
  }
  return TRUE;
}

static void
report (const Run *self, gboolean last)
{
  const gdouble seconds = (gdouble) (g_get_monotonic_time () - self->begun) / G_USEC_PER_SEC;
  const BlockCounts *c = &self->counts;

  if (self->terminal)
    g_printerr ("\r\033[K");
  if (!last && self->size > 0)
    g_printerr ("%.1f %%, ", 100.0 * (gdouble) self->reached / (gdouble) self->size);
  g_printerr ("%" G_GUINT64_FORMAT " frames, boxes: %" G_GUINT64_FORMAT " in, %" G_GUINT64_FORMAT
              " kept; %.1f s, %.0f frames/s%s",
      c->frames, c->boxes, c->kept, seconds, (gdouble) c->frames / MAX (seconds, 1e-3),
      last ? "\n" : "");
}

static void
show_progress (Run *self)
{
  const gint64 now = g_get_monotonic_time ();

  if (!self->terminal || now - self->shown < PROGRESS_INTERVAL)
    return;
  self->shown = now;
  report (self, FALSE);
}

/* Writes a filtered block. */
static gboolean
write_task (Run *self, const Task *task, GError **error)
{
  const BlockCounts *more = &task->block.counts;
  GError *failed = NULL;

  self->counts.frames += more->frames;
  self->counts.boxes += more->boxes;
  self->counts.kept += more->kept;
  self->reached = task->end;
  if (!write_all (self->out, task->block.out->str, task->block.out->len, &failed)) {
    g_propagate_prefixed_error (error, failed, " cannot write to %s: ", self->options->output);
    return FALSE;
  }
  if (task->block.error) {
    g_propagate_error (error, g_error_copy (task->block.error));
    return FALSE;
  }
  show_progress (self);
  return TRUE;
}

static gboolean
filter_all (Run *self, BoxListSettings *properties, GError **error)
{
  GError *failed = NULL;
  gboolean good = TRUE;
  Task *task;

  self->filters = g_async_queue_new_full ((GDestroyNotify) block_filter_free);
  for (guint i = 0; i < self->options->threads; i++)
    g_async_queue_push (self->filters, block_filter_new (properties, self->from, self->to));
  self->pool = g_thread_pool_new (run_task, self, (gint) self->options->threads, TRUE, NULL);
  while (good) {
    /* the blocks before a place that cannot be read are written */
    if (failed == NULL)
      fill_pool (self, &failed);
    if ((task = next_task (self)) == NULL)
      break;
    good = write_task (self, task, error);
    task_free (task);
  }
  g_thread_pool_free (self->pool, TRUE, TRUE);
  g_queue_clear_full (&self->tasks, task_free);
  g_async_queue_unref (self->filters);
  if (good && failed) {
    g_propagate_prefixed_error (error, g_steal_pointer (&failed), " ");
    return FALSE;
  }
  g_clear_error (&failed);
  return good;
}

/* -------------------------------------------------------------- opening, closing */

static gboolean
open_input (Run *self, GError **error)
{
  const gchar *path = self->options->input;
  struct stat info;

  self->in = g_str_equal (path, "-") ? dup (STDIN_FILENO) : open (path, O_RDONLY | O_CLOEXEC);
  if (self->in < 0 || fstat (self->in, &info) < 0)
    return file_error_set (error, errno);
  self->size = S_ISREG (info.st_mode) ? (guint64) info.st_size : 0;
  self->in_claim = file_claim_take (self->in, FILE_CLAIM_READ, "nms-filter", error);
  return self->in_claim && read_beginning (self, error);
}

/* Opens the output, and empties it if it is a file that was named. */
static gboolean
open_output (Run *self, GError **error)
{
  const gchar *path = self->options->output;
  const gboolean standard = g_str_equal (path, "-");
  struct stat info;

  self->out = standard ? dup (STDOUT_FILENO) : open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (self->out < 0 || fstat (self->out, &info) < 0)
    return file_error_set (error, errno);
  self->out_claim = file_claim_take (self->out, FILE_CLAIM_REPLACE, "its output", error);
  return self->out_claim
      && (standard || !S_ISREG (info.st_mode)
          || file_claim_empty (self->out_claim, self->out, error));
}

/* Closes both files. Returns FALSE if the output could not be closed. */
static gboolean
close_files (Run *self, GError **error)
{
  const gboolean closed = self->out < 0 || close (self->out) == 0 || file_error_set (error, errno);

  if (self->in >= 0)
    close (self->in);
  file_claim_release (self->in_claim);
  file_claim_release (self->out_claim);
  return closed;
}

gboolean
filter_run (const FilterRun *options, BoxListSettings *properties, GError **error)
{
  Run self = { .options = options, .in = -1, .out = -1, .begun = g_get_monotonic_time () };
  const gchar *at = options->input, *separator = ": ";
  GError *failed = NULL;
  gboolean good;

  self.terminal = !options->quiet && isatty (STDERR_FILENO);
  self.rest = g_string_new (NULL);
  g_queue_init (&self.tasks);
  g_mutex_init (&self.lock);
  g_cond_init (&self.done);
  good = open_input (&self, &failed);
  if (good) {
    at = options->output;
    good = open_output (&self, &failed);
  }
  if (good) {
    at = options->input;
    separator = ":"; /* the number of a line follows */
    good = filter_all (&self, properties, &failed);
    if (self.terminal && !good)
      g_printerr ("\n");
    if (good && !options->quiet)
      report (&self, TRUE);
  }
  if (!close_files (&self, good ? &failed : NULL) && good) {
    at = options->output;
    separator = ": ";
    good = FALSE;
  }
  g_string_free (self.rest, TRUE);
  g_mutex_clear (&self.lock);
  g_cond_clear (&self.done);
  if (failed)
    g_propagate_prefixed_error (error, failed, "%s%s", at, separator);
  return good;
}
