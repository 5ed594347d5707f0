// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// reduction_backward: the gradient of a sum, mean, maximum or minimum over one axis of a tensor.
// dx[o][a][i] is dy[o][i] for a sum and dy[o][i] / axis for a mean. For an extremum, it is dy[o][i]
// where x[o][a][i] is the first extremum along the axis, 0 elsewhere.
//
// Problem: x and dx are packed, outer x axis x inner; dy is packed, outer x inner. Neighbouring
// axes merge, see reduction::merged. Only extrema read x, and dx may be x; dx must not overlap dy
// or the workspace. A mean divides in f32 and rounds once to T; nothing else rounds. Repeated runs
// of a variant are bit-identical.
//
// Special values: NaN, infinities and -0 in dy reach dx unchanged. The first NaN of an axis is its
// maximum and its minimum, as in argmax; -0 and +0 are equal. Subnormals are kept.
#pragma once

#include "ops/reduction/reduction.h"
#include "primitives/vectorization.h"
#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::reduction_backward {

using reduction::Extents;
using reduction::kOps;
using reduction::Op;

// naive: one thread per element of dx. vectorized: 16-byte accesses, grid sized to fill the device.
// Both first locate the extrema, in one or two launches of the same variant of reduction.
using vectorization::kVariants, vectorization::name, vectorization::resolved,
    vectorization::Variant;

// Bytes of device workspace that `run` needs, aligned to 16; 0 for sums and means.
template <class T>
std::size_t workspace_bytes(Op op, const Extents& extents, Variant variant);

template <class T>
struct Arrays {
  const T* x; // may be null for a sum or a mean
  const T* dy;
  T* dx;
};

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error on negative extents, an extremum's axis beyond 2^31 - 1, a required pointer that is
// null, a dx that overlaps dy, or a dx that partially overlaps x.
template <class T>
Variant run(Op op, const Extents& extents, const Arrays<T>& arrays, void* workspace,
            Variant variant, Stream& stream);

// One write per element of dx, one read per element of dy, and for an extremum of x; one operation
// per element.
Work work(Op op, Dtype dtype, const Extents& extents);

} // namespace kg::reduction_backward
