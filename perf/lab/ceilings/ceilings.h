// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The device's measured peak rates: the reference for shares of a roof, and a limit that no row can
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
  double low = 0;           // the median's confidence interval
  double high = 0;          //
  bool settled = true;      // the interval is as narrow as the protocol requires
  std::string problem = {}; // why there is no value; else empty
};

// Measures all probes of this backend and device, then the time of an empty launch and, on a GPU,
// of an empty graph node.
std::vector<Ceiling> measure_ceilings(Apparatus& apparatus);
std::vector<Ceiling> measure_ceilings(const std::vector<Probe>& probes, Apparatus& apparatus);

// The values for device.json: those without a problem, including each mix of reads and writes, and
// the peak rates that nothing exceeds, each the maximum of the rates that may reach it:
// dram_bytes_per_s, f32_flops_per_s, and <dtype>_matrix_flops_per_s (f32 uses that of tf32, in
// which f32 rows that declare it may compute).
std::map<std::string, double> roofs_of(const std::vector<Ceiling>& ceilings);

} // namespace kg::perf
