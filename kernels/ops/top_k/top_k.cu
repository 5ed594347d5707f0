// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes: size_of(T) per element, size_of(T) + 4 per result. A row longer than kMostK is read once
// per 11 bits of its elements (16-bit types: twice), and once more to collect the chosen ones, by
// then from L2. Expected on an H200, with as many rows as multiprocessors: 45 % of memory bandwidth
// for 16-bit elements, by the bytes that must move. A single row occupies only one multiprocessor.
//
// An element and its index form one key (as in argmax), the largest first, so no two keys are
// equal. The chosen k keys then do not depend on any order, and atomics may collect them. Ties need
// no separate search: if the elements do not decide, the search continues with the bits of the
// indices. It ends as soon as all keys that share the bits so far are wanted.
//
// Why not sort: each pass of a radix sort moves every element, to write only k of them. Why one
// block per row: blocks that share a row would have to wait for each other in each pass. This would
// pay only for few rows, and decoding batches have dozens.
#include "ops/top_k/top_k.h"

#include "ops/argmax/largest_first.h"
#include "primitives/pack_rows.h"
#include "primitives/scan.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

namespace kg::top_k {

using Key = unsigned long long;

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / kLanes;
// Packs that a thread has in flight together, 16 elements: the keys of 32 would exceed its
// registers.
template <class T>
constexpr int kRows = sizeof(T);
constexpr int kDigitBits = 11;
constexpr int kDigits = 1 << kDigitBits;
constexpr int kOwn = kDigits / kThreads; // digits per thread, read in one 16-byte access

// The upper bits of an element as f32 that distinguish it from others. f16 needs a sign, 8 exponent
// bits and 10 fraction bits, since its subnormals are normal numbers in f32.
template <class T>
constexpr int kValueBits = 32;
template <>
constexpr int kValueBits<f16> = 19;
template <>
constexpr int kValueBits<bf16> = 16;

// The key that orders the elements of a row: kValueBits bits of the element, then the inverted bits
// of its index, so that lower indices are larger. No key is 0, since that of -inf is not.
template <class T>
__device__ __forceinline__ Key key_of(T element, std::int64_t index, int index_bits) {
  const Key key = argmax::LargestFirst().from(element, index);
  return key >> (64 - kValueBits<T>) << index_bits | (key & ((Key{1} << index_bits) - 1));
}
__device__ __forceinline__ std::int64_t index_of(Key key, int index_bits) {
  return static_cast<std::int64_t>(~key & ((Key{1} << index_bits) - 1));
}

// One thread per element.
template <class T>
__global__ void __launch_bounds__(kThreads)
    naive(const T* x, T* values, std::int32_t* indices, Problem p) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= p.rows * p.cols) return;
  const std::int64_t row = i / p.cols, own = i % p.cols;
  const T* const from = x + row * p.cols;
  const Key key = argmax::LargestFirst().from(from[own], own);
  std::int64_t before = 0;
  for (std::int64_t other = 0; other < p.cols; ++other)
    if (argmax::LargestFirst().from(from[other], other) > key) ++before;
  if (before >= p.k) return;
  const T element = from[own];
  values[row * p.k + before] = element;
  indices[row * p.k + before] = static_cast<std::int32_t>(own);
}

// Sorts `count` keys, a power of two, in shared memory in descending order (Batcher, "Sorting
// Networks and Their Applications", 1968). All threads must call, after a barrier.
__device__ inline void sort_descending(Key* keys, int count) {
  for (int run = 2; run <= count; run *= 2)
    for (int step = run / 2; step > 0; step /= 2) {
      for (int i = static_cast<int>(threadIdx.x); i < count / 2;
           i += static_cast<int>(blockDim.x)) {
        const int lower = 2 * i - (i & (step - 1));
        const Key a = keys[lower], b = keys[lower + step];
        if ((a < b) == ((lower & run) == 0)) {
          keys[lower] = b;
          keys[lower + step] = a;
        }
      }
      __syncthreads();
    }
}

// Writes the results of the block's row. Elements are read again, since the keys of zeros and NaN
// do not contain their bits.
template <class T>
__device__ __forceinline__ void write_results(const Key* keys, const T* from, T* values,
                                              std::int32_t* indices, const Problem& p,
                                              int index_bits) {
  const std::int64_t first = blockIdx.x * p.k;
  for (std::int64_t i = threadIdx.x; i < p.k; i += blockDim.x) {
    const Key key = keys[i];
    const std::int64_t index = index_of(key, index_bits);
    const T element = from[index];
    values[first + i] = element;
    indices[first + i] = static_cast<std::int32_t>(index);
  }
}

