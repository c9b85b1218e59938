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
    [NMS__WAY_SEQUENTIAL] = { /* 0.42 of 299 */
      490, 9.32, 140, 2.69, 0, 0, 10.9, 32.9, 137
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.26 of 755 */
      503, 11, 18.9, 2.89, 0, 0, 11.6, 5.19, 42.3, 9.72
    },
    [NMS__WAY_FEW] = { /* 0.20 of 459 */
      338, 24.8, 22, 0.462, 0.51, 6.81, 0.353
    },
    [NMS__WAY_LIST] = { /* 0.29 of 251 */
      1.07e+03, 8.05, 13.5, 0, 2.01, 0, 0, 0.505, 1.28e+03, 22
    },
    [NMS__WAY_PILES] = { /* 0.31 of 369 */
      0, 8.03, 54.2, 20.3, 0.568, 0, 0.212, 0.66
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.21 of 369 */
      57.4, 0, 32, 0, 1.6, 5.78, 0.758, 0, 0, 154
    },
    [NMS__WAY_PILES_LIST] = { /* 0.26 of 74 */
      0, 0, 19.6, 46, 0.697, 0, 0, 4.59, 1.8e+03, 11.1
    },
    [NMS__WAY_PLACES] = { /* 0.28 of 646 */
      4.35e+03, 51.4, 49.2, 196, 48.5, 2.21, 14.5, 0, 0, 8
    },
    [NMS__WAY_SCORES] = { /* 0.24 of 600 */
      6.36e+03, 35.9, 41.8, 66.9, 19.8, 0.508, 10.2, 13.7, 37.8, 0.5
    },
  },
  { /* vectors of 4: sse2, and neon */
    [NMS__WAY_SEQUENTIAL] = { /* 0.28 of 404 */
      269, 5.18, 26.8, 0.563, 0.109, 0.189, 17.1, 8.18, 42.5, 13.2
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.30 of 683 */
      310, 6.13, 16.1, 0.687, 0.134, 0.267, 2.99, 6.89, 25.5, 3.82
    },
    [NMS__WAY_FEW] = { /* 0.24 of 374 */
      232, 10.9, 4.82, 0.314, 0.0813, 4.46, 0.113, 1.04
    },
    [NMS__WAY_LIST] = { /* 0.25 of 278 */
      1.48e+03, 4.38, 9.62, 12.4, 0.379, 0, 0.061, 0.344, 0, 22.2
    },
    [NMS__WAY_PILES] = { /* 0.28 of 312 */
      0, 5.8, 21.5, 5.6, 0.433, 5.41, 0.0436, 1.65, 2.36e+03, 37.3
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.24 of 305 */
      213, 0, 12.6, 2.26, 0.623, 6.8, 0.111, 1.23, 0, 95
    },
    [NMS__WAY_PILES_LIST] = { /* 0.25 of 98 */
      0, 19.1, 15.5, 30.7, 0.166, 0, 1.05, 6.35, 1.58e+03, 8.94
    },
    [NMS__WAY_PLACES] = { /* 0.29 of 441 */
      6.28e+03, 31.4, 33.1, 140, 24.9, 0.775, 57.7, 0, 0, 1.5
    },
    [NMS__WAY_SCORES] = { /* 0.30 of 334 */
      8.05e+03, 33.8, 36.8, 60.9, 37.3, 0.486, 2.82, 19.6, 39.7, 0.5
    },
  },
  { /* avx2 */
    [NMS__WAY_SEQUENTIAL] = { /* 0.13 of 676 */
      273, 3.91, 21.2, 0.214, 0.0615, 0.114, 3.08, 6.47, 27.9, 4.13
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.13 of 1225 */
      312, 4.12, 12.1, 0.334, 0.0307, 0.105, 3.27, 6.44, 13.6, 3.41
    },
    [NMS__WAY_FEW] = { /* 0.06 of 620 */
      259, 3.44, 5.02, 0.158, 0.0385, 2.52, 0.0685, 1.85
    },
    [NMS__WAY_LIST] = { /* 0.12 of 367 */
      153, 3.56, 11.4, 3.98, 0.211, 0, 0.0249, 0.635, 1.76e+03, 26
    },
    [NMS__WAY_PILES] = { /* 0.18 of 372 */
      0, 4.03, 13.4, 9.01, 0.208, 3.52, 0.0439, 1.61, 3.44e+03, 74.3
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.08 of 559 */
      237, 0, 6.81, 3.08, 0.255, 8.39, 0.0649, 1.85, 0, 94.6
    },
    [NMS__WAY_PILES_LIST] = { /* 0.14 of 114 */
      0, 0, 16, 40.1, 0.0747, 0, 0, 4.61, 1.28e+03, 15.7
    },
    [NMS__WAY_PLACES] = { /* 0.20 of 442 */
      6.29e+03, 28.7, 34.2, 119, 9.32, 0.602, 51.6, 0, 0, 0.7
    },
    [NMS__WAY_SCORES] = { /* 0.24 of 289 */
      7.72e+03, 32.1, 42.1, 64.7, 34.5, 0.517, 7.66, 7.25, 28.6, 0.5
    },
  },
  { /* avx512 */
    [NMS__WAY_SEQUENTIAL] = { /* 0.10 of 995 */
      405, 3.28, 18.3, 0.129, 0.015, 0.0308, 1.85, 5.7, 26.1, 2.22
    },
    [NMS__WAY_SEQUENTIAL_SMALL] = { /* 0.12 of 1225 */
      338, 3.73, 11.8, 0.206, 0, 0.0295, 2.33, 6.59, 12.5, 1.68
    },
    [NMS__WAY_FEW] = { /* 0.06 of 626 */
      297, 2.04, 6.19, 0.0851, 0.0114, 2.63, 0.0419
    },
    [NMS__WAY_LIST] = { /* 0.10 of 515 */
      185, 2.57, 10.6, 0, 0.141, 0, 0.0243, 0, 753, 25.1
    },
    [NMS__WAY_PILES] = { /* 0.13 of 496 */
      0, 3.11, 9.26, 12.4, 0.102, 4.25, 0.0345, 0, 2.56e+03, 76.9
    },
    [NMS__WAY_PILES_SMALL] = { /* 0.09 of 564 */
      291, 0, 5.24, 4.91, 0.152, 7.25, 0.0368, 0, 0, 97.6
    },
    [NMS__WAY_PILES_LIST] = { /* 0.09 of 144 */
      0, 1.36, 14.7, 21.8, 0.0561, 0, 0.0302, 0, 2.05e+03, 16.2
    },
    [NMS__WAY_PLACES] = { /* 0.16 of 408 */
      6.56e+03, 30.4, 34.7, 88.5, 5.21, 0.262, 48.3, 0, 0, 0.4
    },
    [NMS__WAY_SCORES] = { /* 0.23 of 305 */
      8.77e+03, 29.6, 42, 72.2, 34, 0.583, 3.85, 8.21, 10.7, 0.5
    },
  },
};

const double (*nms__auto_prices (int lanes))[NMS__TERMS]
{
  return by_width[lanes >= 16 ? 3 : lanes >= 8 ? 2 : lanes >= 4 ? 1 : 0];
}
