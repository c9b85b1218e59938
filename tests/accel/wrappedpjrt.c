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
#include "lazyscoped.h"
#include "nmsgraph.h"
#include "wrappedpjrt.h"

#include <dlfcn.h>
#include <float.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__ ((visibility ("default")))

VISIBLE WrappedPjrt wrappedpjrt;

static const pjrt_api *real;
static atomic_int last_box;
static atomic_int copied; /* arrays copied from the device since the last run began */

/* A line `%name = "stablehlo.OP"(%a, %b) : (TYPE, ...` of floats. */
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

/* Appends sum - a * b or sum + a * b with one rounding, as a contracting device computes it: in
 * binary64, which holds the product exactly. */
static void
put_contracted (GString *to, const operation *o, const char *sum, const operation *product)
{
  const char *values[] = { sum, product->operands[0], product->operands[1] };
  const char *name = o->name + 1, *type = o->type;
  g_autofree char *wide = g_strdup_printf ("%.*sf64>", (int) (strstr (type, "f32>") - type), type);

  for (int i = 0; i < 3; i++)
    g_string_append_printf (to, "%%x%d_%s = \"stablehlo.convert\"(%s) : (%s) -> %s\n", i, name,
        values[i], type, wide);
  g_string_append_printf (to,
      "%%x3_%s = \"stablehlo.multiply\"(%%x1_%s, %%x2_%s) : (%s, %s) -> %s\n", name, name, name,
      wide, wide, wide);
  g_string_append_printf (to, "%%x4_%s = \"stablehlo.%s\"(%%x0_%s, %%x3_%s) : (%s, %s) -> %s\n",
      name, o->op, name, name, wide, wide, wide);
  g_string_append_printf (to, "%%%s = \"stablehlo.convert\"(%%x4_%s) : (%s) -> %s", name, name,
      wide, type);
}

/* Returns the text, as a new string, with contractions: a sum uses the unrounded
 * product, also across a maximum. */
static char *
contracted (const char *text, size_t *length)
{
  g_autofree char *whole = g_strndup (text, *length);
  g_auto (GStrv) lines = g_strsplit (whole, "\n", -1);
  g_autofree operation *operations = g_new0 (operation, g_strv_length (lines));
  g_autoptr (GHashTable) products = g_hash_table_new (g_str_hash, g_str_equal); /* by name */
  GString *out = g_string_new (NULL);

  for (size_t i = 0; lines[i]; i++) {
    operation *o = &operations[i];
    const int is_known = parse (lines[i], o), is_add = is_known && !strcmp (o->op, "add");
    operation *first = is_known ? g_hash_table_lookup (products, o->operands[0]) : NULL;
    operation *second = is_known ? g_hash_table_lookup (products, o->operands[1]) : NULL;

    if (i)
      g_string_append_c (out, '\n');
    if (is_known && !strcmp (o->op, "multiply"))
      g_hash_table_insert (products, o->name, o);
    if (first && !strcmp (o->op, "maximum"))
      g_hash_table_insert (products, o->name, first);
    if (second && (is_add || !strcmp (o->op, "subtract")))
      put_contracted (out, o, o->operands[0], second);
    else if (first && is_add)
      put_contracted (out, o, o->operands[1], first);
    else
      g_string_append (out, lines[i]);
  }
  *length = out->len;
  return g_string_free (out, FALSE);
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
  return wrappedpjrt.fault == WRAPPED_TIES && !rows ? nms_lazy_stride (lz, x, back) : x;
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
  if (wrappedpjrt.fault == WRAPPED_EQUAL)
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
    b.class_id = wrappedpjrt.fault == WRAPPED_CLASSES
        ? nms_lazy_binary (lz, NMS_LAZY_MIN, b.cap_class, nms_lazy_s32 (lz, INT32_MIN))
        : b.cap_class;
  for (int k = 0; k < 3; k++)
    limit[k] = s->box_limits ? argument (lz, NMS_LAZY_F32, 0, n) : parameter (lz, p, k);
  b.limit = limit_of (lz, limit);
  b.least = nms_lazy_s32 (lz, NMS__TPU_ABSENT + 1);
  b.cap = nms_lazy_unary (lz, NMS_LAZY_TO_S32, parameter (lz, p, 3));
  if (wrappedpjrt.fault == WRAPPED_MOST)
    b.cap = nms_lazy_binary (lz, NMS_LAZY_MAX, b.cap, nms_lazy_s32 (lz, n));
  if (s->class_caps)
    b.class_cap = nms_lazy_binary (lz, NMS_LAZY_MIN, argument (lz, NMS_LAZY_S32, 0, n),
        nms_lazy_s32 (lz, wrappedpjrt.fault == WRAPPED_CAPS ? 0 : INT32_MAX));
  else
    b.cap_class = NMS_LAZY_NONE;
  picks = nms_lazy_slice (lz, nms_lazy_nms (lz, &b, NMS_LAZY_NO_DIVISION).picks,
      (nms_lazy_tensor[]) { nms_lazy_s32 (lz, 0) }, &s->picks);
  return wrappedpjrt.fault != WRAPPED_TIES
      ? picks
      : nms_lazy_select (lz, nms_lazy_binary (lz, NMS_LAZY_LT, picks, nms_lazy_s32 (lz, 0)), picks,
          nms_lazy_binary (lz, NMS_LAZY_SUB, nms_lazy_s32 (lz, n - 1), picks));
}

