/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wrappedpjrt: a plugin that simulates faults of the real plugin in
 * NMS_TEST_XLA_PLUGIN, as wrappedpjrt.h describes. Its table is that of the real
 * plugin with functions replaced.
 */
#define _GNU_SOURCE
#include "accel/lazy/lazynodes.h"
#include "accel/tpu/tpu.h"
#include "accel/xla/pjrt.h"
#include "nmsgraph.h"
#include "wrappedpjrt.h"

#include <ctype.h>
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__ ((visibility ("default")))

static const pjrt_api *real;
static atomic_int as, is_tpu, last_box;
static atomic_long compiled, executed, sent, received, kernels, divisions;
static atomic_long since; /* arrays received since wrappedpjrt_become (), three in a run */

/* Maximum number of values in a program's text. A value has a name such as %v7 or %g7; name_at ()
 * turns it into a number below NAMES. */
enum { NAMES = 1 << 14 };

/* The factors of the product that a name stands for. */
typedef struct {
  char factors[2][16];
} product;

static unsigned
name_at (const char *at)
{
  unsigned long number;

  if (at[0] != '%' || (at[1] != 'v' && at[1] != 'g') || !isdigit ((unsigned char) at[2]))
    return 0;
  number = strtoul (at + 2, NULL, 10);
  return number < NAMES / 2 - 1 ? 2 * (unsigned) number + (at[1] == 'g') + 2 : 0;
}

/* Reads a line `%name = "stablehlo.OP"(%a, %b) : (TYPE, ...` of floats. */
typedef struct {
  char name[16], op[24], operands[2][16], type[64];
} operation;

static int
parse (const char *line, operation *o)
{
  return sscanf (line,
             "%15[%a-z0-9] = \"stablehlo.%23[a-z_]\"(%15[%a-z0-9], %15[%a-z0-9]) : "
             "(%63[a-z0-9<>],",
             o->name, o->op, o->operands[0], o->operands[1], o->type)
      == 5
      && strstr (o->type, "f32>");
}

/* Writes sum - a * b with one rounding, as a contracting device computes it: in
 * binary64, which holds the product exactly. */
static char *
put_contracted (char *to, const operation *o, const char *sum, const product *p, const char *op)
{
  const char *values[] = { sum, p->factors[0], p->factors[1] };
  char wide[64];
  int n = (int) (strstr (o->type, "f32>") - o->type);

  snprintf (wide, sizeof wide, "%.*sf64>", n, o->type);
  for (int i = 0; i < 3; i++)
    to += sprintf (to, "%%x%d_%s = \"stablehlo.convert\"(%s) : (%s) -> %s\n", i, o->name + 1,
        values[i], o->type, wide);
  to += sprintf (to, "%%x3_%s = \"stablehlo.multiply\"(%%x1_%s, %%x2_%s) : (%s, %s) -> %s\n",
      o->name + 1, o->name + 1, o->name + 1, wide, wide, wide);
  to += sprintf (to, "%%x4_%s = \"stablehlo.%s\"(%%x0_%s, %%x3_%s) : (%s, %s) -> %s\n", o->name + 1,
      op, o->name + 1, o->name + 1, wide, wide, wide);
  to += sprintf (to, "%s = \"stablehlo.convert\"(%%x4_%s) : (%s) -> %s\n", o->name, o->name + 1,
      wide, o->type);
  return to;
}

/* Returns the text, as a new string, with contractions: a sum uses the unrounded
 * product, also across a maximum. */
static char *
contracted (const char *text, size_t *length)
{
  product *products = calloc (NAMES, sizeof *products);
  char *in = strndup (text, *length), *out = calloc (16, *length + 1), *to = out;

  for (char *line = in, *end; *line; line = end) {
    operation o;
    end = strchr (line, '\n');
    end = end ? end + 1 : line + strlen (line);
    if (parse (line, &o)) {
      product *own = &products[name_at (o.name)];
      const product *first = &products[name_at (o.operands[0])];
      const product *second = &products[name_at (o.operands[1])];
      if (!strcmp (o.op, "multiply"))
        memcpy (own->factors, o.operands, sizeof own->factors);
      if (!strcmp (o.op, "maximum"))
        *own = *first;
      if ((!strcmp (o.op, "subtract") || !strcmp (o.op, "add")) && *second->factors[0]) {
        to = put_contracted (to, &o, o.operands[0], second, o.op);
        continue;
      }
      if (!strcmp (o.op, "add") && *first->factors[0]) {
        to = put_contracted (to, &o, o.operands[1], first, o.op);
        continue;
      }
    }
    memcpy (to, line, (size_t) (end - line));
    to += end - line;
  }
  *length = (size_t) (to - out);
  free (in);
  free (products);
  return out;
}

