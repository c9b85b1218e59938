/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* numbers: copies and converts elements. Integer arithmetic widens the 16-bit formats, so that the
 * floating-point mode of the process does not matter. */
#include "numbers.h"

#include <string.h>

#define KEY(kind, bits) ((kind) *128 + (int) (bits))
/* (all but uint64) */
#define FOR_EACH_INTEGER(X) \
  X (NUMBER_INT, 8, int8_t) \
  X (NUMBER_INT, 16, int16_t) \
  X (NUMBER_INT, 32, int32_t) \
  X (NUMBER_INT, 64, int64_t) \
  X (NUMBER_UINT, 8, uint8_t) \
  X (NUMBER_UINT, 16, uint16_t) \
  X (NUMBER_UINT, 32, uint32_t)

static inline float
float_of_bits (uint32_t bits)
{
  float value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

static inline float
float_of_half (uint16_t half)
{
  const uint32_t sign = (uint32_t) (half & 0x8000) << 16, mantissa = half & 0x3ff;
  const uint32_t exponent = half >> 10 & 31;

  if (exponent == 0) /* 0 and subnormals: a multiple of 2^-24 */
    return (sign ? -1.0f : 1.0f) * ((float) mantissa * 0x1p-24f);
  if (exponent == 31)
    return float_of_bits (sign | 0x7f800000 | mantissa << 13);
  return float_of_bits (sign | (exponent + 112) << 23 | mantissa << 13);
}

static inline float
float_of_bfloat (uint16_t bfloat)
{
  return float_of_bits ((uint32_t) bfloat << 16);
}

/* Writes `expression`, which is in terms of an element `v`, for each element. */
#define STORE_EACH(type, expression) \
  for (Py_ssize_t row = 0; row < rows; row++) \
    for (Py_ssize_t column = 0; column < columns; column++) { \
      type v; \
      memcpy (&v, view->data + row * view->strides[0] + column * step, sizeof v); \
      *out++ = (expression); \
    } \
  break

void
numbers_to_floats (const array_view *view, float *out)
{
  const Py_ssize_t rows = view->shape[0], columns = view->ndim > 1 ? view->shape[1] : 1;
  const Py_ssize_t step = view->ndim > 1 ? view->strides[1] : 0;

  switch (KEY (view->kind, view->bits)) {
#define STORE_INTEGERS(kind, bits, type) \
  case KEY (kind, bits): \
    STORE_EACH (type, (float) v);
    FOR_EACH_INTEGER (STORE_INTEGERS)
#undef STORE_INTEGERS
    case KEY (NUMBER_UINT, 64):
      STORE_EACH (uint64_t, (float) v);
    case KEY (NUMBER_FLOAT, 16):
      STORE_EACH (uint16_t, float_of_half (v));
    case KEY (NUMBER_BFLOAT, 16):
      STORE_EACH (uint16_t, float_of_bfloat (v));
    case KEY (NUMBER_FLOAT, 32):
      STORE_EACH (float, v);
    case KEY (NUMBER_FLOAT, 64):
      STORE_EACH (double, (float) v);
  }
}

/* Reads a boolean or a whole number; one above INT64_MAX is read as INT64_MAX. */
static int64_t
read_whole (const array_view *view, const char *at)
{
  uint64_t most;

  switch (KEY (view->kind, view->bits)) {
#define READ(kind, bits, type) \
  case KEY (kind, bits): { \
    type v; \
    memcpy (&v, at, sizeof v); \
    return v; \
  }
    FOR_EACH_INTEGER (READ)
#undef READ
    case KEY (NUMBER_UINT, 64):
      memcpy (&most, at, sizeof most);
      return most < INT64_MAX ? (int64_t) most : INT64_MAX;
  }
  return *at != 0;
}

bool
numbers_to_int32 (const array_view *view, int32_t *out)
{
  bool fit = true;
  for (Py_ssize_t i = 0; i < view->shape[0]; i++) {
    const int64_t v = read_whole (view, view->data + i * view->strides[0]);
    const bool fits = v >= INT32_MIN && v <= INT32_MAX;
    out[i] = fits ? (int32_t) v : -1;
    fit &= fits;
  }
  return fit;
}

bool
numbers_to_sizes (const array_view *view, size_t *out)
{
  for (Py_ssize_t i = 0; i < view->shape[0]; i++) {
    const int64_t v = read_whole (view, view->data + i * view->strides[0]);
    if (v < 0)
      return false;
    out[i] = (uint64_t) v < SIZE_MAX ? (size_t) v : SIZE_MAX;
  }
  return true;
}

void
numbers_to_flags (const array_view *view, uint8_t *out)
{
  for (Py_ssize_t i = 0; i < view->shape[0]; i++)
    out[i] = read_whole (view, view->data + i * view->strides[0]) != 0;
}
