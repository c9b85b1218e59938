/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stablehlo: checks the spec and the options of a program and prints it for its platform. */
#include "stablehloclasses.h"
#include "stablehlograph.h"

#include "accel/lazy/callerstruct.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__ ((format (printf, 4, 5))) static int
fail (int code, char *error, size_t size, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (size)
    vsnprintf (error, size, format, args);
  va_end (args);
  return code;
}

static int
check_spec (const nms_stablehlo_spec *s, char *error, size_t size)
{
  if (!nms__caller_struct_fits (s, sizeof *s))
    return fail (NMS_ERROR_ARGUMENT, error, size,
        "spec is NULL, or its size is below %zu, or a "
        "field this version does not know is set",
        sizeof *s);
  if (s->platform < NMS_STABLEHLO_CPU || s->platform > NMS_STABLEHLO_TPU)
    return fail (NMS_ERROR_UNSUPPORTED, error, size, "platform %ld is unknown", (long) s->platform);
  if (s->head_classes < 0 || (s->head_classes && (s->classes || s->parents)))
    return fail (NMS_ERROR_ARGUMENT, error, size,
        "head_classes is %ld, must be 0 or more, and classes and parents must be 0 with a head",
        (long) s->head_classes);
  if (s->boxes < 1 || (size_t) s->boxes > NMS_LAZY_MAX_ELEMENTS / ((size_t) s->head_classes + 4))
    return fail (NMS_ERROR_RANGE, error, size, "boxes is %ld, must be 1 to %zu", (long) s->boxes,
        NMS_LAZY_MAX_ELEMENTS / ((size_t) s->head_classes + 4));
  if (s->images < 0 || (size_t) s->images > NMS_LAZY_MAX_ELEMENTS / 4 / (size_t) s->boxes)
    return fail (NMS_ERROR_RANGE, error, size, "images is %ld, must be 0 to %zu", (long) s->images,
        NMS_LAZY_MAX_ELEMENTS / 4 / (size_t) s->boxes);
  if (s->images > 1 && s->head_classes)
    return fail (NMS_ERROR_UNSUPPORTED, error, size, "images is %ld, must be 0 or 1 with a head",
        (long) s->images);
  return NMS_OK;
}

static int
check_options (const nms_options *o, char *error, size_t size)
{
  const char *which = o->method != NMS_METHOD_HARD || o->metric != NMS_METRIC_IOU
      ? "method and metric"
      : o->min_size_ratio > 0.0f ? "min_size_ratio"
      : o->outputs               ? "outputs"
                                 : NULL;

  return which ? fail (NMS_ERROR_UNSUPPORTED, error, size,
             "%s must have the default, because no program has this option", which)
               : NMS_OK;
}

/* Copies a struct that begins with its size, which was checked, over the defaults at `to`. */
static void
copy_struct (void *to, const void *from, size_t known)
{
  size_t size;

  memcpy (&size, from, sizeof size);
  memcpy (to, from, size < known ? size : known);
}

/* Checks the options by a run without boxes. */
static int
check_values (const nms_options *options, char *error, size_t size)
{
  nms_context *ctx = nms_context_new ();
  const nms_boxes boxes = { .size = sizeof boxes };
  nms_result result = { .size = sizeof result };
  int code;

  if (!ctx)
    return fail (NMS_ERROR_MEMORY, error, size, "out of memory");
  code = nms_run (ctx, &boxes, options, &result);
  if (code)
    fail (code, error, size, "%s", nms_context_error (ctx));
  nms_context_free (&ctx);
  return code;
}

