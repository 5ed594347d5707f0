// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A reduction reads every element once and does one operation on it: only memory can be the limit.
// Bytes: size_of(T) per element and per result; flops: one per element. Expected on an H200: 4.2
// TB/s read, as CUB reaches, for one result, for rows of at least 1024 elements, and for columns of
// large matrices.
//
// Every order of additions is fixed: no atomics, so a repeated run gives the same bits. Few results
// therefore take two launches (pieces of the axis, then the pieces' partial results), where an
// atomic per block would take one. The second launch costs about 2 us and buys reproducibility. A
// multiprocessor has 64 KiB of loads in flight (4 blocks, 4 loads of 16 bytes per thread) and needs
// about 28 (elementwise.cu says why). If the axis is not the last, neighbouring threads take
// neighbouring results, 16 bytes each; a thread per row would read each cache line many times.
#include "ops/reduction/reduction.h"

#include "ops/reduction/functors.h"
#include "ops/reduction/launches.h"
#include "runtime/error.h"
#include "runtime/preconditions.h"

#include <bit>
#include <string>
#include <type_traits>

namespace kg::reduction {
namespace {

template <class T>
void launch_operation(Op op, const Input<T>& x, T* out, void* workspace, Variant variant,
                      Stream& stream) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    launch_variant(Sum<unsigned>{}, x, out, workspace, variant, stream);
  } else if (op == Op::sum || op == Op::mean) {
    const float divisor = op == Op::mean ? static_cast<float>(x.shape[1]) : 1.0f;
    launch_variant(Sum<float>{divisor}, x, out, workspace, variant, stream);
  } else {
    launch_variant(Extremum{op == Op::max ? 1.0f : -1.0f}, x, out, workspace, variant, stream);
  }
}

// Sequential additions of one of `threads` threads in reduce_strided: whole packs, the elements
// before and after them, and the tree over a pack.
template <class T>
std::int64_t strided_chain(std::int64_t count, std::int64_t threads) {
  constexpr std::int64_t kPack = kPackElements<T>;
  return div_up(count / kPack, threads) + div_up(2 * (kPack - 1), threads) + 3;
}

constexpr std::int64_t kBlockChain = kButterflySteps + kThreads / kLanes;

} // namespace

bool supports(Op op, Dtype dtype) {
  switch (dtype) {
  case Dtype::f32:
  case Dtype::f16:
  case Dtype::bf16: return true;
  case Dtype::i32: return op == Op::sum;
  default: return false;
  }
}

Extents merged(std::span<const std::int64_t> shape, std::size_t first, std::size_t last) {
  require(first <= last && last <= shape.size(),
          "reduction: axes [" + std::to_string(first) + ", " + std::to_string(last) +
              ") of a tensor of rank " + std::to_string(shape.size()) +
              "; give first <= last <= rank");
  Extents extents{1, 1, 1};
  for (std::size_t d = 0; d < shape.size(); ++d)
    extents[d < first ? 0 : d < last ? 1 : 2] *= shape[d];
  return extents;
}

template <class T>
std::size_t workspace_bytes(const View<const T, 3>& x, Variant variant) {
  return partial_bytes<std::conditional_t<std::is_same_v<T, std::int32_t>, unsigned, float>>(
      x, variant);
}

template <class T>
Variant run(Op op, View<const T, 3> x, T* out, void* workspace, Variant variant, Stream& stream) {
  require(supports(op, dtype_of<T>), "reduction: no " + std::string(name(op)) + " of " +
                                         std::string(kg::name(dtype_of<T>)) +
                                         "; use f32, f16 or bf16");
  require_input("reduction", x);
  variant = resolved(variant);
  const std::int64_t results = x.shape[0] * x.shape[2];
  if (results == 0) return variant;
  require(out != nullptr,
          "reduction: out is null; pass device memory for " + std::to_string(results) + " results");
  require(x.shape[1] > 0 || op == Op::sum || op == Op::mean,
          "reduction: x is " + text(x.shape) + "; a " + std::string(name(op)) +
              " needs at least one element on the axis");
  require(x.shape[1] == 0 || x.data != nullptr,
          "reduction: x is null; pass device memory of " + text(x.shape) + " elements");
  const std::size_t needed = workspace_bytes(x, variant);
  require(needed == 0 || workspace != nullptr,
          "reduction: workspace is null; pass workspace_bytes() = " + std::to_string(needed) +
              " bytes of device memory");
  launch_operation(op, x, out, workspace, variant, stream);
  return variant;
}

template <class T>
std::int64_t chain(const View<const T, 3>& x, Variant variant) {
  const auto [outer, axis, inner] = x.shape;
  const std::int64_t results = outer * inner;
  if (results == 0) return 0;
  if (variant == Variant::naive) return results == 1 ? div_up(axis, kThreads) + kBlockChain : axis;
  const Pieces pieces = pieces_of(x);
  const bool whole = pieces.count == 1;
  if (is_rows(x)) {
    if (axis <= kWarpMaxCols) return strided_chain<T>(axis, row_lanes<T>(axis)) + kButterflySteps;
    return strided_chain<T>(pieces.size, kThreads) + kBlockChain +
           (whole ? 0 : div_up(pieces.count, kThreads) + kBlockChain);
  }
  // Single elements give no fewer tiles and no more layers than packs.
  const int layers = kThreads / tile_width(results, axis);
  return div_up(pieces.size, layers) + std::bit_width(static_cast<unsigned>(layers)) +
         (whole ? 0 : pieces.count);
}

Work work(Dtype dtype, Extents extents) {
  const auto [outer, axis, inner] = extents;
  const auto results = static_cast<double>(outer) * static_cast<double>(inner);
  const double elements = results * static_cast<double>(axis);
  return {.bytes = static_cast<double>(size_of(dtype)) * (elements + results),
          .written = static_cast<double>(size_of(dtype)) * results,
          .flops = elements};
}

template std::size_t workspace_bytes(const View<const float, 3>&, Variant);
template std::size_t workspace_bytes(const View<const f16, 3>&, Variant);
template std::size_t workspace_bytes(const View<const bf16, 3>&, Variant);
template std::size_t workspace_bytes(const View<const std::int32_t, 3>&, Variant);

template Variant run(Op, View<const float, 3>, float*, void*, Variant, Stream&);
template Variant run(Op, View<const f16, 3>, f16*, void*, Variant, Stream&);
template Variant run(Op, View<const bf16, 3>, bf16*, void*, Variant, Stream&);
template Variant run(Op, View<const std::int32_t, 3>, std::int32_t*, void*, Variant, Stream&);

template std::int64_t chain(const View<const float, 3>&, Variant);
template std::int64_t chain(const View<const f16, 3>&, Variant);
template std::int64_t chain(const View<const bf16, 3>&, Variant);
template std::int64_t chain(const View<const std::int32_t, 3>&, Variant);

} // namespace kg::reduction
