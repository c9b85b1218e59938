/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * auto_costs: what a unit of each term of auto.h takes, in nanoseconds, as
 * `bench-auto --fit` printed it; tests/bench/README.md says how. Beside each way:
 * the deviation from the times, by their ratio, and of how many frames.
 *
 * Another machine has other prices, but they go up and down together, and what
 * is compared is their ratio.
 */
#include "auto.h"

typedef double prices[NMS__WAYS][NMS__TERMS];

static const prices by_width[] = {
  { /* scalar */
    [NMS__WAY_SEQUENTIAL] = { /* 0.45 of 159 */
      0, 8.27, 605, 0.127, 0, 0.0399, 33.3, 4.53, 0.17, 0
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.37 of 452 */
      396, 7.24, 57.8, 1.71, 0, 0, 40.7, 16.4, 0.337, 10.1
    },
    [NMS__WAY_FEW] = { /* 0.22 of 275 */
      360, 27.2, 0.256, 0, 23.5, 0.497, 0.486, 7.57, 0, 0
    },
    [NMS__WAY_LIST] = { /* 0.26 of 118 */
      0, 9.4, 15.1, 29, 1.97, 0, 0, 0, 0, 0
    },
    [NMS__WAY_PILES] = { /* 0.30 of 222 */
      0, 6.34, 43.9, 31.1, 0.6, 0.817, 0, 0.355, 52.1, 0
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.34 of 218 */
      210, 0, 51.6, 15.9, 0.773, 0, 4.06, 0.667, 0, 0
    },
    [NMS__WAY_PLACES] = { /* 0.27 of 322 */
      4.06e+03, 48.5, 65.1, 166, 77, 11, 6.72, 0, 0, 0
    },
    [NMS__WAY_SCORES] = { /* 0.25 of 301 */
      6.93e+03, 36, 46.2, 60.7, 36.6, 1.53, 0, 19.2, 50.9, 0
    },
  },
  { /* vectors of 4: sse2, and neon */
    [NMS__WAY_SEQUENTIAL] = { /* 0.31 of 383 */
      0, 3.87, 58.6, 0.476, 0.0263, 0.22, 7.58, 11.9, 0.0784, 32.7
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.29 of 694 */
      302, 4.54, 19.4, 0.586, 0.246, 0.228, 10.3, 8.56, 0.117, 0
    },
    [NMS__WAY_FEW] = { /* 0.18 of 381 */
      236, 9.15, 0.0859, 1.65, 6.85, 0.277, 0.119, 0.838, 0, 0
    },
    [NMS__WAY_LIST] = { /* 0.21 of 252 */
      1.08e+03, 4.22, 9.84, 19, 0.362, 0, 0, 0, 0, 0
    },
    [NMS__WAY_PILES] = { /* 0.26 of 308 */
      0, 4.87, 21.7, 8.33, 0.441, 0.19, 3.43, 0, 72.7, 13.2
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.28 of 311 */
      176, 0, 15.4, 10.8, 0.715, 0, 7.02, 0, 60, 0
    },
    [NMS__WAY_PLACES] = { /* 0.26 of 330 */
      4.17e+03, 26.3, 44.6, 116, 43.5, 5.01, 8.24, 0, 0, 0
    },
    [NMS__WAY_SCORES] = { /* 0.26 of 228 */
      6.44e+03, 30.6, 47.6, 79.6, 38.7, 1.3, 2.12, 14.5, 39.8, 0
    },
  },
  { /* avx2 */
    [NMS__WAY_SEQUENTIAL] = { /* 0.17 of 401 */
      138, 3.29, 26.6, 0.201, 0.0596, 0.106, 4.01, 10.2, 0.0245, 4.16
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.17 of 493 */
      330, 3.59, 14.2, 0.282, 0.0746, 0.0944, 4.78, 8.45, 0.113, 1.95
    },
    [NMS__WAY_FEW] = { /* 0.09 of 256 */
      263, 3.91, 0.0818, 1.81, 5.01, 0.15, 0.0408, 2.42, 0, 0
    },
    [NMS__WAY_LIST] = { /* 0.13 of 235 */
      0, 3.73, 12, 20.7, 0.187, 0, 0, 0, 0, 0
    },
    [NMS__WAY_PILES] = { /* 0.23 of 270 */
      1.27e+03, 3.9, 13.7, 14.4, 0.176, 0.105, 2.84, 0.0359, 44.7, 3.88
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.22 of 218 */
      226, 0, 9.76, 9.09, 0.326, 0, 10.1, 0.0211, 62.1, 0
    },
    [NMS__WAY_PLACES] = { /* 0.22 of 263 */
      6.53e+03, 31.8, 31.2, 120, 60.6, 2.6, 5.7, 0, 0, 0
    },
    [NMS__WAY_SCORES] = { /* 0.20 of 158 */
      8.85e+03, 32.3, 44.3, 19.1, 32.4, 3.49, 1.85, 10.4, 20.7, 0
    },
  },
  { /* avx512 */
    [NMS__WAY_SEQUENTIAL] = { /* 0.13 of 572 */
      281, 2.9, 20.8, 0.126, 0.0148, 0.0272, 2.18, 7.81, 0.0189, 1.53
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.13 of 615 */
      350, 3.52, 12.2, 0.191, 0.0264, 0.0181, 2.89, 8.48, 0.0619, 0.653
    },
    [NMS__WAY_FEW] = { /* 0.07 of 321 */
      305, 1.94, 0.0511, 0, 6.37, 0.0834, 0.0111, 1.9, 0, 0
    },
    [NMS__WAY_LIST] = { /* 0.14 of 294 */
      0, 2.67, 12, 15.9, 0.124, 0, 0, 0, 0, 0
    },
    [NMS__WAY_PILES] = { /* 0.17 of 346 */
      842, 3.19, 9.44, 15.7, 0.0866, 0.067, 2.62, 0.0309, 67.8, 5.96
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.22 of 279 */
      278, 0, 6.29, 10.9, 0.199, 0, 8.68, 0.0151, 74.8, 0
    },
    [NMS__WAY_PLACES] = { /* 0.20 of 294 */
      8.45e+03, 24, 36.8, 112, 65.1, 1.73, 4.34, 0, 0, 0
    },
    [NMS__WAY_SCORES] = { /* 0.16 of 154 */
      9.47e+03, 29.2, 44.3, 14.9, 43, 3.03, 3.55, 13.3, 13, 0
    },
  },
};

const double (*nms__auto_prices (int lanes))[NMS__TERMS]
{
  return by_width[lanes >= 16 ? 3 : lanes >= 8 ? 2 : lanes >= 4 ? 1 : 0];
}
