/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mosaic: checks a spec and prints the module around a kernel: StableHLO that
 * pads the arguments, cuts them in rows of 128, calls the kernel, and cuts the
 * padding off its result.
 */
#include "mosaic.h"
#include "mosaickernel.h"

#include "../overlap.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The nearest number of so many bits. */
static double
rounded (double value, int bits)
{
  uint64_t word, last = (uint64_t) 1 << (53 - bits);

  memcpy (&word, &value, sizeof word);
  word = (word + last / 2) & ~(last - 1);
  memcpy (&value, &word, sizeof value);
  return value;
}

void
nms_mosaic_limit (float threshold, int inclusive, float limit[4])
{
  double middle = nms__limit (threshold, inclusive);

  limit[2] = 1.0f;
  limit[3] = 0.0f;
  if (middle < 0.0) {           /* any intersection */
    limit[0] = limit[1] = 0.0f;
    limit[3] = -INFINITY;
  } else if (middle < 0x1p-100) { /* 2^-150, which binary32 has not */
    limit[0] = (float) (middle * 0x1p100);
    limit[1] = 0.0f;
    limit[2] = 0x1p100f;
  } else {
    double exact = rounded (middle, 25), high = rounded (exact, 12);
    limit[0] = (float) high;
    limit[1] = (float) (exact - high);
    if (middle < exact)         /* nms__limit moved it: equality counts */
      limit[3] = -0x1p-120f;
  }
}

void
nms_mosaic_parameters (float threshold, int inclusive, int32_t most,
    float parameters[NMS_MOSAIC_PARAMETERS])
{
  float rows[8] = { 0.0f };

  nms_mosaic_limit (threshold, inclusive, rows);
  rows[NMS__MOSAIC_MOST] = (float) most;
  for (int i = 0; i < NMS_MOSAIC_PARAMETERS; i++)
    parameters[i] = rows[i / NMS__MOSAIC_LANES];
}

nms_mosaic_form
nms_mosaic_form_of (const nms_mosaic_spec *spec)
{
  return spec->form == NMS_MOSAIC_AUTO ? NMS_MOSAIC_PICKS : spec->form;
}

static void
layout_of (const nms_mosaic_spec *spec, nms__mosaic_layout *layout)
{
  nms__mosaic_picks_layout (spec, layout);
}

size_t
nms_mosaic_memory_of (const nms_mosaic_spec *spec)
{
  nms__mosaic_layout layout;

  layout_of (spec, &layout);
  return nms__mosaic_layout_bytes (&layout);
}

static size_t
memory_there (const nms_mosaic_spec *spec)
{
  return spec->memory ? spec->memory : NMS_MOSAIC_MEMORY;
}

int32_t
nms_mosaic_most_boxes (const nms_mosaic_spec *spec)
{
  nms_mosaic_spec s = *spec;
  int32_t fits = 0, too_many = 1 << 24;

  while (too_many - fits > 1) {
    s.boxes = fits + (too_many - fits) / 2;
    s.picks = spec->picks < s.boxes ? spec->picks : s.boxes;
    if (nms_mosaic_memory_of (&s) <= memory_there (spec))
      fits = s.boxes;
    else
      too_many = s.boxes;
  }
  return fits;
}

static int
fail (char *error, size_t size, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (size)
    vsnprintf (error, size, format, args);
  va_end (args);
  return 0;
}

static int
check (const nms_mosaic_spec *spec, char *error, size_t size)
{
  if (spec->boxes < 1)
    return fail (error, size, "a kernel needs 1 box or more, not %ld", (long) spec->boxes);
  if (spec->picks < 1 || spec->picks > spec->boxes)
    return fail (error, size, "%ld picks of %ld boxes: must be 1 to the number of boxes",
        (long) spec->picks, (long) spec->boxes);
  if ((unsigned) spec->form > NMS_MOSAIC_TILES)
    return fail (error, size, "form %d is none of nms_mosaic_form", (int) spec->form);
  if (spec->class_caps && !spec->classes)
    return fail (error, size, "caps per class need the class argument");
  if (spec->form == NMS_MOSAIC_TILES && spec->class_caps)
    return fail (error, size, "the form of tiles has no caps per class");
  if (spec->boxes > nms_mosaic_most_boxes (spec))
    return fail (error, size, "%ld boxes do not fit into %zu bytes of vector memory, %ld do",
        (long) spec->boxes, memory_there (spec), (long) nms_mosaic_most_boxes (spec));
  return 1;
}

