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
      459, 8.19, 50.9, 3.09, 2.18, 0, 7.92, 10.9, 7.72
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.22 of 528 */
      440, 10.3, 24.3, 2.56, 2.78, 0, 16.4, 12.1, 5.92
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
    [NMS__WAY_SEQUENTIAL] = { /* 0.21 of 803 */
      175, 3.84, 36.8, 0.518, 0.648, 0.122, 7.29, 8.28, 13.3
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.18 of 1232 */
      312, 4.78, 15.7, 0.665, 0.858, 0.199, 6.17, 7.78, 1.61
    },
    [NMS__WAY_FEW] = { /* 0.08 of 684 */
      232, 8.77, 6.31, 0.295, 0.08, 4.17, 0.0615, 1.39
    },
    [NMS__WAY_LIST] = { /* 0.11 of 515 */
      0, 3.73, 11.3, 5.89, 0.381, 0, 0.0694, 0.631, 0, 20.7
    },
    [NMS__WAY_PILES] = { /* 0.19 of 525 */
      0, 3.22, 18.1, 8.08, 0.376, 3.11, 0.0135, 1.14, 982, 55.3
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.10 of 542 */
      222, 0, 11.5, 0, 0.546, 7.41, 0.0854, 1.81, 0, 85.1
    },
    [NMS__WAY_PILES_LIST] = { /* 0.16 of 147 */
      0, 6.85, 14.4, 54.8, 0.132, 0, 0, 3.73, 1.05e+03, 11.7
    },
    [NMS__WAY_PLACES] = { /* 0.18 of 819 */
      4.6e+03, 29.4, 39.8, 129, 22.1, 0.628, 24.8, 0, 0, 1.5
    },
    [NMS__WAY_SCORES] = { /* 0.19 of 495 */
      7.19e+03, 29.9, 43, 77.3, 34.7, 0.356, 0.231, 5.81, 21.6, 0.5
    },
  },
  { /* avx2 */
    [NMS__WAY_SEQUENTIAL] = { /* 0.14 of 1036 */
      208, 2.91, 24.4, 0.208, 0.273, 0.0985, 3.61, 6.3, 2.09
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.14 of 1232 */
      351, 3.19, 12.8, 0.309, 0.381, 0.0884, 4.08, 8.17, 2.58
    },
    [NMS__WAY_FEW] = { /* 0.07 of 676 */
      264, 3.81, 6.07, 0.151, 0.0427, 2.95, 0.0492, 1.95
    },
    [NMS__WAY_LIST] = { /* 0.09 of 533 */
      0, 3.13, 12.2, 5.82, 0.205, 0, 0.000532, 0.611, 0, 26.7
    },
    [NMS__WAY_PILES] = { /* 0.15 of 514 */
      0, 2.75, 11.7, 8.84, 0.207, 3.97, 0.0223, 1.48, 2.27e+03, 78.7
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.09 of 545 */
      265, 0, 6.61, 2.74, 0.277, 7.28, 0.0521, 2.1, 0, 92.2
    },
    [NMS__WAY_PILES_LIST] = { /* 0.15 of 159 */
      0, 4.93, 14.6, 30.1, 0.085, 0, 0, 4.53, 1.59e+03, 17.7
    },
    [NMS__WAY_PLACES] = { /* 0.16 of 678 */
      5.65e+03, 28.4, 35.8, 132, 15, 0.404, 39.2, 0, 0, 0.7
    },
    [NMS__WAY_SCORES] = { /* 0.17 of 344 */
      7.67e+03, 30.8, 45.7, 75.8, 32.8, 0.432, 4.54, 7.06, 17.7, 0.5
    },
  },
  { /* avx512 */
    [NMS__WAY_SEQUENTIAL] = { /* 0.11 of 1164 */
      307, 2.27, 21.6, 0.127, 0.142, 0.0268, 2.43, 6.52, 1.65
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.14 of 1232 */
      372, 2.96, 12.8, 0.207, 0.232, 0.0207, 2.64, 8.07, 1.1
    },
    [NMS__WAY_FEW] = { /* 0.07 of 700 */
      308, 2.05, 6.51, 0.0884, 0.00817, 2.75, 0.0369
    },
    [NMS__WAY_LIST] = { /* 0.10 of 560 */
      0, 2.06, 11.7, 0.286, 0.141, 0, 0.00939, 0, 0, 23.6
    },
    [NMS__WAY_PILES] = { /* 0.13 of 522 */
      0, 1.81, 8.99, 11.1, 0.107, 4.12, 0.0181, 0, 2.71e+03, 83.4
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.09 of 548 */
      296, 0, 4.92, 5.4, 0.182, 7.3, 0.0308, 0, 0, 98.9
    },
    [NMS__WAY_PILES_LIST] = { /* 0.12 of 166 */
      0, 4.71, 14.1, 15.7, 0.062, 0, 0.0159, 0, 2.93e+03, 17
    },
    [NMS__WAY_PLACES] = { /* 0.15 of 593 */
      7.21e+03, 25.7, 35.9, 110, 8.56, 0.294, 44.4, 0, 0, 0.4
    },
    [NMS__WAY_SCORES] = { /* 0.14 of 290 */
      8.67e+03, 29.2, 43.7, 78.2, 26.2, 0.645, 9.14, 7.96, 5.61, 0.5
    },
  },
};

const double (*nms__auto_prices (int lanes))[NMS__TERMS]
{
  return by_width[lanes >= 16 ? 3 : lanes >= 8 ? 2 : lanes >= 4 ? 1 : 0];
}
