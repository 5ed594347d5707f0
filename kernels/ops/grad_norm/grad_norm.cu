// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read and one multiply-add per element. Expected on an H200: at least 92 % of memory bandwidth
// from 10^8 bytes on; below, the time of two launches.
//
// A block processes four chunks of 4096 elements. It loads all four chunk descriptors and tensors
// together, and then each chunk's vectors (64 bytes per thread in f32, 32 in 16 bits) before it
// adds the first. It stores one number, so that the last launch, a single block, reads 1/16,384 of
// the number of elements: 0.5 MB for 4 GB.
//
// Why not atomics, or a last block that finishes: the order, and so the bits, would change from run
// to run, or the counter would have to be cleared. Why f64 only in the last launch: it adds
// hundreds of numbers in sequence, few enough for any GPU's f64 rate.
#include "ops/grad_norm/grad_norm.h"

#include "primitives/block.h"
#include "primitives/pack.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace kg::grad_norm {

constexpr int kThreads = 256;
constexpr int kChunksPerBlock = 4;
constexpr int kLastThreads = 1024;
constexpr double kClipEpsilon = 1e-6; // PyTorch's

static_assert(kChain == kChunksPerBlock * kChunkElements / kThreads + kButterflySteps +
                            kThreads / kLanes - 1);

// Adds the squares of `count` elements, at most a chunk, to `sum`; Count per access if they are
// aligned and a whole chunk.
template <int Count, class T>
__device__ __forceinline__ float added_squares(const T* from, int count, float sum) {
  using Elements = Pack<T, Count>;
  constexpr int kPacks = kChunkElements / (kThreads * Count);
  const auto thread = static_cast<int>(threadIdx.x);
  const auto add = [&](float value) { sum = fmaf(value, value, sum); };
  if (count == kChunkElements && reinterpret_cast<std::uintptr_t>(from) % sizeof(Elements) == 0) {
    Elements x[kPacks];
    KG_UNROLL
    for (int l = 0; l < kPacks; ++l)
      x[l] = reinterpret_cast<const Elements*>(from)[l * kThreads + thread];
    KG_UNROLL
    for (int l = 0; l < kPacks; ++l) {
      KG_UNROLL
      for (int e = 0; e < Count; ++e) add(to_float(x[l].element[e]));
    }
  } else {
    for (int i = thread; i < count; i += kThreads) add(to_float(from[i]));
  }
  return sum;
}

template <class T, int Count>
__global__ void __launch_bounds__(kThreads)
    sum_squares(TensorList<Gradient<T>> list, float* partials) {
  __shared__ float of_warps[kThreads / kLanes];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kChunksPerBlock;
  const std::int64_t last = list.chunk_count - 1;
  const T* from[kChunksPerBlock];
  int count[kChunksPerBlock];
  KG_UNROLL
  for (int k = 0; k < kChunksPerBlock; ++k) { // no branches, so that all loads are in flight
    const Chunk chunk = list.chunks[first + k < last ? first + k : last];
    const Gradient<T> gradient = list.rows[chunk.row];
    const std::int64_t begin = chunk.number * kChunkElements;
    const std::int64_t left = first + k <= last ? gradient.size - begin : 0;
    from[k] = gradient.data + begin;
    count[k] = static_cast<int>(left < kChunkElements ? left : kChunkElements);
  }
  float sum = 0;
  KG_UNROLL
  for (int k = 0; k < kChunksPerBlock; ++k) sum = added_squares<Count>(from[k], count[k], sum);
  sum = block_sum(sum, of_warps);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

// Runs as a single block.
__global__ void __launch_bounds__(kLastThreads)
    finish(const float* partials, std::int64_t parts, const float* unscale, double limit,
           Results results) {
  __shared__ double sums[kLastThreads];
  const auto thread = static_cast<int>(threadIdx.x);
  double own = 0;
  for (std::int64_t i = thread; i < parts; i += kLastThreads)
    own += static_cast<double>(partials[i]);
  sums[thread] = own;
  for (int half = kLastThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) sums[thread] += sums[thread + half];
  }
  if (thread > 0) return;
  const double sum = sums[0];
  const double factor = unscale == nullptr ? 1 : static_cast<double>(*unscale);
  const double norm = fabs(factor) * sqrt(sum);
  double clip = limit / (norm + kClipEpsilon);
  if (clip > 1) clip = 1; // a NaN stays NaN
  *results.norm = static_cast<float>(norm);
  *results.scale = static_cast<float>(factor * clip);
  *results.found_inf = sum - sum == 0 ? 0 : 1;
}

