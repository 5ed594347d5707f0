// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels: statistics_kernels.h and apply_kernels.h, with their design and expected performance.
#include "ops/batchnorm/batchnorm.h"

#include "ops/batchnorm/apply_kernels.h"
#include "ops/batchnorm/statistics_kernels.h"
#include "runtime/error.h"
#include "runtime/launch.h"

#include <string>

namespace kg::batchnorm {
namespace {

constexpr const char* kMend = "split the tensor";

LaunchConfig over(std::int64_t blocks, dim3 block, Stream& stream, std::int64_t parts = 1) {
  return {.grid = {grid_x(blocks, "batchnorm: the tensor", kMend), static_cast<unsigned>(parts)},
          .block = block,
          .stream = &stream};
}

// Whether the tensors are equally aligned, so that their 16-byte vectors hold the same elements.
template <class T>
bool aligned_alike(const T* x, const T* y) {
  return elements_to_boundary(x) == elements_to_boundary(y);
}

template <class T, int Count>
void launch_column_apply(const Problem& p, const T* x, const Channels& c, T* y, Stream& stream) {
  const ColumnTiles tiles = column_tiles(p, Count);
  launch(column_apply<T, Count>,
         over(tiles.across, dim3(tiles.lanes, tiles.height), stream,
              column_parts(tiles, kWideBlocksPerSm)),
         x, p.per_channel(), p.channels, c, y);
}

template <class T>
void apply(const Problem& p, const T* x, const Channels& c, T* y, Variant variant, Stream& stream) {
  constexpr int kCount = kPackElements<T>;
  if (variant == Variant::naive) {
    launch(naive_apply<T>, over(div_up(p.elements(), kThreads), kThreads, stream), x, Strides(p), c,
           y);
  } else if (p.layout == Layout::nhwc) {
    const bool aligned = p.channels % kCount == 0 && is_aligned(x) && is_aligned(y) &&
                         is_aligned(c.mean) && is_aligned(c.spread) && is_aligned(c.gamma) &&
                         is_aligned(c.beta);
    aligned ? launch_column_apply<T, kCount>(p, x, c, y, stream)
            : launch_column_apply<T, 1>(p, x, c, y, stream);
  } else if (aligned_alike(x, y)) {
    const Planes planes(p, x, kCount);
    const std::int64_t packs = div_up(p.elements() + planes.past, kCount);
    launch(plane_apply<T, kCount>, over(div_up(packs, kThreads), kThreads, stream), x, planes, c,
           y);
  } else {
    launch(plane_apply<T, 1>, over(div_up(p.elements(), kThreads), kThreads, stream), x,
           Planes(p, x, 1), c, y);
  }
}

template <class T, int Count>
void launch_column_moments(const Problem& p, const T* x, float* partials, std::int64_t parts,
                           Stream& stream) {
  const ColumnTiles tiles = column_tiles(p, Count);
  launch(column_moments<T, Count>,
         over(tiles.across, dim3(tiles.lanes, tiles.height), stream, parts), x, p.per_channel(),
         p.channels, partials);
}

template <class T>
void launch_plane_moments(const Problem& p, const T* x, float* partials, std::int64_t parts,
                          Stream& stream) {
  constexpr int kCount = kPackElements<T>;
  const Planes planes(p, x, kCount);
  launch(planes.whole ? plane_moments<T, kCount, true> : plane_moments<T, kCount, false>,
         over(p.channels, kThreads, stream, parts), x, planes, partials);
}

// nchw with short planes.
template <class T>
void find_statistics_by_columns(const Problem& p, const T* x, const Statistics& s, float* partials,
                                Variant variant, Stream& stream) {
  const Problem columns = as_columns(p);
  const std::int64_t count = parts(variant, dtype_of<T>, columns, kBlocksPerSm);
  launch_column_moments<T, kPackElements<T>>(columns, x, partials, count, stream);
  launch(finish_planes, over(p.channels, finish_warps(count) * kLanes, stream), partials, count,
         p.channels, p.spatial, s);
}

template <class T>
void find_statistics(const Problem& p, const T* x, const Statistics& s, float* partials,
                     Variant variant, Stream& stream) {
  constexpr int kCount = kPackElements<T>;
  if (variant == Variant::naive)
    return launch(naive_statistics<T>, over(div_up(p.channels, kThreads), kThreads, stream), x,
                  Strides(p), s);
  if (has_short_planes(dtype_of<T>, p) && is_aligned(x))
    return find_statistics_by_columns(p, x, s, partials, variant, stream);
  const std::int64_t count = parts(variant, dtype_of<T>, p, kBlocksPerSm);
  if (p.layout == Layout::nchw)
    launch_plane_moments(p, x, partials, count, stream);
  else if (p.channels % kCount == 0 && is_aligned(x))
    launch_column_moments<T, kCount>(p, x, partials, count, stream);
  else
    launch_column_moments<T, 1>(p, x, partials, count, stream);
  launch(finish_moments, over(div_up(p.channels, kLanes), finish_warps(count) * kLanes, stream),
         partials, count, p.channels, s);
}

// Argument checks of training and inference; returns whether there is work.
template <class T>
bool has_work(const Problem& p, const T* x, float epsilon, const T* y) {
  require_problem("batchnorm", p);
  require_epsilon("batchnorm", epsilon);
  if (p.elements() == 0) return false;
  require(x != nullptr, "batchnorm: x is null; pass device memory");
  require(y != nullptr, "batchnorm: y is null; pass device memory");
  require_same_or_apart("batchnorm: x", x, "y", y,
                        p.elements() * static_cast<std::int64_t>(sizeof(T)));
  return true;
}

} // namespace

std::size_t workspace_bytes(Variant variant, Dtype dtype, const Problem& problem) {
  return workspace_for(variant, dtype, problem, kBlocksPerSm, kMomentVectors);
}

template <class T>
Variant run_training(const Problem& problem, const T* x, const float* gamma, const float* beta,
                     float epsilon, const Running& running, T* y, float* mean, float* rstd,
                     void* workspace, Variant variant, Stream& stream) {
  variant = resolved(variant);
  require(running.momentum >= 0 && running.momentum <= 1, "batchnorm: momentum is " +
                                                              std::to_string(running.momentum) +
                                                              "; it must be from 0 to 1");
  require((running.mean == nullptr) == (running.variance == nullptr),
          "batchnorm: one running statistic is null and the other is not; pass both or none");
  if (!has_work(problem, x, epsilon, y)) return variant;
  require(mean != nullptr && rstd != nullptr,
          "batchnorm: mean or rstd is null; pass device memory for the batch's statistics");
  const std::size_t needed = workspace_bytes(variant, dtype_of<T>, problem);
  auto* const partials = static_cast<float*>(workspace);
  require(needed == 0 || (partials != nullptr && is_aligned(partials)),
          "batchnorm: workspace is null or not aligned; pass " + std::to_string(needed) +
              " bytes of device memory at a multiple of " + std::to_string(kPackBytes));
  const auto count = static_cast<float>(problem.per_channel());
  const Statistics s{mean,
                     rstd,
                     running.mean,
                     running.variance,
                     running.momentum,
                     epsilon,
                     count,
                     static_cast<float>(problem.per_channel() - 1)};
  find_statistics(problem, x, s, partials, variant, stream);
  apply(problem, x, {mean, rstd, gamma, beta, epsilon, false}, y, variant, stream);
  return variant;
}

template <class T>
Variant run_inference(const Problem& problem, const T* x, const float* gamma, const float* beta,
                      const float* running_mean, const float* running_variance, float epsilon, T* y,
                      Variant variant, Stream& stream) {
  variant = resolved(variant);
  if (!has_work(problem, x, epsilon, y)) return variant;
  require(running_mean != nullptr && running_variance != nullptr,
          "batchnorm: running_mean or running_variance is null; pass those of training");
  apply(problem, x, {running_mean, running_variance, gamma, beta, epsilon, true}, y, variant,
        stream);
  return variant;
}

template Variant run_training(const Problem&, const float*, const float*, const float*, float,
                              const Running&, float*, float*, float*, void*, Variant, Stream&);
template Variant run_training(const Problem&, const f16*, const float*, const float*, float,
                              const Running&, f16*, float*, float*, void*, Variant, Stream&);
template Variant run_training(const Problem&, const bf16*, const float*, const float*, float,
                              const Running&, bf16*, float*, float*, void*, Variant, Stream&);
template Variant run_inference(const Problem&, const float*, const float*, const float*,
                               const float*, const float*, float, float*, Variant, Stream&);
template Variant run_inference(const Problem&, const f16*, const float*, const float*, const float*,
                               const float*, float, f16*, Variant, Stream&);
template Variant run_inference(const Problem&, const bf16*, const float*, const float*,
                               const float*, const float*, float, bf16*, Variant, Stream&);

namespace {

// Per channel: the numbers that are read or written, and the written ones among them.
Work work(Dtype dtype, const Problem& problem, double numbers_per_channel,
          double written_per_channel, double flops_per_element) {
  const auto elements = static_cast<double>(problem.elements());
  const double tensor = elements * static_cast<double>(size_of(dtype));
  const double channels = static_cast<double>(problem.channels) * sizeof(float);
  return {.bytes = 2 * tensor + numbers_per_channel * channels,
          .written = tensor + written_per_channel * channels,
          .flops = flops_per_element * elements};
}

} // namespace

Work training_work(Dtype dtype, const Problem& problem) { return work(dtype, problem, 8, 4, 7); }
Work inference_work(Dtype dtype, const Problem& problem) { return work(dtype, problem, 4, 0, 3); }

} // namespace kg::batchnorm