/* -------------------------------------------------------------------- kernels */

/* Finds the spec of a kernel's module: reads the sizes from the text and tries all combinations of
 * the other fields. Returns 0 if the text is not a module that nms__tpu_module () prints. */
static int
find_spec (const char *text, size_t length, nms__tpu_spec *spec)
{
  char head[2048] = "", why[100];
  const char *result;
  int boxes, picks, found = 0;

  memcpy (head, text, length < sizeof head ? length : sizeof head - 1);
  result = strstr (head, "-> (tensor<");
  if (sscanf (head, "module @nms {\nfunc.func @main(%%a0: tensor<%dx", &boxes) != 1 || !result
      || sscanf (result, "-> (tensor<%dxi32>) {", &picks) != 1)
    return 0;
  for (unsigned way = 0; way < 16 && !found; way++) {
    size_t own_length;
    *spec = (nms__tpu_spec) { .boxes = boxes,
      .picks = picks,
      .classes = way & 1,
      .class_agnostic = way >> 1 & 1,
      .box_limits = way >> 2 & 1,
      .class_caps = way >> 3 & 1 };
    char *own = nms__tpu_module (spec, &own_length, why, sizeof why);
    found = own && own_length == length && !memcmp (own, text, length);
    free (own);
  }
  return found;
}

/* Records an argument of `rows` x 128 or of a number for each box, backwards for WRAPPED_TIES. */
static nms_lazy_tensor
argument (nms_lazy *lz, nms_lazy_type type, int32_t rows, int32_t boxes)
{
  const int32_t dims[] = { rows ? rows : boxes, NMS__TPU_LANES }, back[] = { -1 };
  void *zeros = calloc ((size_t) dims[0], rows ? 4 * NMS__TPU_LANES : 4);
  nms_lazy_tensor x = nms_lazy_input (lz, type, rows ? 2 : 1, dims, zeros);

  free (zeros);
  return as == WRAPPED_TIES && !rows ? nms_lazy_stride (lz, x, back) : x;
}

/* Returns the number of a row of the parameters. */
static nms_lazy_tensor
parameter (nms_lazy *lz, nms_lazy_tensor parameters, int32_t row)
{
  const nms_lazy_tensor from[] = { nms_lazy_s32 (lz, row), nms_lazy_s32 (lz, 0) };

  return nms_lazy_reshape (lz, nms_lazy_slice (lz, parameters, from, (int32_t[]) { 1, 1 }), 0,
      NULL);
}

/* Returns the greatest float that is at most (high + low) / scale, the limit of nmsgraph.h for the
 * three numbers of a limit (tpuspec.h); below 0 for threshold 0, inclusive. */
static nms_lazy_tensor
limit_of (nms_lazy *lz, const nms_lazy_tensor limit[3])
{
  nms_lazy_tensor sum = nms_lazy_binary (lz, NMS_LAZY_ADD, limit[0], limit[1]);
  nms_lazy_tensor error = nms_lazy_binary (lz, NMS_LAZY_SUB, limit[1],
      nms_lazy_binary (lz, NMS_LAZY_SUB, sum, limit[0]));
  nms_lazy_tensor bits = nms_lazy_unary (lz, NMS_LAZY_AS_S32, sum);
  nms_lazy_tensor rounded_up = nms_lazy_unary (lz, NMS_LAZY_TO_S32,
      nms_lazy_binary (lz, NMS_LAZY_LT, error, nms_lazy_f32 (lz, 0)));
  nms_lazy_tensor zero = nms_lazy_binary (lz, NMS_LAZY_EQ, sum, nms_lazy_f32 (lz, 0));

  bits = nms_lazy_binary (lz, NMS_LAZY_SUB, bits, rounded_up);
  if (as == WRAPPED_EQUAL)
    bits = nms_lazy_binary (lz, NMS_LAZY_SUB, bits, nms_lazy_s32 (lz, 1));
  bits = nms_lazy_select (lz, nms_lazy_binary (lz, NMS_LAZY_GT, limit[2], nms_lazy_f32 (lz, 1)),
      nms_lazy_s32 (lz, 0), bits); /* 2^-150 decides as 0 */
  return nms_lazy_select (lz, zero, nms_lazy_f32 (lz, -1),
      nms_lazy_unary (lz, NMS_LAZY_AS_F32, bits));
}