namespace {

template <class T>
std::int64_t parts_of(const TensorList<Gradient<T>>& list) {
  return div_up(list.chunk_count, kChunksPerBlock);
}

template <class T>
void require_valid(std::span<const Gradient<T>> gradients, const Results& results) {
  require_elements("grad_norm: norm", results.norm, 1);
  require_elements("grad_norm: scale", results.scale, 1);
  require_elements("grad_norm: found_inf", results.found_inf, 1);
  constexpr std::int64_t kBytes = sizeof(float); // per result
  require_apart("grad_norm: norm", results.norm, kBytes, "scale", results.scale, kBytes);
  require_apart("grad_norm: norm", results.norm, kBytes, "found_inf", results.found_inf, kBytes);
  require_apart("grad_norm: scale", results.scale, kBytes, "found_inf", results.found_inf, kBytes);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Gradient<T>& gradient = gradients[i];
    const std::string what = "grad_norm: tensor " + std::to_string(i);
    require_elements(what, gradient.data, gradient.size);
    const std::int64_t bytes = gradient.size * static_cast<std::int64_t>(sizeof(T));
    if (bytes == 0) continue;
    require_apart(what, gradient.data, bytes, "norm", results.norm, kBytes);
    require_apart(what, gradient.data, bytes, "scale", results.scale, kBytes);
    require_apart(what, gradient.data, bytes, "found_inf", results.found_inf, kBytes);
  }
}

} // namespace

template <class T>
std::size_t table_bytes(std::span<const Gradient<T>> gradients) {
  std::int64_t chunks = 0;
  // Throws for invalid sizes before their use.
  const std::size_t list = tensor_list_bytes("grad_norm", gradients);
  for (const Gradient<T>& gradient : gradients) chunks += div_up(gradient.size, kChunkElements);
  return list + static_cast<std::size_t>(div_up(chunks, kChunksPerBlock)) * sizeof(float);
}

template <class T>
Table<T> make_table(std::span<const Gradient<T>> gradients, const Results& results, void* memory,
                    Stream& stream) {
  const std::size_t bytes = tensor_list_bytes("grad_norm", gradients);
  require_valid(gradients, results);
  const auto list = write_tensor_list("grad_norm", gradients, memory, stream);
  auto* const behind = static_cast<std::byte*>(memory) + bytes;
  return {list, bytes == 0 ? nullptr : reinterpret_cast<float*>(behind), results};
}

template <class T>
Variant run(const Table<T>& table, const float* unscale, double limit, Variant variant,
            Stream& stream) {
  require(limit >= 0, "grad_norm: the limit is " + std::to_string(limit) +
                          "; it must be at least 0, or infinite where nothing is to be clipped");
  variant = resolved(variant);
  const std::int64_t parts = parts_of(table.list);
  if (parts > 0)
    launch(variant == Variant::naive ? sum_squares<T, 1> : sum_squares<T, kPackElements<T>>,
           {.grid = grid_x(parts, "grad_norm: the elements", "make two tables"),
            .block = kThreads,
            .stream = &stream},
           table.list, table.partials);
  launch(finish, {.grid = 1, .block = kLastThreads, .stream = &stream},
         static_cast<const float*>(table.partials), parts, unscale, limit, table.results);
  return variant;
}

template <class T>
Work work(std::int64_t elements, bool unscaled) {
  const auto n = static_cast<double>(elements);
  constexpr double kWritten = 2 * sizeof(float) + sizeof(std::int32_t);
  return {.bytes = n * sizeof(T) + (unscaled ? sizeof(float) : 0) + kWritten,
          .written = kWritten,
          .flops = 2 * n};
}

template std::size_t table_bytes(std::span<const Gradient<float>>);
template std::size_t table_bytes(std::span<const Gradient<f16>>);
template std::size_t table_bytes(std::span<const Gradient<bf16>>);
template Table<float> make_table(std::span<const Gradient<float>>, const Results&, void*, Stream&);
template Table<f16> make_table(std::span<const Gradient<f16>>, const Results&, void*, Stream&);
template Table<bf16> make_table(std::span<const Gradient<bf16>>, const Results&, void*, Stream&);
template Variant run(const Table<float>&, const float*, double, Variant, Stream&);
template Variant run(const Table<f16>&, const float*, double, Variant, Stream&);
template Variant run(const Table<bf16>&, const float*, double, Variant, Stream&);
template Work work<float>(std::int64_t, bool);
template Work work<f16>(std::int64_t, bool);
template Work work<bf16>(std::int64_t, bool);

} // namespace kg::grad_norm
