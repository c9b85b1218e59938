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
    [NMS__WAY_SEQUENTIAL] = { /* 0.42 of 207 */
      459, 8.19, 50.9, 3.09, 2.18, 0, 7.92, 10.9, 0, 7.72
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.22 of 528 */
      440, 10.3, 24.3, 2.56, 2.78, 0, 16.4, 12.1, 13.4, 5.92
    },
    [NMS__WAY_FEW] = { /* 0.12 of 328 */
      320, 25.1, 17, 0.462, 0.557, 5.66, 0.414
    },
    [NMS__WAY_LIST] = { /* 0.23 of 150 */
      659, 7.64, 14.5, 0, 1.92, 0, 0, 0.141, 0, 27.7
    },
    [NMS__WAY_PILES] = { /* 0.25 of 240 */
      0, 6.07, 51.1, 24.5, 0.563, 0, 0.0912, 0.415
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.14 of 253 */
      44.6, 0, 36.7, 0, 1.44, 9.6, 0.471, 0, 0, 143
    },
    [NMS__WAY_PILES_LIST] = { /* 0.22 of 38 */
      181, 4.75, 18.5, 60.8, 0.721, 0, 0, 3.72, 866, 15.7
    },
    [NMS__WAY_PLACES] = { /* 0.25 of 440 */
      2.43e+03, 55.7, 49.8, 243, 71.1, 1.63, 0, 0, 0, 8
    },
    [NMS__WAY_SCORES] = { /* 0.19 of 375 */
      5.78e+03, 33, 48, 57.2, 8.16, 0.323, 22.1, 14.1, 33.5, 0.5
    },
  },
  { /* vectors of 4: sse2, and neon */
    [NMS__WAY_SEQUENTIAL] = { /* 0.20 of 795 */
      269, 4, 37.4, 0.516, 0.691, 0.17, 5.3, 7.13
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.18 of 1205 */
      303, 4.97, 16.2, 0.687, 0.858, 0.216, 5.61, 7.68, 0, 2.62
    },
    [NMS__WAY_FEW] = { /* 0.08 of 644 */
      223, 10.6, 5.59, 0.297, 0.0733, 3.04, 0.114, 1.01
    },
    [NMS__WAY_LIST] = { /* 0.09 of 510 */
      242, 3.82, 10.9, 6.79, 0.366, 0, 0.0964, 0.672, 0, 21.7
    },
    [NMS__WAY_PILES] = { /* 0.16 of 523 */
      0, 3.43, 17.9, 7.32, 0.392, 4.61, 0.0762, 1.09, 1.55e+03, 52.8
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.09 of 536 */
      201, 0, 11.7, 0.572, 0.546, 7.03, 0.148, 1.55, 0, 91.5
    },
    [NMS__WAY_PILES_LIST] = { /* 0.17 of 148 */
      0, 2.46, 14.3, 41.6, 0.144, 0, 0, 3.81, 1.31e+03, 12.3
    },
    [NMS__WAY_PLACES] = { /* 0.19 of 784 */
      5.29e+03, 30.5, 35.4, 154, 22.7, 0.588, 32.3, 0, 0, 1.5
    },
    [NMS__WAY_SCORES] = { /* 0.19 of 493 */
      7.28e+03, 29.4, 45.7, 57.8, 22.4, 0.321, 6.58, 11.1, 22.1, 0.5
    },
  },
  { /* avx2 */
    [NMS__WAY_SEQUENTIAL] = { /* 0.15 of 1023 */
      276, 3.02, 24.6, 0.214, 0.284, 0.0986, 3.16, 5.71, 0.42, 3
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.15 of 1206 */
      342, 3.41, 12.5, 0.315, 0.389, 0.118, 3.68, 7.21, 0, 2.95
    },
    [NMS__WAY_FEW] = { /* 0.10 of 650 */
      264, 3.66, 5.42, 0.153, 0.0407, 2.54, 0.0622, 1.75
    },
    [NMS__WAY_LIST] = { /* 0.12 of 549 */
      0, 3.21, 11.5, 5.28, 0.219, 0, 0.0154, 0.658, 0, 23.7
    },
    [NMS__WAY_PILES] = { /* 0.17 of 521 */
      0, 2.83, 11.6, 7.38, 0.229, 4.48, 0.0271, 1.37, 2.69e+03, 82.5
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.11 of 540 */
      270, 0, 6.85, 4.96, 0.266, 7.97, 0.0509, 1.72, 0, 107
    },
    [NMS__WAY_PILES_LIST] = { /* 0.15 of 154 */
      0, 2.23, 13.7, 27.9, 0.0917, 0, 0, 4.42, 2.12e+03, 12.4
    },
    [NMS__WAY_PLACES] = { /* 0.18 of 658 */
      6.58e+03, 28.4, 34.4, 143, 9.44, 0.405, 46.6, 0, 0, 0.7
    },
    [NMS__WAY_SCORES] = { /* 0.19 of 368 */
      8.92e+03, 30.5, 43.1, 55, 25.8, 0.453, 7.12, 9.43, 19.6, 0.5
    },
  },
  { /* avx512 */
    [NMS__WAY_SEQUENTIAL] = { /* 0.11 of 1162 */
      344, 2.42, 21.8, 0.129, 0.144, 0.0288, 1.72, 5.62, 0.0932, 1.95
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.14 of 1206 */
      357, 3.1, 11.9, 0.223, 0.241, 0.0218, 3.02, 6.13, 0.278, 2.36
    },
    [NMS__WAY_FEW] = { /* 0.07 of 667 */
      304, 1.92, 6.3, 0.0881, 0.0104, 2.4, 0.0491
    },
    [NMS__WAY_LIST] = { /* 0.10 of 555 */
      14.6, 2.26, 11.5, 2.4, 0.14, 0, 0.0162, 0, 0, 27.5
    },
    [NMS__WAY_PILES] = { /* 0.13 of 523 */
      0, 1.85, 8.7, 10.9, 0.113, 4.32, 0.0285, 0, 4.26e+03, 86.9
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.09 of 547 */
      291, 0, 3.79, 4.61, 0.179, 7.4, 0.0498, 0, 0, 106
    },
    [NMS__WAY_PILES_LIST] = { /* 0.11 of 161 */
      2.68e+03, 0, 13.5, 19.4, 0.0613, 0, 0.025, 0, 1.94e+03, 16
    },
    [NMS__WAY_PLACES] = { /* 0.16 of 588 */
      9.42e+03, 25.6, 34.2, 117, 8.48, 0.283, 47.6, 0, 0, 0.4
    },
    [NMS__WAY_SCORES] = { /* 0.15 of 319 */
      1.02e+04, 28.6, 41.9, 64.5, 24.2, 0.733, 9.56, 8.44, 9.38, 0.5
    },
  },
};

const double (*nms__auto_prices (int lanes))[NMS__TERMS]
{
  return by_width[lanes >= 16 ? 3 : lanes >= 8 ? 2 : lanes >= 4 ? 1 : 0];
}