/* Records the graph of a kernel and returns its picks. */
static nms_lazy_tensor
picks_of (nms_lazy *lz, const nms__tpu_spec *s)
{
  const int32_t n = s->boxes;
  nms_lazy_boxes b = { 0 };
  nms_lazy_tensor *const corners[] = { &b.x1, &b.y1, &b.x2, &b.y2 }, limit[3], p, picks;

  for (int k = 0; k < 4; k++)
    *corners[k] = argument (lz, NMS_LAZY_F32, 0, n);
  b.key = argument (lz, NMS_LAZY_S32, 0, n);
  p = argument (lz, NMS_LAZY_F32, NMS__TPU_PARAMETERS / NMS__TPU_LANES, n);
  /* no compiler can know that row 7 holds 0, so that the maxima that prevent contractions stay */
  lz->floor = nms_lazy_select (lz,
      nms_lazy_binary (lz, NMS_LAZY_EQ, parameter (lz, p, 7), nms_lazy_f32 (lz, 77)),
      nms_lazy_f32 (lz, -FLT_MAX), nms_lazy_f32 (lz, -INFINITY));
  if (nms__tpu_uses_class (s))
    b.cap_class = argument (lz, NMS_LAZY_S32, 0, n);
  if (s->classes && !s->class_agnostic)
    b.class_id = as == WRAPPED_CLASSES
        ? nms_lazy_binary (lz, NMS_LAZY_MIN, b.cap_class, nms_lazy_s32 (lz, INT32_MIN))
        : b.cap_class;
  for (int k = 0; k < 3; k++)
    limit[k] = s->box_limits ? argument (lz, NMS_LAZY_F32, 0, n) : parameter (lz, p, k);
  b.limit = limit_of (lz, limit);
  b.least = nms_lazy_s32 (lz, NMS__TPU_ABSENT + 1);
  b.cap = nms_lazy_unary (lz, NMS_LAZY_TO_S32, parameter (lz, p, 3));
  if (as == WRAPPED_MOST)
    b.cap = nms_lazy_binary (lz, NMS_LAZY_MAX, b.cap, nms_lazy_s32 (lz, n));
  if (s->class_caps)
    b.class_cap = nms_lazy_binary (lz, NMS_LAZY_MIN, argument (lz, NMS_LAZY_S32, 0, n),
        nms_lazy_s32 (lz, as == WRAPPED_CAPS ? 0 : INT32_MAX));
  else
    b.cap_class = NMS_LAZY_NONE;
  picks = nms_lazy_slice (lz, nms_lazy_nms (lz, &b, NMS_LAZY_NO_DIVISION).picks,
      (nms_lazy_tensor[]) { nms_lazy_s32 (lz, 0) }, &s->picks);
  return as != WRAPPED_TIES
      ? picks
      : nms_lazy_select (lz, nms_lazy_binary (lz, NMS_LAZY_LT, picks, nms_lazy_s32 (lz, 0)), picks,
          nms_lazy_binary (lz, NMS_LAZY_SUB, nms_lazy_s32 (lz, n - 1), picks));
}

/* Returns the text of a kernel's graph; or NULL for a module without a kernel. */
static char *
graph_of (const char *text, size_t *length)
{
  nms__tpu_spec spec;
  nms_lazy_cache *cache;
  nms_lazy *lz;
  char *graph;

  if (!find_spec (text, *length, &spec))
    return NULL;
  kernels++;
  last_box = spec.boxes - 1;
  cache = nms_lazy_cache_new (NULL, 0);
  lz = nms_lazy_new (cache);
  nms_lazy_tensor picks = picks_of (lz, &spec);
  graph = nms_lazy_dump (lz, 1, &picks);
  if (!graph) {
    fprintf (stderr, "wrappedpjrt: %s\n", nms_lazy_error (lz));
    abort ();
  }
  *length = strlen (graph);
  nms_lazy_free (&lz);
  nms_lazy_cache_free (&cache);
  return graph;
}

