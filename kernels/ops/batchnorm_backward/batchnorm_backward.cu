// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels: sums_kernels.h and gradient_kernels.h, with their design and expected performance.
#include "ops/batchnorm_backward/batchnorm_backward.h"

#include "ops/batchnorm_backward/gradient_kernels.h"
#include "ops/batchnorm_backward/sums_kernels.h"
#include "primitives/sum_partials.h"
#include "runtime/error.h"
#include "runtime/launch.h"

#include <algorithm>
#include <string>

namespace kg::batchnorm_backward {
namespace {

using batchnorm::ColumnTiles;
using batchnorm::parts;

// The arguments of all launches.
template <class T>
struct Call {
  Problem problem;
  const T* dy;
  const T* x;
  Channels channels;
  T* dx;
  float* dgamma;
  float* dbeta;
  float* partials;
  std::int64_t parts;
  Stream& stream;

  LaunchConfig over(std::int64_t blocks, dim3 block, std::int64_t rows = 1) const {
    return {.grid = {grid_x(blocks, "batchnorm_backward: the tensor", "split the tensor"),
                     static_cast<unsigned>(rows)},
            .block = block,
            .stream = &stream};
  }
};

template <class T>
void run_naive(const Call<T>& call) {
  const Problem& p = call.problem;
  const Strides strides(p);
  const Channels& c = call.channels;
  launch(naive_sums<T>, call.over(div_up(p.channels, kThreads), kThreads), call.dy, call.x, strides,
         c.mean, c.rstd, call.dgamma, call.dbeta);
  if (p.elements() > 0)
    launch(naive_gradient<T>, call.over(div_up(p.elements(), kThreads), kThreads), call.dy, call.x,
           strides, c, call.dx);
}

template <class T>
void join_parts(const Call<T>& call) {
  launch_sum_partials<float, kSumVectors>("batchnorm_backward", call.partials, call.parts,
                                          call.problem.channels, {call.dgamma, call.dbeta},
                                          call.stream);
}

template <class T, int Count, bool kPlanes>
void sum_columns(const Call<T>& call, const Problem& columns, const Divisor& by_plane,
                 std::int64_t parts) {
  const ColumnTiles tiles = batchnorm::column_tiles(columns, Count);
  launch(column_sums<T, Count, kPlanes>,
         call.over(tiles.across, dim3(tiles.lanes, tiles.height), parts), call.dy, call.x,
         columns.per_channel(), columns.channels, by_plane, call.channels.mean, call.channels.rstd,
         call.partials);
}

// nchw with short planes.
template <class T>
void sum_by_columns(const Call<T>& call) {
  const Problem& p = call.problem;
  const Problem columns = batchnorm::as_columns(p);
  const std::int64_t count = parts(Variant::vectorized, dtype_of<T>, columns, kWideBlocksPerSm);
  sum_columns<T, kPackElements<T>, true>(call, columns, Divisor(p.spatial), count);
  launch(join_planes, call.over(p.channels, sum_warps(count) * kLanes), call.partials, count,
         p.channels, p.spatial, call.dgamma, call.dbeta);
}

template <class T, int Count>
void sum_planes(const Call<T>& call, const Planes& planes) {
  launch(planes.whole ? plane_sums<T, Count, true> : plane_sums<T, Count, Count == 1>,
         call.over(call.problem.channels, kThreads, call.parts), call.dy, call.x, planes,
         call.channels.mean, call.channels.rstd, call.partials);
  join_parts(call);
}

template <class T, int Count>
void run_planes(const Call<T>& call) {
  const Problem& p = call.problem;
  const Planes planes(p, call.x, Count);
  if (Count > 1 && batchnorm::has_short_planes(dtype_of<T>, p) && is_aligned(call.x))
    sum_by_columns(call);
  else
    sum_planes<T, Count>(call, planes);
  const std::int64_t packs = div_up(p.elements() + planes.past, Count);
  launch(plane_gradient<T, Count>, call.over(div_up(packs, kThreads), kThreads), call.dy, call.x,
         planes, call.channels, call.dx);
}

template <class T, int Count>
void run_columns(const Call<T>& call) {
  const Problem& p = call.problem;
  sum_columns<T, Count, false>(call, p, Divisor(), call.parts);
  join_parts(call);
  const ColumnTiles tiles = batchnorm::column_tiles(p, Count);
  launch(column_gradient<T, Count>,
         call.over(tiles.across, dim3(tiles.lanes, tiles.height),
                   batchnorm::column_parts(tiles, kBlocksPerSm)),
         call.dy, call.x, p.per_channel(), p.channels, call.channels, call.dx);
}

// Whether all tensors have equal 16-byte alignment and, in nhwc, channels are whole vectors.
template <class T>
bool has_packs(const Call<T>& call) {
  if (call.problem.layout == Layout::nchw) {
    const int head = elements_to_boundary(call.x);
    return elements_to_boundary(call.dy) == head && elements_to_boundary(call.dx) == head;
  }
  const Channels& c = call.channels;
  return call.problem.channels % kPackElements<T> == 0 && is_aligned(call.x) &&
         is_aligned(call.dy) && is_aligned(call.dx) && is_aligned(c.mean) && is_aligned(c.rstd) &&
         is_aligned(c.gamma) && is_aligned(c.dgamma) && is_aligned(c.dbeta);
}

void require_memory(const void* pointer, const char* name) {
  require(pointer != nullptr,
          std::string("batchnorm_backward: ") + name + " is null; pass device memory");
}

} // namespace

std::size_t workspace_bytes(Variant variant, Dtype dtype, const Problem& problem) {
  return batchnorm::workspace_for(variant, dtype, problem, kWideBlocksPerSm, kSumVectors);
}

std::int64_t chain(Variant variant, Dtype dtype, const Problem& problem) {
  if (resolved(variant) == Variant::naive || problem.elements() == 0) return problem.per_channel();
  const auto joined = [&](const Problem& cut, std::int64_t columns) {
    const batchnorm::Additions of = batchnorm::additions(dtype, cut, kWideBlocksPerSm);
    const std::int64_t count = parts(variant, dtype, cut, kWideBlocksPerSm);
    return of.together * of.rounds + of.steps + div_up(count, sum_warps(count)) * columns +
           sum_warps(count);
  };
  const std::int64_t usual = joined(problem, 1);
  if (!batchnorm::has_short_planes(dtype, problem)) return usual;
  const std::int64_t of_a_lane = div_up(problem.spatial, kLanes);
  return std::max(usual, joined(batchnorm::as_columns(problem), of_a_lane) + kButterflySteps);
}

template <class T>
Variant run(const Problem& problem, const T* dy, const T* x, const float* gamma, const float* mean,
            const float* rstd, T* dx, float* dgamma, float* dbeta, void* workspace, Variant variant,
            Stream& stream) {
  variant = resolved(variant);
  batchnorm::require_problem("batchnorm_backward", problem);
  if (problem.channels == 0) return variant;
  require_memory(dgamma, "dgamma");
  require_memory(dbeta, "dbeta");
  auto* const partials = static_cast<float*>(workspace);
  const Call<T> call{
      problem,
      dy,
      x,
      {mean, rstd, gamma, dgamma, dbeta, 1.0f / static_cast<float>(problem.per_channel())},
      dx,
      dgamma,
      dbeta,
      partials,
      problem.elements() > 0 ? parts(variant, dtype_of<T>, problem, kWideBlocksPerSm) : 0,
      stream};
  if (problem.elements() == 0) {
    run_naive(call); // empty sums: zeros
    return variant;
  }
  require_memory(dy, "dy");
  require_memory(x, "x");
  require_memory(mean, "mean");
  require_memory(rstd, "rstd");
  require_memory(dx, "dx");
  const auto bytes = problem.elements() * static_cast<std::int64_t>(sizeof(T));
  require_same_or_apart("batchnorm_backward: dy", dy, "dx", dx, bytes);
  require_same_or_apart("batchnorm_backward: x", x, "dx", dx, bytes);
  const std::size_t needed = workspace_bytes(variant, dtype_of<T>, problem);
  require(needed == 0 || (partials != nullptr && is_aligned(partials)),
          "batchnorm_backward: workspace is null or not aligned; pass " + std::to_string(needed) +
              " bytes of device memory at a multiple of " + std::to_string(kPackBytes));
  constexpr int kCount = kPackElements<T>;
  if (variant == Variant::naive)
    run_naive(call);
  else if (problem.layout == Layout::nchw)
    has_packs(call) ? run_planes<T, kCount>(call) : run_planes<T, 1>(call);
  else
    has_packs(call) ? run_columns<T, kCount>(call) : run_columns<T, 1>(call);
  return variant;
}

template Variant run(const Problem&, const float*, const float*, const float*, const float*,
                     const float*, float*, float*, float*, void*, Variant, Stream&);
template Variant run(const Problem&, const f16*, const f16*, const float*, const float*,
                     const float*, f16*, float*, float*, void*, Variant, Stream&);
template Variant run(const Problem&, const bf16*, const bf16*, const float*, const float*,
                     const float*, bf16*, float*, float*, void*, Variant, Stream&);

Work work(Dtype dtype, const Problem& problem) {
  const auto elements = static_cast<double>(problem.elements());
  return {.bytes = 3 * elements * static_cast<double>(size_of(dtype)) +
                   5 * static_cast<double>(problem.channels) * sizeof(float),
          .written = elements * static_cast<double>(size_of(dtype)) +
                     2 * static_cast<double>(problem.channels) * sizeof(float),
          .flops = 11 * elements};
}

} // namespace kg::batchnorm_backward