/* Returns the text of a kernel's graph; or NULL for a module without a kernel. */
static char *
graph_of (const char *text, size_t *length)
{
  nms__tpu_spec spec;

  if (!find_spec (text, *length, &spec))
    return NULL;
  wrappedpjrt.kernels++;
  last_box = spec.boxes - 1;
  g_autoptr (nms_lazy_cache) cache = nms_lazy_cache_new (NULL, 0);
  g_autoptr (nms_lazy) lz = nms_lazy_new (cache);
  nms_lazy_tensor picks = picks_of (lz, &spec);
  char *graph = nms_lazy_dump (lz, 1, &picks);
  if (!graph)
    g_error ("wrappedpjrt: %s", nms_lazy_error (lz));
  *length = strlen (graph);
  return graph;
}

static void
spoil_picks (int32_t *picks, size_t capacity)
{
  size_t count = 0;

  while (count < capacity && picks[count] != -1)
    count++;
  if (wrappedpjrt.fault == WRAPPED_TWICE && count > 0 && count < capacity)
    picks[count] = picks[0];
  if (wrappedpjrt.fault == WRAPPED_AFTER_END && count > 0 && count + 1 < capacity)
    picks[count + 1] = picks[0];
  if (wrappedpjrt.fault == WRAPPED_BEYOND && count > 0)
    picks[0] = last_box;
}

/* ----------------------------------------------------------------- functions */

static pjrt_error *
platform_name (pjrt_platform_name_args *a)
{
  if (!wrappedpjrt.is_tpu)
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

  wrappedpjrt.compiled++;
  last = *a;
  last_program = *a->program;
  last.program = &last_program;
  if (wrappedpjrt.fault == WRAPPED_COMPILE_FAILS)
    return failure (a);
  if (wrappedpjrt.fault == WRAPPED_CONTRACTS)
    text = contracted (program.code, &program.code_size);
  if (wrappedpjrt.is_tpu && !(text = graph_of (program.code, &program.code_size)))
    wrappedpjrt.divisions += memmem (program.code, program.code_size, "divide", 6) != NULL;
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
  wrappedpjrt.executed++;
  copied = 0;
  return wrappedpjrt.fault == WRAPPED_EXECUTE_FAILS ? failure (&last) : real->execute (a);
}

static pjrt_error *
from_host (pjrt_from_host_args *a)
{
  wrappedpjrt.sent++;
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
  wrappedpjrt.received++;
  const int spoils = wrappedpjrt.fault == WRAPPED_SPOILS_1 + copied++ % 2;
  if (!error && (spoils || wrappedpjrt.fault >= WRAPPED_TWICE)) {
    pjrt_event_args wait = { .head.size = sizeof wait, .event = a->event };
    error = real->event_await (&wait);
    if (spoils)
      memcpy (a->data, &wrong, sizeof wrong);
    else
      spoil_picks (a->data, a->size / sizeof wrong);
  }
  return error;
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
