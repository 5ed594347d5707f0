// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes: a key and a value per element, the same per run; flops: one operation per element. nvcc
// 13.0's code takes 110 to 140 of the 252 instructions that an H200 issues while memory moves a
// KiB. A tile's round trips are serialized: its number, its elements, the look-back, six or seven
// in all. On average 17 to 24 KiB per multiprocessor are in flight, enough for copy bandwidth
// (modelled). Expected on an H200: 88 % of copy bandwidth from 10^8 bytes on if runs are long. If
// they are short, a tile's results begin anywhere, so their first and last sectors are written in
// two parts.
//
// A segmented scan carries a number and whether a segment began (Blelloch, "Prefix Sums and Their
// Applications", 1990, 1.5). Here it carries the number of segments that began, so one scan gives
// both the results and their positions. An element that begins a run has the result of the previous
// run as its exclusive prefix, and stores it. A tile's keys and results are compacted in shared
// memory first, as in select.
//
// Why one pass with look-back: finding the runs first and reducing each afterwards reads the keys
// twice and leaves long runs to few threads. Why minima are maxima of inverted bits: this saves
// three kernels per type of key.
#include "ops/reduce_by_key/reduce_by_key.h"

#include "ops/scan/functors.h"
#include "primitives/look_back.h"
#include "primitives/pack_rows.h"
#include "primitives/runs.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <limits>
#include <string>
#include <type_traits>