static char *
finish (nms__mosaic *m, size_t *length, char *error, size_t size)
{
  if (m->failed) {
    fail (error, size, "out of memory for a kernel's text");
    return NULL;
  }
  if (length)
    *length = m->length;
  return m->text;
}

char *
nms_mosaic_kernel (const nms_mosaic_spec *spec, size_t *length, char *error, size_t size)
{
  nms__mosaic m = { .text = NULL };
  nms__mosaic_layout layout;

  if (!check (spec, error, size))
    return NULL;
  layout_of (spec, &layout);
  nms__mosaic_picks_print (&m, spec, &layout);
  return finish (&m, length, error, size);
}

static void
print_base64 (nms__mosaic *m, const char *data, size_t length)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char line[4 * 64 + 1];

  for (size_t i = 0; i < length;) {
    size_t n = 0;
    for (; i < length && n + 4 < sizeof line; i += 3, n += 4) {
      unsigned left = length - i < 3 ? (unsigned) (length - i) : 3, word = 0;
      for (unsigned k = 0; k < 3; k++)
        word = word << 8 | (k < left ? (unsigned char) data[i + k] : 0);
      for (unsigned k = 0; k < 4; k++)
        line[n + k] = k <= left ? digits[word >> (18 - 6 * k) & 63] : '=';
    }
    line[n] = '\0';
    nms__mosaic_print (m, "%s", line);
  }
}

/* An argument of the module: `fields` numbers of each box, or, with fields 0,
 * an array that the kernel takes as it is. */
typedef struct {
  const char *type, *padding;
  int fields;
} Argument;

static int
arguments (const nms_mosaic_spec *spec, Argument list[16])
{
  int n = 0;

  for (int i = 0; i < 4; i++)
    list[n++] = (Argument){ "f32", "0.0", 1 };
  list[n++] = (Argument){ "i32", "-2147483648", 1 };
  list[n++] = (Argument){ "f32", NULL, 0 };
  if (spec->classes)
    list[n++] = (Argument){ "i32", "0", 1 };
  if (spec->box_limits)
    list[n++] = (Argument){ "f32", "0.0", 4 };
  if (spec->class_caps)
    list[n++] = (Argument){ "i32", "2147483647", 1 };
  return n;
}

/* "1024xf32", "4x1024xf32", or as the kernel has it. */
static void
print_shape (char *shape, size_t size, const Argument *a, long boxes)
{
  if (a->fields == 0)
    snprintf (shape, size, "8x128x%s", a->type);
  else if (a->fields == 1)
    snprintf (shape, size, "%ldx%s", boxes, a->type);
  else
    snprintf (shape, size, "%dx%ldx%s", a->fields, boxes, a->type);
}

/* Argument %a<i> as the kernel's input %k<i>. */
static void
print_input (nms__mosaic *m, const nms_mosaic_spec *spec, const nms__mosaic_layout *layout,
    const Argument *a, int i)
{
  const char *first = a->fields > 1 ? "0, " : "";
  long more = (long) layout->places - spec->boxes;
  char given[40], padded[40], name = 'a';

  print_shape (given, sizeof given, a, spec->boxes);
  print_shape (padded, sizeof padded, a, layout->places);
  if (a->fields && more) {
    nms__mosaic_print (m, "%%c%d = \"stablehlo.constant\"() {value = dense<%s> : tensor<%s>} : "
        "() -> tensor<%s>\n", i, a->padding, a->type, a->type);
    nms__mosaic_print (m, "%%p%d = \"stablehlo.pad\"(%%a%d, %%c%d) {edge_padding_low = "
        "array<i64: %s0>, edge_padding_high = array<i64: %s%ld>, interior_padding = "
        "array<i64: %s0>} : (tensor<%s>, tensor<%s>) -> tensor<%s>\n", i, i, i, first, first,
        more, first, given, a->type, padded);
    name = 'p';
  }
  nms__mosaic_print (m, "%%k%d = \"stablehlo.reshape\"(%%%c%d) : (tensor<%s>) -> "
      "tensor<%dx128x%s>\n", i, name, i, padded, layout->input[i].rows, a->type);
}

