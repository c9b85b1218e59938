/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * auto_costs: what a unit of each term of auto.h takes, in nanoseconds, as
 * `bench-auto --fit` printed it; tests/bench/README.md says how. Beside each way:
 * the deviation from the times, by their ratio, and of how many frames. The last
 * price of the ways over places is not fitted: it tells in dense frames only, of
 * which the fit has none, and was measured on some of 10,000 to 60,000 boxes.
 *
 * Another machine has other prices, but they go up and down together, and what
 * is compared is their ratio.
 */
#include "auto.h"

typedef double prices[NMS__WAYS][NMS__TERMS];

static const prices by_width[] = {
  { /* scalar */
    [NMS__WAY_SEQUENTIAL] = { /* 0.43 of 253 */
      175, 8.98, 98.8, 2.64, 2.16, 0, 5.46, 11.9, 1.06, 0.0448
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.22 of 641 */
      445, 10.7, 24.9, 2.55, 2.6, 0, 10.4, 10.2, 0, 6.94
    },
    [NMS__WAY_FEW] = { /* 0.11 of 368 */
      315, 25.1, 16.9, 0.509, 0.501, 6.43, 0.384
    },
    [NMS__WAY_LIST] = { /* 0.23 of 201 */
      489, 7.88, 14.4, 0, 2, 0, 0, 0.589, 0, 19.6
    },
    [NMS__WAY_PILES] = { /* 0.26 of 251 */
      0, 7.58, 47.2, 22.2, 0.568, 0, 0.239, 0.282, 0, 33.7
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.14 of 323 */
      47.1, 0, 38, 0, 1.33, 7.83, 0.489, 0, 0, 134
    },
    [NMS__WAY_PILES_LIST] = { /* 0.24 of 45 */
      0, 27.1, 19.2, 91, 0.732, 0, 61.4, 3.97, 887, 12.3
    },
    [NMS__WAY_PLACES] = { /* 0.26 of 505 */
      2.02e+03, 52.3, 58.3, 203, 66.3, 1.38, 0, 0, 0, 8
    },
    [NMS__WAY_SCORES] = { /* 0.18 of 445 */
      5.87e+03, 33.6, 46.1, 70.1, 17.7, 0.346, 0, 16.9, 34.7, 0.5
    },
  },
  { /* vectors of 4: sse2, and neon */
    [NMS__WAY_SEQUENTIAL] = { /* 0.19 of 701 */
      331, 4.57, 28.5, 0.531, 0.629, 0.176, 4.99, 8.29, 0.146, 18.8
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.16 of 1074 */
      298, 5.56, 14.9, 0.668, 0.803, 0.225, 5.09, 8.47, 0, 3.37
    },
    [NMS__WAY_FEW] = { /* 0.08 of 594 */
      239, 8.66, 4.93, 0.296, 0.0773, 2.62, 0.0805, 1.42
    },
    [NMS__WAY_LIST] = { /* 0.08 of 455 */
      29.5, 4.15, 11.3, 6.9, 0.365, 0, 0.0773, 0.684, 0, 20.3
    },
    [NMS__WAY_PILES] = { /* 0.16 of 462 */
      0, 4.05, 16.6, 8.45, 0.386, 5.05, 0.0431, 1.2, 1.2e+03, 58.3
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.09 of 481 */
      209, 0, 11.8, 0.613, 0.5, 7.64, 0.0941, 1.77, 0, 90.3
    },
    [NMS__WAY_PILES_LIST] = { /* 0.16 of 132 */
      0, 1.72, 15.8, 43.5, 0.138, 0, 0, 3.73, 1.06e+03, 11.8
    },
    [NMS__WAY_PLACES] = { /* 0.18 of 683 */
      4.74e+03, 31.2, 36.4, 154, 25.5, 0.584, 31, 0, 0, 1.5
    },
    [NMS__WAY_SCORES] = { /* 0.19 of 450 */
      7.16e+03, 30.5, 43.5, 45.6, 26.7, 0.397, 4.65, 11.6, 32.4, 0.5
    },
  },
  { /* avx2 */
    [NMS__WAY_SEQUENTIAL] = { /* 0.12 of 904 */
      318, 3.74, 22.1, 0.214, 0.275, 0.105, 2.37, 6.39, 0.194, 4.17
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.13 of 1076 */
      331, 4.16, 12, 0.32, 0.392, 0.109, 3.11, 7.16, 0, 3.45
    },
    [NMS__WAY_FEW] = { /* 0.06 of 592 */
      262, 3.81, 5.35, 0.147, 0.0415, 2.16, 0.0638, 1.98
    },
    [NMS__WAY_LIST] = { /* 0.10 of 484 */
      256, 3.51, 12.1, 4.25, 0.21, 0, 0.00245, 0.725, 665, 24.8
    },
    [NMS__WAY_PILES] = { /* 0.14 of 460 */
      0, 3.67, 11.5, 8.41, 0.219, 5.76, 0.0285, 1.53, 2.94e+03, 73.9
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.09 of 483 */
      262, 0, 6.68, 2.03, 0.285, 7.75, 0.0624, 2.32, 0, 98.5
    },
    [NMS__WAY_PILES_LIST] = { /* 0.11 of 139 */
      0, 0, 15.3, 27.5, 0.0873, 0, 0, 4.19, 1.86e+03, 12.7
    },
    [NMS__WAY_PLACES] = { /* 0.16 of 572 */
      7.6e+03, 28.6, 34.3, 141, 12.6, 0.405, 43.7, 0, 0, 0.7
    },
    [NMS__WAY_SCORES] = { /* 0.18 of 339 */
      9.11e+03, 31.2, 43.1, 56.1, 31.9, 0.52, 6.59, 10, 21.8, 0.5
    },
  },
  { /* avx512 */
    [NMS__WAY_SEQUENTIAL] = { /* 0.10 of 1040 */
      325, 3.28, 19.5, 0.126, 0.141, 0.0294, 1.3, 6.5, 0.256, 1.52
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.14 of 1076 */
      355, 3.96, 11.3, 0.207, 0.23, 0.0314, 2.35, 6.41, 0.787, 2.29
    },
    [NMS__WAY_FEW] = { /* 0.09 of 608 */
      304, 2.39, 6.11, 0.0849, 0.0104, 2.34, 0.0406
    },
    [NMS__WAY_LIST] = { /* 0.11 of 494 */
      59.2, 2.58, 10.2, 0.0951, 0.139, 0, 0.0135, 0, 2.46e+03, 27.5
    },
    [NMS__WAY_PILES] = { /* 0.14 of 461 */
      0, 2.67, 9.31, 10.9, 0.114, 5.73, 0.0208, 0, 3.09e+03, 86.3
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.10 of 488 */
      290, 0, 4.27, 4.76, 0.182, 8.37, 0.0375, 0, 0, 109
    },
    [NMS__WAY_PILES_LIST] = { /* 0.12 of 147 */
      0, 0, 15.4, 20.4, 0.06, 0, 0.0197, 0, 1.7e+03, 12.9
    },
    [NMS__WAY_PLACES] = { /* 0.16 of 520 */
      6.63e+03, 25.9, 38.4, 122, 9.63, 0.297, 36.8, 0, 0, 0.4
    },
    [NMS__WAY_SCORES] = { /* 0.16 of 288 */
      9.08e+03, 30, 42, 70.5, 27.5, 0.687, 4.67, 7.11, 9.06, 0.5
    },
  },
};

const double (*nms__auto_prices (int lanes))[NMS__TERMS]
{
  return by_width[lanes >= 16 ? 3 : lanes >= 8 ? 2 : lanes >= 4 ? 1 : 0];
}
