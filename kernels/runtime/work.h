// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kg {

// The minimum work of an operation, whatever the kernel: each input read once, each output written
// once, plus the arithmetic of its definition. Throughput and percentages of peak are this work
// divided by a time.
struct Work {
  double bytes = 0;   // of global memory, read and written
  double written = 0; // the part of `bytes` that is written
  double flops = 0;   // floating-point operations; a fused multiply-add counts 2
};

} // namespace kg
