/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzzbytes: takes values from the input of a fuzzer, which is zeros after its end; and counts the
 * boxes that a fuzzer checked. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  const uint8_t *data;
  size_t left;
} FuzzBytes;

/* Takes `size` bytes, in the byte order of the machine. */
static inline void
fuzz_take (FuzzBytes *bytes, void *value, size_t size)
{
  size_t n = size < bytes->left ? size : bytes->left;

  memset (value, 0, size);
  if (!n)
    return;
  memcpy (value, bytes->data, n);
  bytes->data += n;
  bytes->left -= n;
}

static inline uint8_t
fuzz_take_byte (FuzzBytes *bytes)
{
  uint8_t value;
  fuzz_take (bytes, &value, sizeof value);
  return value;
}

static inline float
fuzz_take_float (FuzzBytes *bytes)
{
  float value;
  fuzz_take (bytes, &value, sizeof value);
  return value;
}

/* Adds to the number of boxes, which is printed when the program ends. */
void fuzz_count (size_t boxes);
