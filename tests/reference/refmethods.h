/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * refmethods: the methods, for reference.c, which has already entered the boxes that do not take
 * part into the result. Each decides all others.
 */
#pragma once

#include "refboxes.h"
#include "reference.h"

/* ref_run_<family> runs the methods of a family. */
#define DECLARE(constant, number, family, by_score, changes, name, text) \
  void ref_run_##family (const RefCall *call, RefResult *result);
NMS_METHOD_LIST (DECLARE)
#undef DECLARE

/* Returns whether the total cap or the cap of a class is full. */
bool ref_cap_is_full (const RefCall *call, const RefResult *result, int32_t class_id);

/* Enters box i as the next kept one, with its own corners and this score, or as over-cap. Returns
 * whether it is kept. */
bool ref_take_next (const RefCall *call, int32_t i, float score, RefResult *result);

/* Returns the undecided box with the greatest score, or -1; of equal ones the first. */
int32_t ref_best_of (const RefCall *call, const bool *decided, const float *score);

/* Returns exp (x) for x <= 0, as docs/methods.md defines it. */
float ref_exp (float x);
