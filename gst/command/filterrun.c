/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filterrun: the main thread reads blocks of about a megabyte that contain whole frames, and writes
 * the results in their order; the threads of a GThreadPool filter the blocks, of which there are
 * at most two for each thread. It uses read (2) and write (2), because blocks are large already. */
#define _GNU_SOURCE /* memrchr () */
#include "filterrun.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records/fileclaim.h"
#include "records/fileerror.h"
#include "records/jsonl.h"
#include "records/mottext.h"
#include "records/recordreader.h"

#define BLOCK_SIZE (1 << 20)
#define PROGRESS_INTERVAL (G_USEC_PER_SEC / 4)

typedef struct
{
  guint64 frames, boxes, kept;
} Counts;

/* A block of the input: whole frames. */
typedef struct
{
  GString *text;         /* NULL after it was filtered */
  guint64 lines_before;  /* lines of the input before the block */
  guint64 frames_before; /* MOT text: number of the last frame before the block, or 0 */
  guint64 end;           /* offset of its end in the input, in bytes */
  GString *out;          /* the filtered frames */
  Counts counts;
  GError *error; /* "<line>: <reason>" or NULL; `out` has the frames before that line */
  gboolean done;
} Block;

typedef struct
{
  const FilterRun *options;
  RecordFormat from, to;
  gint in, out;
  FileClaim *in_claim, *out_claim; /* keep the output from replacing the input */

  /* used for reading */
  GString *rest; /* read, but not in a block yet */
  gboolean ended;
  guint64 size;          /* size of the input in bytes; 0 if unknown */
  guint64 offset, lines; /* bytes and lines of the input before `rest` */
  guint64 frame;         /* MOT text: number of the last frame before `rest`, or 0 */

  /* used for filtering */
  GThreadPool *pool;
  GAsyncQueue *filters; /* BoxLists that no thread uses */
  GAsyncQueue *done;    /* blocks that the pool has finished */
  GQueue blocks;        /* blocks in the order of the input */

  /* used for writing */
  Counts counts;
  guint64 reached; /* offset in the input, in bytes, up to which the results are written */

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

/* Reads until the first line that is not blank is known, passes over a byte order mark, and sets
 * the format. */
static gboolean
read_beginning (Run *self, GError **error)
{
  gchar first;

  do
    if (!read_more (self, error))
      return FALSE;
  while (!self->ended && strspn (self->rest->str, " \t\r\n") == self->rest->len);
  if (g_str_has_prefix (self->rest->str, "\xef\xbb\xbf")) {
    g_string_erase (self->rest, 0, 3);
    self->offset += 3;
  }
  first = self->rest->str[strspn (self->rest->str, " \t\r\n")];
  self->from = self->options->from;
  if (self->from == RECORD_FORMAT_AUTO && (first == '{' || first == '\0'))
    self->from = RECORD_FORMAT_JSONL;
  else if (self->from == RECORD_FORMAT_AUTO && g_ascii_isdigit (first))
    self->from = RECORD_FORMAT_MOT;
  self->to = self->options->to == RECORD_FORMAT_AUTO ? self->from : self->options->to;
  if (self->from == RECORD_FORMAT_AUTO)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "the text is %s",
        record_reader_guess (self->rest->str));
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

/* Moves the whole frames of `rest` to a new block. Returns NULL at the end of the input, or after
 * an error. */
static Block *
read_block (Run *self, GError **error)
{
  guint64 frame = self->frame;
  gsize length = self->rest->len > 0 ? whole_frames (self, &frame) : 0;
  Block *block;

  while (length == 0 && !self->ended) {
    if (!read_more (self, error))
      return NULL;
    length = whole_frames (self, &frame);
  }
  if (length == 0)
    return NULL;
  block = g_new0 (Block, 1);
  block->text = g_string_new_len (self->rest->str, length);
  block->out = g_string_new (NULL);
  block->lines_before = self->lines;
  block->frames_before = self->frame;
  self->frame = frame;
  g_string_erase (self->rest, 0, length);
  self->lines += count_lines (block->text->str, length);
  self->offset += length;
  block->end = self->offset;
  return block;
}

static void
block_free (gpointer data)
{
  Block *block = data;

  if (block->text)
    g_string_free (block->text, TRUE);
  g_string_free (block->out, TRUE);
  g_clear_error (&block->error);
  g_free (block);
}

/* ------------------------------------------------------------------ filtering */

/* Filters the boxes of a frame and writes it to the block. */
static gboolean
filter_frame (const Run *self, Block *block, BoxList *list, RecordedFrame *frame, GError **error)
{
  const guint read = frame->boxes->len;
  gint kept;

  if (!recorded_frame_fit (frame, frame->width, frame->height, error))
    return FALSE;
  kept = box_list_filter (list, frame->boxes, frame->width, frame->height, error);
  if (kept < 0)
    return FALSE;
  block->counts.frames++;
  block->counts.boxes += read;
  block->counts.kept += (guint) kept;
  if (self->to == RECORD_FORMAT_MOT)
    mot_text_format (frame, block->out);
  else
    jsonl_format (frame, block->out);
  return TRUE;
}

/* Filters the frames of a block. From JSON Lines to MOT, a frame gets the number of its line; from
 * MOT to JSON Lines, missing numbers are dropped frames. */
static void
filter_block (const Run *self, Block *block, BoxList *list)
{
  const gsize length = block->text->len;
  LineReader *lines = line_reader_new_text (g_string_free (g_steal_pointer (&block->text), FALSE),
      length, block->lines_before);
  RecordReader *reader = record_reader_new (lines, self->from, G_MAXSIZE, NULL);
  guint64 before = block->frames_before;
  RecordedFrame frame;

  record_reader_continue (reader, before);
  recorded_frame_init (&frame);
  while (block->error == NULL
      && record_reader_next (reader, &frame, &block->error) == RECORD_READER_FRAME) {
    if (self->from == RECORD_FORMAT_MOT)
      frame.dropped = frame.index - before;
    else
      frame.index = frame.line - 1;
    before = frame.index + 1;
    if (!filter_frame (self, block, list, &frame, &block->error))
      g_prefix_error (&block->error, "%" G_GUINT64_FORMAT ": ", frame.line);
  }
  recorded_frame_clear (&frame);
  record_reader_free (reader);
}

/* Filters a block on a thread of the pool. */
static void
run_block (gpointer data, gpointer user_data)
{
  Run *self = user_data;
  BoxList *list = g_async_queue_pop (self->filters);

  filter_block (self, data, list);
  g_async_queue_push (self->filters, list);
  g_async_queue_push (self->done, data);
}

/* Gives blocks to the pool until each thread has two, or the input ends. */
static void
fill_pool (Run *self, GError **error)
{
  Block *block;

  while (self->blocks.length < 2 * self->options->threads
      && (block = read_block (self, error)) != NULL) {
    g_queue_push_tail (&self->blocks, block);
    g_thread_pool_push (self->pool, block, NULL);
  }
}

/* Waits for the first block, and removes it. Returns NULL if there is none. */
static Block *
next_block (Run *self)
{
  Block *block = g_queue_pop_head (&self->blocks);

  while (block && !block->done)
    ((Block *) g_async_queue_pop (self->done))->done = TRUE;
  return block;
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
  const Counts *c = &self->counts;

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
write_block (Run *self, const Block *block, GError **error)
{
  const Counts *more = &block->counts;

  self->counts.frames += more->frames;
  self->counts.boxes += more->boxes;
  self->counts.kept += more->kept;
  self->reached = block->end;
  if (!write_all (self->out, block->out->str, block->out->len, error)) {
    g_prefix_error (error, "cannot write to %s: ",
        g_str_equal (self->options->output, "-") ? "standard output" : self->options->output);
    return FALSE;
  }
  if (block->error) {
    g_set_error (error, block->error->domain, block->error->code, "%s:%s", self->options->input,
        block->error->message);
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
  Block *block;

  self->done = g_async_queue_new ();
  self->filters = g_async_queue_new_full ((GDestroyNotify) box_list_free);
  for (guint i = 0; i < self->options->threads; i++)
    g_async_queue_push (self->filters, box_list_new (properties));
  self->pool = g_thread_pool_new (run_block, self, (gint) self->options->threads, TRUE, NULL);
  while (good) {
    /* writes the blocks before a position that cannot be read */
    if (failed == NULL)
      fill_pool (self, &failed);
    if ((block = next_block (self)) == NULL)
      break;
    good = write_block (self, block, error);
    block_free (block);
  }
  g_thread_pool_free (self->pool, TRUE, TRUE);
  g_queue_clear_full (&self->blocks, block_free);
  g_async_queue_unref (self->done);
  g_async_queue_unref (self->filters);
  if (good && failed) {
    g_propagate_prefixed_error (error, g_steal_pointer (&failed), "%s: ", self->options->input);
    good = FALSE;
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

/* Opens the output. Empties it if it is a file given by its name, not standard output. */
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

/* Prefixes the error of a failed step with the name of the file. Returns `good`. */
static gboolean
named (gboolean good, const gchar *path, GError **error)
{
  if (!good)
    g_prefix_error (error, "%s: ", path);
  return good;
}

gboolean
filter_run (const FilterRun *options, BoxListSettings *properties, GError **error)
{
  Run self = { .options = options, .in = -1, .out = -1, .begun = g_get_monotonic_time () };
  gboolean opened, good;

  self.terminal = !options->quiet && isatty (STDERR_FILENO);
  self.rest = g_string_new (NULL);
  g_queue_init (&self.blocks);
  opened = named (open_input (&self, error), options->input, error)
      && named (open_output (&self, error), options->output, error);
  good = opened && filter_all (&self, properties, error);
  if (self.terminal && opened && !good)
    g_printerr ("\n");
  if (self.out >= 0 && close (self.out) < 0 && good)
    good = named (file_error_set (error, errno), options->output, error);
  if (good && !options->quiet)
    report (&self, TRUE);
  if (self.in >= 0)
    close (self.in);
  file_claim_release (self.in_claim);
  file_claim_release (self.out_claim);
  g_string_free (self.rest, TRUE);
  return good;
}
