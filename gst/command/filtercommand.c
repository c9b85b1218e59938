/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filtercommand: the program nms-filter, which filters recordings of boxes as nmsfilter filters
 * those of a stream, with all processors. It expects files of any length. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blockqueue.h"
#include "filteroutput.h"
#include "valuesweep.h"

#define PROGRESS_INTERVAL (G_USEC_PER_SEC / 4)

static const gchar summary[] =
    "Filters the boxes of recorded frames as the element nmsfilter does: keeps the best of\n"
    "overlapping boxes. Reads INPUT (a file, or - for standard input) and writes OUTPUT (by\n"
    "default -, standard output).\n\n"
    "Formats: jsonl, JSON Lines as boxrecord writes them, a frame on each line; mot, the text of\n"
    "the MOT challenge; coco, a COCO results array; csv, columns named by the first line: frame,\n"
    "x, y, width, height, score, label_id, label, id. In mot, coco and csv frames have to ascend.";

typedef struct
{
  gchar *from_name, *to_name, *sweep_text, **files;
  gint threads;
  gboolean resume, quiet;
  FilterProperties properties;
  Sweep sweep;
  TextFormat from, to;
} Command;

typedef struct
{
  gint64 begun, shown; /* g_get_monotonic_time () */
  BlockCounts before;  /* of the run that is resumed */
  guint64 size;        /* of the input, 0: unknown */
  gboolean terminal;   /* shows progress */
} Progress;

static gboolean
read_format (const gchar *name, TextFormat *format, GError **error)
{
  static const gchar *const names[] = { "auto", "jsonl", "mot", "coco", "csv" };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    if (name == NULL || g_str_equal (name, names[i])) {
      *format = (TextFormat) i;
      return TRUE;
    }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "the format \"%s\" is none of auto, jsonl, mot, coco and csv", name);
  return FALSE;
}

/* Returns whether each value of the sweep fits. */
static gboolean
check_sweep (Command *c, GError **error)
{
  const gsize given = c->properties.given->len;
  const gboolean to_file = c->files[1] && !g_str_equal (c->files[1], "-");
  gboolean good = TRUE;

  if (!to_file || g_str_equal (c->files[0], "-") || c->resume) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
        "--sweep needs an input and an output that are files, and cannot be resumed");
    return FALSE;
  }
  if (!sweep_parse (c->sweep_text, &c->sweep, error))
    return FALSE;
  for (guint i = 0; good && i < c->sweep.count; i++) {
    gchar *value = sweep_value (&c->sweep, i);

    good = filter_properties_set (&c->properties, c->sweep.name, value, error);
    g_free (value);
  }
  g_string_truncate (c->properties.given, given);
  return good;
}

static gboolean
check_command (Command *c, GError **error)
{
  const guint files = c->files ? g_strv_length (c->files) : 0;

  if (files < 1 || files > 2)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "INPUT [OUTPUT] are expected");
  else if (c->threads < 0 || c->threads > NMS_MAX_THREADS)
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--threads must be 0 to %d",
        NMS_MAX_THREADS);
  if (*error || !read_format (c->from_name, &c->from, error)
      || !read_format (c->to_name, &c->to, error))
    return FALSE;
  if (c->threads == 0)
    c->threads = (gint) g_get_num_processors ();
  return c->sweep_text == NULL || check_sweep (c, error);
}

static gboolean
parse (Command *c, gint *argc, gchar ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "from", 0, 0, G_OPTION_ARG_STRING, &c->from_name,
        "Format of the input: jsonl, mot, coco, csv; default: by its first character", "FORMAT" },
    { "to", 0, 0, G_OPTION_ARG_STRING, &c->to_name,
        "Format of the output; default: that of the input", "FORMAT" },
    { "threads", 'j', 0, G_OPTION_ARG_INT, &c->threads,
        "Number of threads; default: one for each processor", "N" },
    { "resume", 0, 0, G_OPTION_ARG_NONE, &c->resume,
        "Continue where an earlier run with the same files and options was interrupted", NULL },
    { "sweep", 0, 0, G_OPTION_ARG_STRING, &c->sweep_text,
        "Filter once for each value of an option of nmsfilter. STEP is 0.1 by default. Each value"
        " has an output: OUTPUT kept.json becomes kept-0.3.json",
        "NAME=FIRST..LAST..STEP" },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &c->quiet, "Report errors only", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &c->files, NULL, NULL }, { NULL }
  };
  GOptionContext *context = g_option_context_new ("INPUT [OUTPUT]");
  gboolean parsed;

  g_option_context_set_summary (context, summary);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, filter_properties_group (&c->properties));
  parsed = g_option_context_parse (context, argc, argv, error) && check_command (c, error);
  g_option_context_free (context);
  return parsed;
}

static void
report (const Progress *progress, const Checkpoint *reached, gboolean last)
{
  const gdouble seconds = (gdouble) (g_get_monotonic_time () - progress->begun) / G_USEC_PER_SEC;
  const BlockCounts *c = &reached->counts;
  const gdouble rate = (gdouble) (c->frames - progress->before.frames) / MAX (seconds, 1e-3);

  if (progress->terminal)
    g_printerr ("\r\033[K");
  if (!last && progress->size > 0)
    g_printerr ("%.1f %%, ", 100.0 * (gdouble) reached->input.offset / (gdouble) progress->size);
  g_printerr ("%" G_GUINT64_FORMAT " frames, boxes: %" G_GUINT64_FORMAT " in, %" G_GUINT64_FORMAT
              " kept; %.1f s, %.0f frames/s%s",
      c->frames, c->boxes, c->kept, seconds, rate, last ? "\n" : "");
}

