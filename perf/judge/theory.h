// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The theoretical peaks of a GPU: units times highest clock. Measured ceilings (roof.h) lie below
// them.
#pragma once

#include <map>
#include <string>

namespace kg::judge {

// Rates per second under the names of ceilings: "dram_bytes_per_s", "f32_flops_per_s",
// "f64_flops_per_s" and "<dtype>_matrix_flops_per_s" (f32: TF32; dense matrices). Computed from the
// environment that a run records (measure/environment.h). Omits rates that depend on a missing
// entry or an unknown compute capability. Empty on the host, whose times are the emulator's.
std::map<std::string, double>
theoretical_limits(const std::map<std::string, std::string>& environment);

} // namespace kg::judge
