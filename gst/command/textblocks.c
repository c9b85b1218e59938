/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* textblocks: reads with read(2) and keeps the rest behind the last whole frame for the next
 * block. */
#define _GNU_SOURCE /* memrchr () */
#include "textblocks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arraylines.h"
#include "records/cocotext.h"
#include "records/fileclaim.h"
#include "records/fileerror.h"

#define BLOCK_SIZE (1 << 20)

struct _TextBlocks
{
  gint fd;
  FileClaim *claim; /* keeps the output from replacing the input */
  guint64 size;
  TextFormat format;
  CsvColumns *columns; /* of CSV text */
  CocoParser *parser;  /* of COCO results */
  ArrayState array;    /* of COCO results, behind `rest` */
  GString *rest;       /* read, but not returned yet */
  gboolean ended;
  TextPlace place;
};

TextFormat
text_blocks_format (const TextBlocks *self)
{
  return self->format;
}

const CsvColumns *
text_blocks_columns (const TextBlocks *self)
{
  return self->columns;
}

guint64
text_blocks_size (const TextBlocks *self)
{
  return self->size;
}

/* Makes lines of the text of COCO results that begins at `from` in `rest`. */
static gboolean
convert_array (TextBlocks *self, gsize from, GError **error)
{
  if (!array_lines_convert (&self->array, self->rest->str + from, self->rest->len - from, error))
    return FALSE;
  if (!self->ended || self->array.expects == ARRAY_EXPECTS_NOTHING)
    return TRUE;
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "the array of entries does not end");
  return FALSE;
}

/* Reads about BLOCK_SIZE bytes more, or up to the end of the file. */
static gboolean
read_more (TextBlocks *self, GError **error)
{
  const gsize before = self->rest->len;
  gssize got;

  g_string_set_size (self->rest, before + BLOCK_SIZE);
  do
    got = read (self->fd, self->rest->str + before, BLOCK_SIZE);
  while (got < 0 && errno == EINTR);
  g_string_set_size (self->rest, before + (got > 0 ? (gsize) got : 0));
  self->ended = got == 0;
  if (got < 0)
    return file_error_set (error, errno);
  return self->format != TEXT_FORMAT_COCO || convert_array (self, before, error);
}

/* Returns the number of the frame of the line at `line`, from 1; 0: there is none. */
static guint64
frame_at (const TextBlocks *self, const gchar *line)
{
  guint64 frame;
  Box box;

  if (self->format == TEXT_FORMAT_CSV)
    return csv_text_frame (self->columns, line);
  if (self->format == TEXT_FORMAT_COCO)
    return coco_text_parse (self->parser, line, strcspn (line, "\n"), &frame, &box, NULL)
        ? frame + 1
        : 0;
  return g_ascii_strtoull (line, NULL, 10);
}

/* Returns the beginning of the line that ends at `end`, the position behind a newline. */
static gsize
line_before (const GString *text, gsize end)
{
  const gchar *newline = end > 1 ? memrchr (text->str, '\n', end - 1) : NULL;

  return newline ? (gsize) (newline + 1 - text->str) : 0;
}

/* Returns the length of the whole frames in `rest`, 0 if there is none, and the number of the
 * last one if the format has numbers. */