static void
show (Progress *progress, const Checkpoint *reached)
{
  const gint64 now = g_get_monotonic_time ();

  if (!progress->terminal || now - progress->shown < PROGRESS_INTERVAL)
    return;
  progress->shown = now;
  report (progress, reached, FALSE);
}

/* Filters all blocks. `error` of a block names its line; the frames before it are written. */
static gboolean
filter_blocks (BlockQueue *queue, FilterOutput *output, Checkpoint *reached, Progress *progress,
    GError **error)
{
  const Block *block;
  GError *failed = NULL;

  while ((block = block_queue_next (queue, &failed)) != NULL) {
    if (!block->error)
      reached->input = block->end;
    reached->counts.frames += block->counts.frames;
    reached->counts.boxes += block->counts.boxes;
    reached->counts.kept += block->counts.kept;
    if (block->error) {
      g_propagate_error (error, g_error_copy (block->error));
      return FALSE;
    }
    if (!filter_output_write (output, block->out, reached, error))
      return FALSE;
    show (progress, reached);
  }
  if (failed)
    g_propagate_prefixed_error (error, failed, " ");
  return failed == NULL;
}

static TextFormat
output_format (const Command *c, const TextBlocks *blocks)
{
  return c->to == TEXT_FORMAT_AUTO ? text_blocks_format (blocks) : c->to;
}

/* Returns a text that identifies the run for its checkpoint, to be freed. */
static gchar *
describe_run (const Command *c, const TextBlocks *blocks)
{
  return g_strdup_printf ("input=%s\nsize=%" G_GUINT64_FORMAT "\nfrom=%d\nto=%d\n%s", c->files[0],
      text_blocks_size (blocks), text_blocks_format (blocks), output_format (c, blocks),
      c->properties.given->str);
}

static gboolean
filter_to (const Command *c, TextBlocks *blocks, FilterOutput *output, Checkpoint *reached,
    GError **error)
{
  Progress progress = { .begun = g_get_monotonic_time (),
    .before = reached->counts,
    .size = text_blocks_size (blocks),
    .terminal = !c->quiet && isatty (STDERR_FILENO) };
  BlockQueue *queue;
  gboolean good;

  if (reached->input.offset > 0 && !text_blocks_seek (blocks, &reached->input, error))
    return FALSE;
  queue = block_queue_new (blocks, &c->properties.settings, output_format (c, blocks),
      (guint) c->threads);
  good = filter_blocks (queue, output, reached, &progress, error);
  block_queue_free (queue);
  if (progress.terminal && !good)
    g_printerr ("\n");
  if (good && !c->quiet)
    report (&progress, reached, TRUE);
  return good;
}

static gboolean
filter (const Command *c, const gchar *location, GError **error)
{
  TextBlocks *blocks = text_blocks_new (c->files[0], c->from, error);
  FilterOutput *output;
  Checkpoint reached;
  gchar *run;
  gboolean good;

  if (blocks == NULL) {
    g_prefix_error (error, "%s: ", c->files[0]);
    return FALSE;
  }
  run = describe_run (c, blocks);
  output = filter_output_new (location, output_format (c, blocks), run,
      text_blocks_size (blocks) > 0, c->resume, &reached, error);
  g_free (run);
  if (output == NULL)
    g_prefix_error (error, "%s: ", location);
  good = output && filter_to (c, blocks, output, &reached, error);
  if (output && !good)
    g_prefix_error (error, "%s:", c->files[0]);
  if (output && !filter_output_close (output, good, good ? error : NULL))
    good = FALSE;
  text_blocks_free (blocks);
  return good;
}

/* Filters to a file for each value of the sweep. */
static gboolean
filter_sweep (Command *c, GError **error)
{
  const gsize given = c->properties.given->len;
  gboolean good = TRUE;

  for (guint i = 0; good && i < c->sweep.count; i++) {
    gchar *value = sweep_value (&c->sweep, i);
    gchar *location = sweep_location (c->files[1], value);

    if (!c->quiet)
      g_printerr ("%s\n", location);
    g_string_truncate (c->properties.given, given);
    good = filter_properties_set (&c->properties, c->sweep.name, value, error)
        && filter (c, location, error);
    g_free (location);
    g_free (value);
  }
  return good;
}

gint
main (gint argc, gchar *argv[])
{
  Command c = { 0 };
  GError *error = NULL;
  gboolean parsed, good;

  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE); /* because no plugin is used */
  gst_init (NULL, NULL);
  filter_properties_init (&c.properties);
  parsed = parse (&c, &argc, &argv, &error);
  good = parsed
      && (c.sweep.name ? filter_sweep (&c, &error)
                       : filter (&c, c.files[1] ? c.files[1] : "-", &error));
  if (error)
    g_printerr ("nms-filter: %s\n", error->message);
  g_clear_error (&error);
  filter_properties_clear (&c.properties);
  g_strfreev (c.files);
  g_free (c.from_name);
  g_free (c.to_name);
  g_free (c.sweep_text);
  sweep_clear (&c.sweep);
  return good ? EXIT_SUCCESS : parsed ? EXIT_FAILURE : 2;
}