namespace kg::reduce_by_key {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;
constexpr int items_of(std::size_t key_bytes) { return key_bytes == 8 ? 8 : 16; } // per thread

// Keeps the first value. identity() is not neutral and need not be: a value that it was combined
// with is used only at the beginning of a run, where the combination ignores it.
struct First {
  using Value = unsigned;
  __device__ static Value identity() { return 0; }
  __device__ static Value combine(Value a, Value) { return a; }
};

// The reduction of adjacent elements: the result of the last run among them, and the number of runs
// that begin there.
template <class F>
struct ByKey {
  using Number = typename F::Value;
  struct Value {
    Number number;
    unsigned runs;
  };
  __device__ __forceinline__ static Value identity() { return {F::identity(), 0}; }
  __device__ __forceinline__ static Value combine(const Value& a, const Value& b) {
    return {b.runs != 0 ? b.number : F::combine(a.number, b.number), a.runs + b.runs};
  }
  __device__ __forceinline__ static Value from(Number element, bool begins) {
    if constexpr (!std::is_same_v<F, First>) element = F::combine(F::identity(), element);
    return {element, begins ? 1u : 0u};
  }
};

template <class F>
using Number = typename F::Value;

// Inverts the bits of `flip`: all bits of an integer, the sign of a float. The largest number
// becomes the smallest.
template <class V>
__device__ __forceinline__ V turned(V number, unsigned flip) {
  if constexpr (std::is_same_v<V, float>)
    return __uint_as_float(__float_as_uint(number) ^ flip);
  else
    return static_cast<V>(static_cast<unsigned>(number) ^ flip);
}

template <class Key, class V>
struct ArraysOf {
  const Key* keys;
  const V* values;
  Key* unique;
  V* results;
  std::int32_t* count;
};

// Writes the result of the last run, which no other run follows, and the number of runs.
template <class Key, class F>
__device__ __forceinline__ void finish(const ArraysOf<Key, Number<F>>& arrays, unsigned flip,
                                       const typename ByKey<F>::Value& all) {
  if (all.runs > 0) arrays.results[all.runs - 1] = turned(all.number, flip);
  *arrays.count = static_cast<std::int32_t>(all.runs);
}

// 256 elements at a time.
template <class Key, class F>
__global__ void __launch_bounds__(kThreads)
    naive(ArraysOf<Key, Number<F>> arrays, std::int64_t n, unsigned flip) {
  using R = ByKey<F>;
  using Value = typename R::Value;
  __shared__ Value of_warps[kWarps];
  const auto thread = static_cast<int>(threadIdx.x);
  Value before = R::identity();
  for (std::int64_t first = 0; first < n; first += kThreads) {
    const std::int64_t i = first + thread;
    Value own = R::identity();
    if (i < n) own = R::from(turned(arrays.values[i], flip), begins_run(arrays.keys, i));
    const WarpScan<Value> row = warp_scan_below<R>(own);
    if (thread % kLanes == 0) of_warps[thread / kLanes] = row.all;
    __syncthreads();
    Value below = before;
    for (int w = 0; w < kWarps; ++w) {
      if (w == thread / kLanes) below = before;
      const Value other = of_warps[w];
      before = R::combine(before, other);
    }
    const Value previous = R::combine(below, row.below);
    if (own.runs != 0) {
      const Key key = arrays.keys[i];
      arrays.unique[previous.runs] = key;
      if (i > 0) arrays.results[previous.runs - 1] = turned(previous.number, flip);
    }
    __syncthreads();
  }
  if (thread == 0) finish<Key, F>(arrays, flip, before);
}

// Which arrays are aligned for their packs.
struct Aligned {
  bool keys, values;
};

template <class Key, class F>
__global__ void __launch_bounds__(kThreads, 3)
    look_back(ArraysOf<Key, Number<F>> arrays, std::int64_t n, unsigned flip, Aligned aligned,
              LookBack state) {
  using R = ByKey<F>;
  using Value = typename R::Value;
  constexpr int kCount = kPackElements<Key>;
  constexpr int kItems = items_of(sizeof(Key));
  constexpr int kRows = kItems / kCount; // per warp
  constexpr int kOfWarp = kLanes * kItems;
  __shared__ LookBackScratch<R> scratch;
  __shared__ Key begun[kWarps * kOfWarp];       // keys of the runs that begin in the tile
  __shared__ Number<F> ended[kWarps * kOfWarp]; // results of the runs before each of them
  const std::int64_t tile = take_tile(state, scratch);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  const std::int64_t first = tile * (kWarps * kOfWarp) + warp * kOfWarp + lane * kCount;
  const std::int64_t left = n - first;

  StoredPack<Key, kCount> key[kRows];
  load_rows(arrays.keys + first, left, aligned.keys, Key{0}, key);
  Pack<Number<F>, kCount> value[kRows]; // neutral values beyond the end
  load_rows(arrays.values + first, left, aligned.values, turned(F::identity(), flip), value);
  unsigned begins[kRows]; // one bit per element of a pack
  const Key before = before_warp(arrays.keys, first, n);
  find_runs(before, first, n, key, begins);
  const auto is_first = [&](int r, int e) { return (begins[r] >> e & 1u) != 0; };
  const auto item = [&](int r, int e) {
    return R::from(turned(value[r].element[e], flip), is_first(r, e));
  };

  const PackScan<Value, kRows> of_warp = warp_scan_packs<R, kRows, kCount>(item);
  const TilePlace<Value> place = place_of_warp<R, kWarps>(state, tile, of_warp.all, scratch);
  const Value start = R::combine(place.before_tile, place.before_warp);
  const unsigned runs_before = place.before_tile.runs;

  KG_UNROLL
  for (int r = 0; r < kRows; ++r) {
    Value previous = R::combine(start, of_warp.before[r]);
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) {
      if (is_first(r, e)) {
        const unsigned at = previous.runs - runs_before;
        const Key own = element_of(key[r], e);
        begun[at] = own;
        ended[at] = turned(previous.number, flip);
      }
      previous = R::combine(previous, item(r, e));
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < place.of_tile.runs; i += kThreads) {
    const Key own = begun[i];
    const Number<F> result = ended[i];
    arrays.unique[runs_before + i] = own;
    if (runs_before + i > 0) arrays.results[runs_before + i - 1] = result; // none before the first
  }
  if (tile + 1 == state.tiles && threadIdx.x == 0)
    finish<Key, F>(arrays, flip, R::combine(place.before_tile, place.of_tile));
}

namespace {

// At least one, which writes the count.
std::int64_t tiles_of(const Problem& problem) {
  const int tile = kThreads * items_of(problem.key_bytes);
  return problem.n > tile ? div_up(problem.n, tile) : 1;
}

template <class Key, class F>
void launch_variant(const Problem& problem, const Arrays& arrays, unsigned flip, void* workspace,
                    Variant variant, Stream& stream) {
  const ArraysOf<Key, Number<F>> of{
      static_cast<const Key*>(arrays.keys), static_cast<const Number<F>*>(arrays.values),
      static_cast<Key*>(arrays.unique), static_cast<Number<F>*>(arrays.results), arrays.count};
  if (variant == Variant::naive)
    return launch(naive<Key, F>, {.grid = 1, .block = kThreads, .stream = &stream}, of, problem.n,
                  flip);
  const std::int64_t tiles = tiles_of(problem);
  const LookBack state = begin_look_back(workspace, tiles, stream);
  launch(look_back<Key, F>,
         {.grid = static_cast<unsigned>(tiles), .block = kThreads, .stream = &stream}, of,
         problem.n, flip,
         Aligned{is_aligned(of.keys), lies_in_packs<kPackElements<Key>>(of.values)}, state);
}

template <class Key>
void launch_operation(const Problem& problem, const Arrays& arrays, void* workspace,
                      Variant variant, Stream& stream) {
  const auto with = [&]<class F>(F, unsigned flip) {
    launch_variant<Key, F>(problem, arrays, flip, workspace, variant, stream);
  };
  const bool floats = problem.dtype == Dtype::f32;
  switch (problem.op) {
  case Op::first: return with(First{}, 0u);
  case Op::sum: return floats ? with(Sum<float>{}, 0u) : with(Sum<unsigned>{}, 0u);
  case Op::min:
  case Op::max: break;
  }
  const bool least = problem.op == Op::min;
  if (floats) return with(scan::Max<float>{}, least ? 1u << 31 : 0u);
  with(scan::Max<int>{}, least ? ~0u : 0u);
}

// Throws Error if an output overlaps any other array.
void require_all_apart(const Problem& problem, const Arrays& arrays) {
  const std::int64_t keys = problem.n * static_cast<std::int64_t>(problem.key_bytes);
  const std::int64_t values = problem.n * 4;
  struct {
    const char* name;
    const void* data;
    std::int64_t bytes;
  } const all[] = {{"keys", arrays.keys, keys},
                   {"values", arrays.values, values},
                   {"unique", arrays.unique, keys},
                   {"results", arrays.results, values},
                   {"count", arrays.count, sizeof *arrays.count}};
  for (int to = 2; to < 5; ++to)
    for (int from = 0; from < to; ++from)
      require_apart(std::string("reduce_by_key: ").append(all[from].name), all[from].data,
                    all[from].bytes, all[to].name, all[to].data, all[to].bytes);
}

} // namespace

std::size_t workspace_bytes(const Problem& problem, Variant variant) {
  return resolved(variant) == Variant::naive ? 0 : look_back_bytes(tiles_of(problem));
}

Variant run(const Problem& problem, const Arrays& arrays, void* workspace, Variant variant,
            Stream& stream) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  variant = resolved(variant);
  const std::int64_t n = problem.n;
  require_extent("reduce_by_key: n", n);
  require(n <= kMost, "reduce_by_key: n is " + std::to_string(n) + "; it must be at most 2^31 - 1");
  require(problem.key_bytes == 4 || problem.key_bytes == 8, "reduce_by_key: keys have " +
                                                                std::to_string(problem.key_bytes) +
                                                                " bytes; they must have 4 or 8");
  require(problem.dtype == Dtype::f32 || problem.dtype == Dtype::i32,
          "reduce_by_key: values are of " + std::string(kg::name(problem.dtype)) +
              "; they must be of f32 or i32");
  require_elements("reduce_by_key: keys", arrays.keys, n);
  require_elements("reduce_by_key: values", arrays.values, n);
  require_elements("reduce_by_key: unique", arrays.unique, n);
  require_elements("reduce_by_key: results", arrays.results, n);
  require_elements("reduce_by_key: count", arrays.count, 1);
  if (n > 0) require_all_apart(problem, arrays);
  const std::size_t needed = workspace_bytes(problem, variant);
  require(needed == 0 || workspace != nullptr,
          "reduce_by_key: workspace is null; pass workspace_bytes() = " + std::to_string(needed) +
              " bytes of device memory");
  if (problem.key_bytes == 4)
    launch_operation<std::uint32_t>(problem, arrays, workspace, variant, stream);
  else
    launch_operation<std::uint64_t>(problem, arrays, workspace, variant, stream);
  return variant;
}

std::int64_t chain(const Problem& problem, Variant variant) {
  // A warp's lanes, and the warps of this round and of earlier rounds.
  if (resolved(variant) == Variant::naive)
    return 1 + kButterflySteps + kWarps * div_up(problem.n, kThreads) + 1;
  // A pack's elements, a warp's lanes and rows, its warps, other tiles; and elements of the result.
  const int items = items_of(problem.key_bytes);
  const auto pack = static_cast<int>(16 / problem.key_bytes);
  return 1 + pack + kButterflySteps + items / pack + kWarps + look_back_chain(tiles_of(problem)) +
         2 + pack;
}

Work work(const Problem& problem, std::int64_t runs) {
  const auto pair = static_cast<double>(problem.key_bytes + 4);
  const double written = pair * static_cast<double>(runs) + sizeof(std::int32_t);
  const auto elements = static_cast<double>(problem.n);
  return {.bytes = pair * elements + written,
          .written = written,
          .flops = problem.op == Op::first ? 0 : elements};
}

} // namespace kg::reduce_by_key
