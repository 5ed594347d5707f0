// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of bulk reductions (PTX ISA, "Data Movement and Conversion Instructions:
// cp.reduce.async.bulk"): element by element, each atomically, in no particular order.
#pragma once

#include "runtime/reduce_op.h"

#include <cstddef>

namespace kg::host {

struct BulkReduction {
  ReduceOp op;
  ReduceType type;
};

// Combines the elements of `to` with those of `from`: `bytes` bytes of the reduction's type, both
// aligned to it. f32 sums flush subnormal numbers, as atom.add.f32 on global memory does. f16 and
// bf16 keep them. A NaN of f32, f16 or bf16 becomes the canonical one; min and max ignore a single
// NaN.
void reduce(BulkReduction reduction, void* to, const void* from, std::size_t bytes);

} // namespace kg::host