/* Reads the caller's options to *read and the class options to `classes`. */
static int
read_options (const nms_options *options, nms_options *read, nms_class_options *classes,
    char *error, size_t size)
{
  int code = check_values (options, error, size);

  if (code)
    return code;
  nms_options_init (read, sizeof *read);
  if (options)
    copy_struct (read, options, sizeof *read);
  if (read->class_option_count > NMS_STABLEHLO_MAX_CLASS_OPTIONS)
    return fail (NMS_ERROR_UNSUPPORTED, error, size,
        "class_option_count is %zu, a program has at most %d", read->class_option_count,
        NMS_STABLEHLO_MAX_CLASS_OPTIONS);
  memset (classes, 0, read->class_option_count * sizeof *classes);
  for (size_t i = 0; i < read->class_option_count; i++) {
    copy_struct (&classes[i], (const char *) read->class_options + i * read->class_options->size,
        sizeof *classes);
    if (classes[i].set & NMS_CLASS_GROUP)
      return fail (NMS_ERROR_UNSUPPORTED, error, size,
          "class %ld has a group, and no program has this option", (long) classes[i].class_id);
  }
  return check_options (read, error, size);
}

/* Returns whether a cap of a class has an effect. */
static int
has_caps (const nms__stablehlo_job *job)
{
  const uint64_t n = (uint64_t) job->spec->boxes;

  for (size_t i = 0; i < job->class_count; i++)
    if ((job->classes[i].set & NMS_CLASS_MAX_DETECTIONS) && job->classes[i].max_detections < n)
      return 1;
  return job->options->max_per_class && job->options->max_per_class < n;
}

static nms__stablehlo_job
job_of (const nms_stablehlo_spec *spec, const nms_options *o, const nms_class_options *classes,
    nms_stablehlo *made)
{
  const uint64_t n = (uint64_t) spec->boxes;
  const int has_classes = spec->classes || spec->head_classes;
  uint64_t picks = o->max_detections && o->max_detections < n ? o->max_detections : n;
  nms__stablehlo_job job = { .spec = spec,
    .options = o,
    .program = made,
    .classes = classes,
    .class_count = o->class_option_count };

  if (!has_classes && !job.class_count && o->max_per_class && o->max_per_class < picks)
    picks = o->max_per_class; /* all boxes have class 0 */
  job.picks = (int32_t) picks;
  job.images = spec->images ? spec->images : 1;
  job.columns = job.images * spec->boxes;
  job.uses_classes = has_classes && !o->class_agnostic;
  job.uses_caps = (has_classes || job.class_count) && has_caps (&job);
  job.uses_limits = nms__stablehlo_classes_set (&job, NMS_CLASS_IOU_THRESHOLD);
  return job;
}

int
nms_stablehlo_make (const nms_stablehlo_spec *spec, const nms_options *options,
    nms_stablehlo *program, char *error, size_t error_size)
{
  nms_stablehlo made = { .size = sizeof made };
  nms_class_options classes[NMS_STABLEHLO_MAX_CLASS_OPTIONS];
  nms_options read;
  int code = check_spec (spec, error, error_size);

  if (!code && !nms__caller_struct_fits (program, sizeof *program))
    code = fail (NMS_ERROR_ARGUMENT, error, error_size,
        "program is NULL, or its size is below %zu, or a field this version does not know is set",
        sizeof *program);
  if (!code)
    code = read_options (options, &read, classes, error, error_size);
  if (code)
    return code;

  nms_lazy_cache *cache = nms_lazy_cache_new (NULL, 1);
  nms_lazy *lz = nms_lazy_new (cache);
  nms_lazy_cache_free (&cache);
  if (!lz)
    return fail (NMS_ERROR_MEMORY, error, error_size, "out of memory");
  const nms__stablehlo_job job = job_of (spec, &read, classes, &made);
  made.text = nms__stablehlo_graph (lz, &job);
  if (!made.text) /* without a latched error the text's memory was missing */
    code = fail (nms_lazy_status (lz) ? nms_lazy_status (lz) : NMS_ERROR_MEMORY, error, error_size,
        "%s", nms_lazy_error (lz));
  nms_lazy_free (&lz);
  if (code)
    return code;
  made.length = strlen (made.text);
  made.size = program->size;
  *program = made;
  return NMS_OK;
}

void
nms_stablehlo_clear (nms_stablehlo *program)
{
  if (!program)
    return;
  free (program->text);
  *program = (nms_stablehlo) { .size = program->size };
}
