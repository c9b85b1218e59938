/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzzcount: counts the boxes that a fuzzer checked, and prints the sum when the program ends. */
#pragma once

#include <stddef.h>

void fuzz_count (size_t boxes);
