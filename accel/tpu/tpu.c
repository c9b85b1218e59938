/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpu: checks a spec, prints its kernel, and puts the kernel into a module.
 */
#include "tpu.h"
#include "tpumodule.h"
#include "tpupicks.h"
#include "tputilearrays.h"
#include "tputiles.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void
layout_of (const nms__tpu_spec *spec, nms__tpu_layout *layout)
{
  if (spec->form == NMS__TPU_TILES)
    nms__tpu_tiles_layout (spec, layout);
  else
    nms__tpu_picks_layout (spec, layout);
}

size_t
nms__tpu_memory_of (const nms__tpu_spec *spec)
{
  nms__tpu_layout layout;

  layout_of (spec, &layout);
  return nms__tpu_layout_bytes (&layout);
}

static size_t
memory_there (const nms__tpu_spec *spec)
{
  return spec->memory ? spec->memory : NMS__TPU_MEMORY;
}

int32_t
nms__tpu_most_boxes (const nms__tpu_spec *spec)
{
  nms__tpu_spec s = *spec;
  int32_t fits = 0, too_many = 1 << 24;

  while (too_many - fits > 1) {
    s.boxes = fits + (too_many - fits) / 2;
    s.picks = spec->picks < s.boxes ? spec->picks : s.boxes;
    if (nms__tpu_memory_of (&s) <= memory_there (spec))
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
check (const nms__tpu_spec *spec, char *error, size_t size)
{
  if (spec->boxes < 1)
    return fail (error, size, "a kernel needs 1 box or more, not %ld", (long) spec->boxes);
  if (spec->picks < 1 || spec->picks > spec->boxes)
    return fail (error, size, "%ld picks of %ld boxes: must be 1 to the number of boxes",
        (long) spec->picks, (long) spec->boxes);
  if (spec->images < 0 || spec->images > INT32_MAX / spec->boxes)
    return fail (error, size, "%ld images of %ld boxes: must be 0 or more, and %ld boxes at most",
        (long) spec->images, (long) spec->boxes, (long) INT32_MAX);
  if ((unsigned) spec->form > NMS__TPU_PICKS)
    return fail (error, size, "form %d is not in nms__tpu_form", (int) spec->form);
  if (spec->form == NMS__TPU_PICKS
      && (spec->images > 1 || spec->classes || spec->box_limits || spec->parents))
    return fail (error, size, "the form of picks takes one image, without options of boxes");
  if (spec->class_caps && !spec->classes)
    return fail (error, size, "caps per class need the class argument");
  if (spec->boxes > nms__tpu_most_boxes (spec))
    return fail (error, size, "%ld boxes do not fit into %zu bytes of vector memory, %ld do",
        (long) spec->boxes, memory_there (spec), (long) nms__tpu_most_boxes (spec));
  return 1;
}

static char *
finish (nms__tpu *m, size_t *length, char *error, size_t size)
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
nms__tpu_kernel (const nms__tpu_spec *spec, size_t *length, char *error, size_t size)
{
  nms__tpu m = { .text = NULL };
  nms__tpu_layout layout;

  if (!check (spec, error, size))
    return NULL;
  layout_of (spec, &layout);
  if (spec->form == NMS__TPU_TILES)
    nms__tpu_tiles_print (&m, spec, &layout);
  else
    nms__tpu_picks_print (&m, &layout);
  return finish (&m, length, error, size);
}

/* Returns `data` in base64, as a new string. */
static char *
base64 (const char *data, size_t length)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *text = malloc ((length + 2) / 3 * 4 + 1), *out = text;

  for (size_t i = 0; text && i < length; i += 3) {
    unsigned left = length - i < 3 ? (unsigned) (length - i) : 3, word = 0;
    for (unsigned k = 0; k < 3; k++)
      word = word << 8 | (k < left ? (unsigned char) data[i + k] : 0);
    for (unsigned k = 0; k < 4; k++)
      *out++ = k <= left ? digits[word >> (18 - 6 * k) & 63] : '=';
  }
  if (text)
    *out = '\0';
  return text;
}

char *
nms__tpu_module (const nms__tpu_spec *spec, size_t *length, char *error, size_t size)
{
  nms__tpu m = { .text = NULL };
  nms__tpu_layout layout;
  size_t kernel_length;
  char *kernel = nms__tpu_kernel (spec, &kernel_length, error, size), *coded;

  if (!kernel)
    return NULL;
  coded = base64 (kernel, kernel_length);
  free (kernel);
  if (coded) {
    layout_of (spec, &layout);
    nms__tpu_module_print (&m, spec, &layout, coded, memory_there (spec));
  } else
    m.failed = 1;
  free (coded);
  return finish (&m, length, error, size);
}
