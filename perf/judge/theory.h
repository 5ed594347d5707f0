// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a GPU cannot exceed by its design: its units times its highest clock. The ceilings that were
// measured (roof.h) lie below; how far says how much of the device a program can reach at all.
#pragma once

#include <map>
#include <string>

namespace kg::judge {

// Per second and named as the ceilings are: "dram_bytes_per_s", "f32_flops_per_s",
// "f64_flops_per_s" and "<dtype>_matrix_flops_per_s" (f32: that of TF32). Of sparse matrices
// nothing. From what a run says of its device (measure/environment.h); what that does not say, or
// an unknown compute capability, leaves out what depends on it. Empty on the host, whose rows are
// times of an executor.
std::map<std::string, double>
theoretical_limits(const std::map<std::string, std::string>& environment);

} // namespace kg::judge