// For rows of up to kMostK elements; `count` is the next power of two.
template <class T>
__global__ void __launch_bounds__(kThreads, 2)
    short_rows(const T* x, T* values, std::int32_t* indices, Problem p, int index_bits, int count) {
  Key* const keys = dynamic_shared<Key>();
  const T* const from = x + blockIdx.x * p.cols;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    Key key = 0;
    if (i < p.cols) key = key_of(from[i], i, index_bits);
    keys[i] = key;
  }
  __syncthreads();
  sort_descending(keys, count);
  write_results(keys, from, values, indices, p, index_bits);
}

// Calls use(key) for each element of the row.
template <class T, class Use>
__device__ __forceinline__ void each_key(const T* from, std::int64_t cols, int index_bits,
                                         bool aligned, Use use) {
  constexpr int kCount = kPackElements<T>;
  constexpr int kOwnRows = kRows<T>;
  constexpr std::int64_t kOfWarp = kOwnRows * kRowStep<kCount>;
  const auto warp = static_cast<std::int64_t>(threadIdx.x / kLanes);
  for (std::int64_t of_warp = warp * kOfWarp; of_warp < cols; of_warp += kWarps * kOfWarp) {
    const std::int64_t first = of_warp + static_cast<int>(threadIdx.x % kLanes) * kCount;
    const std::int64_t left = cols - first;
    Pack<T, kCount> element[kOwnRows];
    load_rows(from + first, left, aligned, from_float<T>(0.0F), element);
    KG_UNROLL
    for (int r = 0; r < kOwnRows; ++r) {
      KG_UNROLL
      for (int e = 0; e < kCount; ++e) {
        const int at = r * kRowStep<kCount> + e;
        if (at < left) use(key_of(element[r].element[e], first + at, index_bits));
      }
    }
  }
}

// Where the search continues.
struct Bucket {
  unsigned digit;
  unsigned above; // keys with a larger digit
  unsigned count; // keys with this digit
};

// Finds the digit of the `wanted`-th largest counted key, numbered from 1. All threads must call,
// after a barrier; `scratch` holds kWarps words.
__device__ inline void find_bucket(const unsigned* counts, unsigned wanted, unsigned* scratch,
                                   Bucket* found) {
  const auto thread = static_cast<int>(threadIdx.x);
  const int first = kDigits - (thread + 1) * kOwn;
  const Pack<unsigned, kOwn> own = *reinterpret_cast<const Pack<unsigned, kOwn>*>(counts + first);
  unsigned all = 0;
  KG_UNROLL
  for (int d = 0; d < kOwn; ++d) all += own.element[d];
  const WarpScan<unsigned> row = warp_scan_below<Sum<unsigned>>(all);
  if (thread % kLanes == 0) scratch[thread / kLanes] = row.all;
  __syncthreads();
  unsigned above = row.below;
  for (int w = 0; w < thread / kLanes; ++w) above += scratch[w];
  KG_UNROLL
  for (int d = kOwn - 1; d >= 0; --d) {
    const unsigned count = own.element[d];
    if (above < wanted && wanted <= above + count)
      *found = {static_cast<unsigned>(first + d), above, count};
    above += count;
  }
  __syncthreads();
}

