/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tpu: checks a spec, prints its kernel, and records the module around the kernel.
 */
#include "tpu.h"
#include "tpugraph.h"
#include "tpupicks.h"
#include "tputilearrays.h"
#include "tputiles.h"

#include "accel/lazy/lazynodes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

nms_lazy_tensor
nms__tpu_picks (nms_lazy *lz, const nms__tpu_spec *spec, const nms__tpu_columns *columns)
{
  char why[256], *kernel = nms__tpu_kernel (spec, NULL, why, sizeof why);
  nms_lazy_tensor picks;
  nms__tpu_layout layout;

  if (!kernel)
    return nms__lazy_fail (lz, NMS_ERROR_UNSUPPORTED, "%s", why);
  layout_of (spec, &layout);
  picks = nms__tpu_graph (lz, spec, &layout, columns, kernel, memory_there (spec));
  free (kernel);
  return picks;
}

/* Records an argument of the module. */
static nms_lazy_tensor
argument (nms_lazy *lz, nms_lazy_type type, int32_t rows, int32_t columns)
{
  const nms_lazy_shape shape = { .type = type,
    .rank = rows ? 2 : 1,
    .dims = { rows ? rows : columns, rows ? columns : 0 } };

  return nms__append (lz, NMS__INPUT, shape, 0, NULL, 0, 0);
}

static nms__tpu_columns
arguments (nms_lazy *lz, const nms__tpu_spec *spec)
{
  const int32_t n = spec->boxes * nms__tpu_images (spec);
  nms__tpu_columns c = { 0 };
  nms_lazy_tensor *const corner[] = { &c.x1, &c.y1, &c.x2, &c.y2 };

  for (int k = 0; k < 4; k++)
    *corner[k] = argument (lz, NMS_LAZY_F32, 0, n);
  c.key = argument (lz, NMS_LAZY_S32, 0, n);
  c.parameters = argument (lz, NMS_LAZY_F32, NMS__TPU_PARAMETERS / NMS__TPU_LANES, NMS__TPU_LANES);
  if (nms__tpu_uses_class (spec))
    c.class_id = argument (lz, NMS_LAZY_S32, 0, n);
  for (int k = 0; k < 3 && spec->box_limits; k++)
    c.limit[k] = argument (lz, NMS_LAZY_F32, 0, n);
  if (spec->class_caps)
    c.class_most = argument (lz, NMS_LAZY_S32, 0, n);
  if (spec->parents)
    c.parent = argument (lz, NMS_LAZY_S32, 0, n);
  return c;
}

char *
nms__tpu_module (const nms__tpu_spec *spec, size_t *length, char *error, size_t size)
{
  char *text = NULL;

  if (!check (spec, error, size))
    return NULL;
  nms_lazy_cache *cache = nms_lazy_cache_new (NULL, 1);
  nms_lazy *lz = nms_lazy_new (cache);
  nms_lazy_cache_free (&cache);
  if (lz) {
    const nms__tpu_columns columns = arguments (lz, spec);
    const nms_lazy_tensor picks = nms__tpu_picks (lz, spec, &columns);
    text = nms_lazy_dump (lz, 1, &picks);
  }
  if (!text)
    fail (error, size, "%s", lz ? nms_lazy_error (lz) : "out of memory");
  else if (length)
    *length = strlen (text);
  nms_lazy_free (&lz);
  return text;
}
