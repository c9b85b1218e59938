/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* numbers: copies the elements of a view, in C order, as numbers of another type. The view has
 * one or two dimensions. */
#ifndef NMS_PYTHON_NUMBERS_H
#define NMS_PYTHON_NUMBERS_H

#include "arrayview.h"

/* Writes binary32, each number rounded once, to nearest; beyond its range the result is infinite.
 * float16 and bfloat16 are exact. The elements must be numbers, not booleans. */
void numbers_to_floats (const array_view *view, float *out);

/* Writes int32; a number that does not fit becomes -1. Returns whether all fit. Elements are
 * whole numbers. */
bool numbers_to_int32 (const array_view *view, int32_t *out);

/* Writes size_t; returns false at the first number that is negative. Elements are whole numbers. */
bool numbers_to_sizes (const array_view *view, size_t *out);

/* Writes 1 for numbers and booleans other than 0. Elements are booleans or whole numbers. */
void numbers_to_flags (const array_view *view, uint8_t *out);

#endif