static void
spoil_picks (int32_t *picks, size_t capacity)
{
  size_t count = 0;

  while (count < capacity && picks[count] != -1)
    count++;
  if (as == WRAPPED_TWICE && count > 0 && count < capacity)
    picks[count] = picks[0];
  if (as == WRAPPED_AFTER_END && count > 0 && count + 1 < capacity)
    picks[count + 1] = picks[0];
  if (as == WRAPPED_BEYOND && count > 0)
    picks[0] = last_box;
}

/* ----------------------------------------------------------------- functions */

static pjrt_error *
platform_name (pjrt_platform_name_args *a)
{
  if (!is_tpu)
    return real->platform_name (a);
  a->name = "tpu and no more";
  a->name_size = 3;
  return NULL;
}

/* Returns an error of the real plugin, that of a malformed program. */
static pjrt_error *
failure (pjrt_client_compile_args *a)
{
  pjrt_program nonsense = *a->program;
  pjrt_client_compile_args args = *a;

  nonsense.code = "this is no program";
  nonsense.code_size = 18;
  args.program = &nonsense;
  return real->client_compile (&args);
}

static pjrt_client_compile_args last; /* for failure () */
static pjrt_program last_program;

static pjrt_error *
compile (pjrt_client_compile_args *a)
{
  pjrt_program program = *a->program;
  pjrt_client_compile_args args = *a;
  pjrt_error *error;
  char *text = NULL;

  compiled++;
  last = *a;
  last_program = *a->program;
  last.program = &last_program;
  if (as == WRAPPED_COMPILE_FAILS)
    return failure (a);
  if (as == WRAPPED_CONTRACTS)
    text = contracted (program.code, &program.code_size);
  if (is_tpu && !(text = graph_of (program.code, &program.code_size)))
    divisions += memmem (program.code, program.code_size, "divide", 6) != NULL;
  if (text)
    program.code = text;
  args.program = &program;
  error = real->client_compile (&args);
  a->executable = args.executable;
  free (text);
  return error;
}

static pjrt_error *
execute (pjrt_execute_args *a)
{
  executed++;
  return as == WRAPPED_EXECUTE_FAILS ? failure (&last) : real->execute (a);
}

static pjrt_error *
from_host (pjrt_from_host_args *a)
{
  sent++;
  return real->from_host (a);
}

/* A call without memory only asks for the size. */
static pjrt_error *
to_host (pjrt_to_host_args *a)
{
  static const int32_t wrong = 1 << 30;
  pjrt_error *error = real->to_host (a);

  if (!a->data)
    return error;
  received++;
  const int spoils = as == WRAPPED_SPOILS_1 + since++ % 2;
  if (!error && (spoils || as >= WRAPPED_TWICE)) {
    pjrt_event_args copied = { .head.size = sizeof copied, .event = a->event };
    error = real->event_await (&copied);
    if (spoils)
      memcpy (a->data, &wrong, sizeof wrong);
    else
      spoil_picks (a->data, a->size / sizeof wrong);
  }
  return error;
}

VISIBLE void
wrappedpjrt_become (int what)
{
  since = 0;
  as = what;
}

VISIBLE void
wrappedpjrt_be_tpu (int tpu)
{
  divisions = 0;
  is_tpu = tpu;
}

VISIBLE long
wrappedpjrt_kernels (void)
{
  return kernels;
}

VISIBLE long
wrappedpjrt_divisions (void)
{
  return divisions;
}

VISIBLE long
wrappedpjrt_compiled (void)
{
  return compiled;
}

VISIBLE long
wrappedpjrt_executed (void)
{
  return executed;
}

VISIBLE long
wrappedpjrt_sent (void)
{
  return sent;
}

VISIBLE long
wrappedpjrt_received (void)
{
  return received;
}

const pjrt_api *GetPjrtApi (void);

VISIBLE const pjrt_api *
GetPjrtApi (void)
{
  static pjrt_api api;
  const char *path = getenv ("NMS_TEST_XLA_PLUGIN");
  void *library = path ? dlopen (path, RTLD_NOW | RTLD_LOCAL) : NULL;
  const pjrt_api *(*get) (void) = NULL;

  if (library)
    *(void **) &get = dlsym (library, "GetPjrtApi");
  real = get ? get () : NULL;
  if (!real)
    return NULL;
  memcpy (&api, real, real->head.size < sizeof api ? real->head.size : sizeof api);
  api.head.size = sizeof api;
  api.platform_name = platform_name;
  api.client_compile = compile;
  api.execute = execute;
  api.from_host = from_host;
  api.to_host = to_host;
  return &api;
}