static gsize
whole_frames (const TextBlocks *self, guint64 *frame)
{
  const GString *text = self->rest;
  const gchar *newline = memrchr (text->str, '\n', text->len);
  gsize end = self->ended ? text->len : newline ? (gsize) (newline + 1 - text->str) : 0;
  gsize begin = line_before (text, end);
  guint64 last;

  if (self->format == TEXT_FORMAT_JSONL || end == 0)
    return end;
  last = frame_at (self, text->str + begin);
  while (!self->ended && begin > 0 && frame_at (self, text->str + begin) == last) {
    end = begin;
    begin = line_before (text, end);
  }
  *frame = frame_at (self, text->str + begin);
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

gboolean
text_blocks_next (TextBlocks *self, GString *text, TextPlace *begin, TextPlace *end, GError **error)
{
  guint64 frame = self->place.frame;
  gsize length = 0;

  while (length == 0 && !(self->ended && self->rest->len == 0)) {
    if (!self->ended && !read_more (self, error))
      return FALSE;
    length = whole_frames (self, &frame);
  }
  g_string_truncate (text, 0);
  g_string_append_len (text, self->rest->str, length);
  g_string_erase (self->rest, 0, length);
  *begin = self->place;
  self->place.offset += length;
  self->place.line += count_lines (text->str, length);
  self->place.frame = frame;
  *end = self->place;
  return TRUE;
}

/* -------------------------------------------------------------------- opening */

static gboolean
detect (TextBlocks *self, GError **error)
{
  const gchar first = self->rest->str[strspn (self->rest->str, " \t\r\n")];

  if (first == '{' || first == '\0')
    self->format = TEXT_FORMAT_JSONL;
  else if (first == '[')
    self->format = TEXT_FORMAT_COCO;
  else if (g_ascii_isdigit (first))
    self->format = TEXT_FORMAT_MOT;
  else if (g_ascii_isalpha (first) || first == '"')
    self->format = TEXT_FORMAT_CSV;
  else
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "the text is neither JSON Lines, MOT "
        "challenge text, a COCO results array nor CSV with names in the first line");
  return self->format != TEXT_FORMAT_AUTO;
}

/* Removes the first line of CSV text from `rest` and parses it. */
static gboolean
take_header (TextBlocks *self, GError **error)
{
  const gsize length = strcspn (self->rest->str, "\n");
  const gsize used = MIN (length + 1, self->rest->len);

  self->columns = csv_columns_new (self->rest->str, length, error);
  g_string_erase (self->rest, 0, (gssize) used);
  self->place.offset = used;
  self->place.line = 1;
  return self->columns != NULL;
}

/* Reads the first line with contents or BLOCK_SIZE bytes, and what the format has there. */
static gboolean
read_beginning (TextBlocks *self, GError **error)
{
  TextFormat format = self->format;

  self->format = TEXT_FORMAT_AUTO; /* so that read_more () converts nothing */
  do
    if (!read_more (self, error))
      return FALSE;
  while (!self->ended && self->rest->len < BLOCK_SIZE
      && !strchr (self->rest->str + strspn (self->rest->str, " \t\r\n"), '\n'));
  self->format = format;
  if (format == TEXT_FORMAT_AUTO && !detect (self, error))
    return FALSE;
  if (self->format == TEXT_FORMAT_CSV)
    return take_header (self, error);
  if (self->format != TEXT_FORMAT_COCO)
    return TRUE;
  self->parser = coco_parser_new ();
  return convert_array (self, 0, error);
}

TextBlocks *
text_blocks_new (const gchar *location, TextFormat format, GError **error)
{
  const gboolean standard = g_str_equal (location, "-");
  gint fd = standard ? dup (STDIN_FILENO) : open (location, O_RDONLY | O_CLOEXEC);
  TextBlocks *self;
  struct stat info;

  if (fd < 0 || fstat (fd, &info) < 0) {
    file_error_set (error, errno);
    return NULL;
  }
  self = g_new0 (TextBlocks, 1);
  self->fd = fd;
  self->size = S_ISREG (info.st_mode) ? (guint64) info.st_size : 0;
  self->format = format;
  self->rest = g_string_new (NULL);
  self->claim = file_claim_take (fd, FILE_CLAIM_READ, "nms-filter", error);
  if (self->claim == NULL || !read_beginning (self, error))
    g_clear_pointer (&self, text_blocks_free);
  return self;
}

void
text_blocks_free (TextBlocks *self)
{
  if (self == NULL)
    return;
  file_claim_release (self->claim);
  close (self->fd);
  csv_columns_free (self->columns);
  coco_parser_free (self->parser);
  g_string_free (self->rest, TRUE);
  g_free (self);
}

gboolean
text_blocks_seek (TextBlocks *self, const TextPlace *place, GError **error)
{
  if (lseek (self->fd, (off_t) place->offset, SEEK_SET) < 0)
    return file_error_set (error, errno);
  self->place = *place;
  g_string_truncate (self->rest, 0);
  self->ended = FALSE;
  /* a block ends behind the comma of its last entry, or at the end of the file */
  self->array = (ArrayState) { .expects = place->offset < self->size ? ARRAY_EXPECTS_OBJECT
                                                                     : ARRAY_EXPECTS_NOTHING,
    .objects = place->line };
  return TRUE;
}
