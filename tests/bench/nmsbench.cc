/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nmsbench: calls BOE-NMS, QSI-NMS and eQSI-NMS of a checkout of NMS-Bench, the code of
 * "Accelerating Non-Maximum Suppression: A Graph Theory Perspective" (NeurIPS 2024). run.sh
 * compiles it with that checkout's src/ and Makefile's flags. The boxes are in the form that
 * NMS-Bench itself times.
 */
#include <cstddef>

#include "BOENMS/BOENMS.hpp"
#include "QSINMS/QSINMS.hpp"
#include "QSINMS/eQSINMS.hpp"

typedef Box<double, double, double> Real;

extern "C" std::vector<Real> *
nmsbench_load (const float *rows, const float *scores, size_t count)
{
  auto *boxes = new std::vector<Real>;

  for (size_t i = 0; i < count; i++) {
    const float *r = rows + 4 * i;
    const Rect<double, double> rect (Point<double> (r[0], r[1]), Point<double> (r[2], r[3]));
    boxes->emplace_back (rect, scores[i], uint32_t (i));
  }
  return boxes;
}

/* Stores the kept indices in `kept`, and returns their number. */
extern "C" size_t
nmsbench_run (const std::vector<Real> *boxes, char method, double threshold, uint32_t *kept)
{
  const auto found = method == 'b' ? boeNMS (*boxes, threshold)
      : method == 'q'              ? qsiNMS (*boxes, threshold)
                                   : eqsiNMS (*boxes, threshold);
  std::copy (found.begin (), found.end (), kept);
  return found.size ();
}