static void
print_list (nms__mosaic *m, const nms__mosaic_layout *layout, const char *form)
{
  for (int k = 0; k < layout->input_count; k++)
    nms__mosaic_print (m, form, k ? ", " : "", k);
}

static void
print_call (nms__mosaic *m, const nms_mosaic_spec *spec, const nms__mosaic_layout *layout,
    const nms__mosaic *kernel)
{
  static const char *const types[] = { "f32", "i32" };
  static const char in_rows[] = "dense<[1, 0]> : tensor<2xindex>";

  nms__mosaic_print (m, "%%call = \"stablehlo.custom_call\"(");
  print_list (m, layout, "%s%%k%d");
  nms__mosaic_print (m, ") {call_target_name = \"tpu_custom_call\", api_version = 1 : i32, "
      "has_side_effect = false, backend_config = \"{\\22custom_call_config\\22: "
      "{\\22body\\22: \\22");
  if (kernel->text)
    print_base64 (m, kernel->text, kernel->length);
  nms__mosaic_print (m, "\\22, \\22needs_layout_passes\\22: true");
  if (memory_there (spec) != NMS_MOSAIC_MEMORY)
    nms__mosaic_print (m, ", \\22scoped_memory_configs\\22: [{\\22memory_space\\22: 1, "
        "\\22offset\\22: 0, \\22size\\22: %zu}]", memory_there (spec));
  nms__mosaic_print (m, "}}\", operand_layouts = [");
  for (int k = 0; k < layout->input_count; k++)
    nms__mosaic_print (m, "%s%s", k ? ", " : "", in_rows);
  nms__mosaic_print (m, "], result_layouts = [%s]} : (", in_rows);
  for (int k = 0; k < layout->input_count; k++)
    nms__mosaic_print (m, "%stensor<%dx128x%s>", k ? ", " : "", layout->input[k].rows,
        types[layout->input[k].type]);
  nms__mosaic_print (m, ") -> tensor<%dx128xi32>\n", layout->picks.rows);
}

char *
nms_mosaic_module (const nms_mosaic_spec *spec, size_t *length, char *error, size_t size)
{
  nms__mosaic m = { .text = NULL }, kernel = { .text = NULL };
  nms__mosaic_layout layout;
  Argument list[16];
  char shape[40];
  long picks;

  kernel.text = nms_mosaic_kernel (spec, &kernel.length, error, size);
  if (!kernel.text)
    return NULL;
  layout_of (spec, &layout);
  picks = (long) layout.picks.rows * NMS__MOSAIC_LANES;

  nms__mosaic_print (&m, "module @nms {\nfunc.func public @main(");
  int count = arguments (spec, list);
  for (int i = 0; i < count; i++) {
    print_shape (shape, sizeof shape, &list[i], spec->boxes);
    nms__mosaic_print (&m, "%s%%a%d: tensor<%s>", i ? ", " : "", i, shape);
  }
  nms__mosaic_print (&m, ") -> tensor<%ldxi32> {\n", (long) spec->picks);
  for (int i = 0; i < count; i++)
    print_input (&m, spec, &layout, &list[i], i);
  print_call (&m, spec, &layout, &kernel);
  nms__mosaic_free (&kernel);
  nms__mosaic_print (&m, "%%flat = \"stablehlo.reshape\"(%%call) : (tensor<%dx128xi32>) -> "
      "tensor<%ldxi32>\n", layout.picks.rows, picks);
  nms__mosaic_print (&m, "%%picks = \"stablehlo.slice\"(%%flat) {start_indices = array<i64: 0>, "
      "limit_indices = array<i64: %ld>, strides = array<i64: 1>} : (tensor<%ldxi32>) -> "
      "tensor<%ldxi32>\n", (long) spec->picks, picks, (long) spec->picks);
  nms__mosaic_print (&m, "\"func.return\"(%%picks) : (tensor<%ldxi32>) -> ()\n}\n}\n",
      (long) spec->picks);
  return finish (&m, length, error, size);
}
