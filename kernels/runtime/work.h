// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kg {

// What an operation must do at the least, whatever the kernel: each input read once, each output
// written once, and the arithmetic of its definition. Rates and shares of a roof are this divided
// by a time.
struct Work {
  double bytes = 0;   // of global memory, read and written
  double written = 0; // of these, those that are written
  double flops = 0;   // floating-point operations; a fused multiply-add counts 2
};

} // namespace kg
