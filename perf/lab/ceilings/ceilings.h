// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the device was seen to reach: what shares of a roof are shares of, and what no row can
// exceed (judge/roof.h).
#pragma once

#include "perf/lab/ceilings/probes.h"
#include "perf/measure/measure.h"

#include <map>
#include <string>
#include <vector>

namespace kg::perf {

struct Ceiling {
  std::string name;         // "copy_bytes_per_s", "empty_node_ns"
  double value = 0;         // at the median
  double low = 0;           // the median's interval
  double high = 0;          //
  bool settled = true;      // the interval is as narrow as the protocol asks for
  std::string problem = {}; // empty, or why there is no value
};

// All probes of this backend and device, then the time of an empty launch and, on a GPU, of an
// empty node of a graph.
std::vector<Ceiling> measure_ceilings(Apparatus& apparatus);
std::vector<Ceiling> measure_ceilings(const std::vector<Probe>& probes, Apparatus& apparatus);

// What device.json holds of them: those without a problem, among them each mix of reads and writes,
// and what nothing exceeds, each the greatest of the rates that it may be reached by:
// dram_bytes_per_s, f32_flops_per_s, and <dtype>_matrix_flops_per_s (of f32 that of tf32, by which
// a row of f32 that says so may compute).
std::map<std::string, double> roofs_of(const std::vector<Ceiling>& ceilings);

} // namespace kg::perf
