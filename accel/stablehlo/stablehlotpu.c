/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stablehlotpu: puts three modules, each with a function @main, into one: the kernel's
 * arguments, the kernel, and the number of its picks. The new @main calls them in turn.
 */
#include "stablehlotpu.h"
#include "accel/tpu/tpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The modules and the arrays that pass between them. */
typedef struct {
  const nms__stablehlo_job *job;
  char *arguments, *kernel, *count;
  nms__stablehlo_results results; /* of `arguments` */
} Parts;

static void
put_type (FILE *out, const nms_lazy_shape *s)
{
  fputs ("tensor<", out);
  for (int i = 0; i < s->rank; i++)
    fprintf (out, "%dx", s->dims[i]);
  fputs (s->type == NMS_LAZY_F32 ? "f32>" : s->type == NMS_LAZY_BF16 ? "bf16>" : "i32>", out);
}

static void
put_array_types (FILE *out, const nms_stablehlo_array *arrays, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    fputs (i ? ", " : "", out);
    put_type (out, &arrays[i].shape);
  }
}

static void
put_types (FILE *out, const nms_lazy_shape *shapes, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    fputs (i ? ", " : "", out);
    put_type (out, &shapes[i]);
  }
}

/* Writes the function @main of a module, renamed. */
static void
put_function (FILE *out, const char *module, const char *name)
{
  const char *from = strstr (module, "@main(") + strlen ("@main");
  const char *end = strrchr (module, '}');

  fprintf (out, "func.func private @%s%.*s", name, (int) (end - from), from);
}

static void
put_calls (FILE *out, const Parts *p)
{
  const nms_stablehlo *g = p->job->program;
  const nms__stablehlo_results *r = &p->results;

  fprintf (out, "%%p:%zu = \"func.call\"(", r->count);
  for (size_t i = 0; i < g->input_count; i++)
    fprintf (out, "%s%%a%zu", i ? ", " : "", i);
  fputs (") {callee = @arguments} : (", out);
  put_array_types (out, g->input, g->input_count);
  fputs (") -> (", out);
  put_types (out, r->shape, r->count);
  fputs (")\n%picks = \"func.call\"(", out);
  for (size_t i = 0; i < r->argument_count; i++)
    fprintf (out, "%s%%p#%zu", i ? ", " : "", i);
  fputs (") {callee = @kernel} : (", out);
  put_types (out, r->shape, r->argument_count);
  fputs (") -> ", out);
  put_type (out, &g->output[0].shape);
  fputs ("\n%count = \"func.call\"(%picks) {callee = @count} : (", out);
  put_type (out, &g->output[0].shape);
  fputs (") -> ", out);
  put_type (out, &g->output[1].shape);
  fputs ("\n\"func.return\"(%picks, %count", out);
  for (size_t i = 2; i < g->output_count; i++)
    fprintf (out, ", %%p#%zu", r->at[i]);
  fputs (") : (", out);
  put_array_types (out, g->output, g->output_count);
  fputs (") -> ()\n", out);
}

static void
put_module (FILE *out, const Parts *p)
{
  const nms_stablehlo *g = p->job->program;

  fputs ("module @nms {\nfunc.func public @main(", out);
  for (size_t i = 0; i < g->input_count; i++) {
    fprintf (out, "%s%%a%zu: ", i ? ", " : "", i);
    put_type (out, &g->input[i].shape);
  }
  fputs (") -> (", out);
  put_array_types (out, g->output, g->output_count);
  fputs (") {\n", out);
  put_calls (out, p);
  fputs ("}\n", out);
  put_function (out, p->arguments, "arguments");
  put_function (out, p->kernel, "kernel");
  put_function (out, p->count, "count");
  fputs ("}\n", out);
}

/* Joins the parts. Returns NULL when out of memory. */
static char *
join (const Parts *p)
{
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream (&text, &length);

  if (!out)
    return NULL;
  put_module (out, p);
  const int failed = ferror (out);
  if (fclose (out) || failed) {
    free (text);
    text = NULL;
  }
  return text;
}

static nms__tpu_spec
spec_of (const nms__stablehlo_job *job)
{
  return (nms__tpu_spec) { .boxes = job->spec->boxes,
    .picks = job->picks,
    .images = job->images,
    .memory = job->spec->tpu_memory,
    .classes = job->uses_classes || job->uses_caps,
    .class_agnostic = !job->uses_classes,
    .class_caps = (uint8_t) job->uses_caps,
    .box_limits = (uint8_t) job->uses_limits,
    .parents = job->spec->parents != 0 };
}

char *
nms__stablehlo_tpu (nms_lazy *lz, const nms__stablehlo_job *job)
{
  const nms__tpu_spec spec = spec_of (job);
  char why[256], *text = NULL;
  Parts p = { .job = job, .kernel = nms__tpu_module (&spec, NULL, why, sizeof why) };

  if (!p.kernel) {
    nms__lazy_fail (lz, NMS_ERROR_UNSUPPORTED, "%s", why);
    return NULL;
  }
  p.arguments = nms__stablehlo_graph_arguments (lz, job, &p.results);
  p.count = p.arguments ? nms__stablehlo_graph_count (lz, job) : NULL;
  if (p.count) {
    text = join (&p);
    if (!text)
      nms__lazy_fail (lz, NMS_ERROR_MEMORY, "out of memory for a program's text");
  }
  free (p.arguments);
  free (p.kernel);
  free (p.count);
  return text;
}