// For longer rows.
template <class T>
__global__ void __launch_bounds__(kThreads, 2)
    radix(const T* x, T* values, std::int32_t* indices, Problem p, int index_bits, bool aligned) {
  __shared__ Pack<unsigned, kOwn> of_threads[kThreads]; // counts of the digits
  __shared__ Key chosen[kMostK];
  __shared__ unsigned scratch[kWarps];
  __shared__ Bucket bucket;
  __shared__ unsigned taken;
  auto* const counts = reinterpret_cast<unsigned*>(of_threads);
  const auto thread = static_cast<int>(threadIdx.x);
  const T* const from = x + blockIdx.x * p.cols;
  Key least = 0; // the bits known so far of the smallest chosen key
  int unknown = kValueBits<T> + index_bits;
  auto wanted = static_cast<unsigned>(p.k); // keys to choose among those with these bits
  unsigned there = 0;
  if (thread == 0) taken = 0;
  do {
    const int shift = unknown > kDigitBits ? unknown - kDigitBits : 0;
    for (int digit = thread; digit < kDigits; digit += kThreads) counts[digit] = 0;
    __syncthreads();
    each_key(from, p.cols, index_bits, aligned, [&](Key key) {
      const auto differs = (key ^ least) >> shift;
      if (differs >> (unknown - shift) == 0) atomicAdd(counts + differs, 1u); // least has 0 there
    });
    __syncthreads();
    find_bucket(counts, wanted, scratch, &bucket);
    const Bucket found = bucket;
    least |= Key{found.digit} << shift;
    wanted -= found.above;
    there = found.count;
    unknown = shift;
  } while (there != wanted && unknown > 0);

  each_key(from, p.cols, index_bits, aligned, [&](Key key) {
    if (key >= least) chosen[atomicAdd(&taken, 1u)] = key;
  });
  int count = 1;
  while (count < p.k) count *= 2;
  for (int i = static_cast<int>(p.k) + thread; i < count; i += kThreads) chosen[i] = 0;
  __syncthreads();
  sort_descending(chosen, count);
  write_results(chosen, from, values, indices, p, index_bits);
}

namespace {

template <class T>
void launch_radix(const Problem& p, const T* x, T* values, std::int32_t* indices, Stream& stream) {
  const auto grid = static_cast<unsigned>(p.rows);
  const int index_bits = std::bit_width(static_cast<std::uint64_t>(p.cols - 1));
  if (p.cols > kMostK) {
    const bool aligned = is_aligned(x) && (p.rows == 1 || p.cols % kPackElements<T> == 0);
    return launch(radix<T>, {.grid = grid, .block = kThreads, .stream = &stream}, x, values,
                  indices, p, index_bits, aligned);
  }
  const int count = 1 << index_bits;
  const auto threads = static_cast<unsigned>(std::clamp(count / 2, kLanes, kThreads));
  launch(short_rows<T>,
         {.grid = grid,
          .block = threads,
          .shared_bytes = static_cast<std::size_t>(count) * sizeof(Key),
          .stream = &stream},
         x, values, indices, p, index_bits, count);
}

} // namespace

template <class T>
Variant run(const Problem& problem, const T* x, T* values, std::int32_t* indices, Variant variant,
            Stream& stream) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  variant = resolved(variant);
  const auto [rows, cols, k] = problem;
  require_extent("top_k: rows", rows);
  require_extent("top_k: cols", cols);
  require(rows <= kMost && cols <= kMost, "top_k: rows and cols are " + std::to_string(rows) +
                                              " and " + std::to_string(cols) +
                                              "; they must be at most 2^31 - 1");
  require(k >= 1 && k <= cols && k <= kMostK, "top_k: k is " + std::to_string(k) +
                                                  "; it must be from 1 to cols and " +
                                                  std::to_string(kMostK));
  require_elements("top_k: x", x, rows * cols);
  require_elements("top_k: values", values, rows * k);
  require_elements("top_k: indices", indices, rows * k);
  if (rows == 0) return variant;
  const auto size = static_cast<std::int64_t>(sizeof(T));
  require_apart("top_k: x", x, rows * cols * size, "values", values, rows * k * size);
  require_apart("top_k: x", x, rows * cols * size, "indices", indices, rows * k * 4);
  require_apart("top_k: values", values, rows * k * size, "indices", indices, rows * k * 4);
  if (variant == Variant::radix) {
    launch_radix(problem, x, values, indices, stream);
    return variant;
  }
  const unsigned grid =
      grid_x(div_up(rows * cols, kThreads), "top_k: the elements", "ask for radix");
  launch(naive<T>, {.grid = grid, .block = kThreads, .stream = &stream}, x, values, indices,
         problem);
  return variant;
}

template <class T>
Work work(const Problem& problem) {
  const auto [rows, cols, k] = problem;
  const double written = static_cast<double>(rows * k) * (sizeof(T) + sizeof(std::int32_t));
  return {.bytes = static_cast<double>(rows * cols) * sizeof(T) + written,
          .written = written,
          .flops = 0};
}

template Variant run(const Problem&, const float*, float*, std::int32_t*, Variant, Stream&);
template Variant run(const Problem&, const f16*, f16*, std::int32_t*, Variant, Stream&);
template Variant run(const Problem&, const bf16*, bf16*, std::int32_t*, Variant, Stream&);
template Work work<float>(const Problem&);
template Work work<f16>(const Problem&);
template Work work<bf16>(const Problem&);

} // namespace kg::top_k
