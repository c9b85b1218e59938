/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filtercommand: the program nms-filter, which filters recordings of boxes as nmsfilter filters
 * those of a stream, with all processors. It expects files of any length. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filterproperties.h"
#include "filterrun.h"
#include "records/jsonlwrite.h"

#define SWEEP_MOST 1000 /* largest number of values in a sweep */

static const gchar summary[] =
    "Filters the boxes of recorded frames as the element nmsfilter does: keeps the best of\n"
    "overlapping boxes. Reads INPUT (a file, or - for standard input) and writes OUTPUT (by\n"
    "default -, standard output).\n\n"
    "Formats: jsonl, JSON Lines as boxrecord writes them, a frame on each line; mot, the text of\n"
    "the MOT challenge, in which frames have to ascend.";

/* A sweep: the values that a property gets, one in each run. */
typedef struct
{
  gchar *name; /* the property's name; NULL without a sweep */
  gdouble first, step;
  guint value_count;
} Sweep;

typedef struct
{
  gchar *from_name, *to_name, *sweep_text, **files;
  gint threads;
  gboolean quiet, version;
  BoxListSettings properties;
  Sweep sweep;
  RecordFormat from, to;
} Command;

/* ---------------------------------------------------------------------- sweep */

/* Reads the numbers of FIRST..LAST[..STEP]. */
static gboolean
read_numbers (gchar **parts, gdouble numbers[3])
{
  const guint count = g_strv_length (parts);

  numbers[2] = 0.1;
  for (guint i = 0; i < count && i < 3; i++) {
    gchar *end;

    numbers[i] = g_ascii_strtod (parts[i], &end);
    if (end == parts[i] || *end != '\0' || !isfinite (numbers[i]))
      return FALSE;
  }
  return count == 2 || count == 3;
}

/* Parses NAME=FIRST..LAST[..STEP]. */
static gboolean
parse_sweep (const gchar *text, Sweep *sweep, GError **error)
{
  const gchar *equals = strchr (text, '=');
  gchar **parts = g_strsplit (equals ? equals + 1 : "", "..", -1);
  gdouble numbers[3], count = 0;

  if (read_numbers (parts, numbers) && numbers[2] > 0)
    count = floor ((numbers[1] - numbers[0]) / numbers[2] + 1e-6) + 1;
  g_strfreev (parts);
  if (!(count >= 1 && count <= SWEEP_MOST)) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "--sweep cannot be \"%s\"; it has the form NAME=FIRST..LAST..STEP, with at most %d values",
        text, SWEEP_MOST);
    return FALSE;
  }
  sweep->name = g_strndup (text, (gsize) (equals - text));
  sweep->first = numbers[0];
  sweep->step = numbers[2];
  sweep->value_count = (guint) count;
  return TRUE;
}

/* Sets the property to value number `index`, computed from the first one so that errors do not add
 * up, and rounded to a millionth. Returns its text, to be freed, or NULL and an error. */
static gchar *
set_value (Command *c, guint index, GError **error)
{
  const gdouble value = c->sweep.first + index * c->sweep.step;
  GString *text = g_string_new (NULL);

  jsonl_append_double (text, round (value * 1e6) / 1e6);
  if (filter_properties_set (&c->properties, c->sweep.name, text->str, error))
    return g_string_free (text, FALSE);
  g_string_free (text, TRUE);
  return NULL;
}

/* Returns the name of the file for a value, to be freed: kept-0.3.jsonl for kept.jsonl. */
static gchar *
sweep_location (const gchar *location, const gchar *value)
{
  const gchar *slash = strrchr (location, '/');
  const gchar *dot = strrchr (slash ? slash : location, '.');
  const gsize length = dot ? (gsize) (dot - location) : strlen (location);

  return g_strdup_printf ("%.*s-%s%s", (gint) length, location, value, location + length);
}

/* -------------------------------------------------------------------- options */

static gboolean
read_format (const gchar *name, RecordFormat *format, GError **error)
{
  static const gchar *const names[] = { "auto", "jsonl", "mot" };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    if (name == NULL || g_str_equal (name, names[i])) {
      *format = (RecordFormat) i;
      return TRUE;
    }
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "the format \"%s\" is none of auto, jsonl and mot", name);
  return FALSE;
}

/* Returns whether each value of the sweep fits. */
static gboolean
check_sweep (Command *c, GError **error)
{
  const gboolean to_file = c->files[1] && !g_str_equal (c->files[1], "-");
  gboolean good;

  if (!to_file || g_str_equal (c->files[0], "-")) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
        "--sweep needs an input and an output that are files");
    return FALSE;
  }
  good = parse_sweep (c->sweep_text, &c->sweep, error);
  for (guint i = 0; good && i < c->sweep.value_count; i++) {
    gchar *value = set_value (c, i, error);

    good = value != NULL;
    g_free (value);
  }
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
        "Format of the input: jsonl or mot; default: by its first character", "FORMAT" },
    { "to", 0, 0, G_OPTION_ARG_STRING, &c->to_name,
        "Format of the output; default: that of the input", "FORMAT" },
    { "threads", 'j', 0, G_OPTION_ARG_INT, &c->threads,
        "Number of threads; default: one for each processor", "N" },
    { "sweep", 0, 0, G_OPTION_ARG_STRING, &c->sweep_text,
        "Filter once for each value of an option of nmsfilter. STEP is 0.1 by default. Each value"
        " has an output: OUTPUT kept.jsonl becomes kept-0.3.jsonl",
        "NAME=FIRST..LAST..STEP" },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &c->quiet, "Report errors only", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &c->version, "Print the version and end", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &c->files, NULL, NULL }, { NULL }
  };
  GOptionContext *context = g_option_context_new ("INPUT [OUTPUT]");
  gboolean parsed;

  g_option_context_set_summary (context, summary);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, filter_properties_group (&c->properties));
  parsed = g_option_context_parse (context, argc, argv, error)
      && (c->version || check_command (c, error));
  g_option_context_free (context);
  return parsed;
}

/* -------------------------------------------------------------------- running */

static gboolean
filter_to (Command *c, const gchar *location, GError **error)
{
  const FilterRun run = {
    .input = c->files[0],
    .output = location,
    .from = c->from,
    .to = c->to,
    .threads = (guint) c->threads,
    .quiet = c->quiet,
  };

  return filter_run (&run, &c->properties, error);
}

/* Filters to a file for each value of the sweep. */
static gboolean
filter_sweep (Command *c, GError **error)
{
  gboolean good = TRUE;

  for (guint i = 0; good && i < c->sweep.value_count; i++) {
    gchar *value = set_value (c, i, error);
    gchar *location = value ? sweep_location (c->files[1], value) : NULL;

    if (location && !c->quiet)
      g_printerr ("%s\n", location);
    good = location && filter_to (c, location, error);
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
  if (parsed && c.version)
    g_print ("nms-filter %s\n", PACKAGE_VERSION);
  good = parsed
      && (c.version
          || (c.sweep.name ? filter_sweep (&c, &error)
                           : filter_to (&c, c.files[1] ? c.files[1] : "-", &error)));
  if (error)
    g_printerr ("nms-filter: %s\n", error->message);
  g_clear_error (&error);
  filter_properties_clear (&c.properties);
  g_strfreev (c.files);
  g_free (c.from_name);
  g_free (c.to_name);
  g_free (c.sweep_text);
  g_free (c.sweep.name);
  return good ? EXIT_SUCCESS : parsed ? EXIT_FAILURE : 2;
}
