// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes: 2 size_of(T) per element, 1 more with heads; flops: one operation per element. Expected on
// an H200: 92 % of memory bandwidth from 10^8 bytes on: copy bandwidth, reduced by the wait of the
// first tiles.
//
// A tile is 256 threads x 16 elements. A warp reads rows of 512 bytes, 4 for f32 and 2 for 16 bits,
// so all accesses are coalesced. If each thread had contiguous elements, they would have to be
// transposed in shared memory. The price is one warp scan per row instead of one in all: 20
// shuffles per 16 elements of f32. At memory bandwidth, these use about 3 of the 32 lanes that a
// multiprocessor shuffles per cycle.
//
// Why look-back also for floats: its tree is fixed (look_back.h). Reducing first and scanning
// afterwards reads everything twice: 3 memory passes instead of 2.
//
// Why unaligned arrays are accessed element by element, each array independently: aligning them (by
// shuffles or a transpose in shared memory) would slow down all cases. A warp then requests the
// same sectors four times or more, which hit L1.
//
// Offsets are first converted to heads, which writes and reads one byte per element: 10 bytes
// instead of 8 for f32. Why not in the scan itself: each tile would first search the offsets, in
// some twenty dependent reads.
#include "ops/scan/scan.h"

#include "ops/scan/functors.h"
#include "ops/scan/pipelined.h"
#include "primitives/look_back.h"
#include "primitives/pack_rows.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

namespace kg::scan {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;
constexpr int kItems = 16; // per thread
constexpr std::int64_t kTile = kThreads * kItems;

// Hillis and Steele's scan of 256 elements at a time in two buffers, after the prefix before them.
template <class F, class T>
__global__ void __launch_bounds__(kThreads)
    naive(const T* x, const std::int8_t* heads, T* y, std::int64_t n, bool exclusive) {
  using Value = typename F::Value;
  __shared__ Value buffer[2][kThreads];
  const auto thread = static_cast<int>(threadIdx.x);
  Value before = F::identity();
  for (std::int64_t first = 0; first < n; first += kThreads) {
    const std::int64_t i = first + thread;
    bool head = false;
    Value own = F::identity();
    if (i < n) {
      if constexpr (F::kSegmented) head = heads[i] != 0;
      own = F::from(x[i], head);
    }
    int from = 0;
    buffer[0][thread] = own;
    for (int step = 1; step < kThreads; step *= 2) {
      __syncthreads();
      Value value = buffer[from][thread];
      if (thread >= step) {
        const Value below = buffer[from][thread - step];
        value = F::combine(below, value);
      }
      from = 1 - from;
      buffer[from][thread] = value;
    }
    __syncthreads();
    Value through = buffer[from][thread];
    const Value all = buffer[from][kThreads - 1];
    if (exclusive) {
      through = F::identity();
      if (thread > 0) through = buffer[from][thread - 1];
    }
    Value result = F::combine(before, through);
    if (exclusive && head) result = F::identity();
    if (i < n) {
      const T stored = narrowed<T>(F::number(result));
      y[i] = stored;
    }
    before = F::combine(before, all);
    __syncthreads();
  }
}

// Which arrays are aligned for their packs.
struct Aligned {
  bool x, heads, y;
};

// Four blocks leave 64 registers per thread; heads with 32-bit elements need more.
template <class F, class T>
__global__ void __launch_bounds__(kThreads, F::kSegmented && sizeof(T) == 4 ? 3 : 4)
    look_back(const T* x, const std::int8_t* heads, T* y, std::int64_t n, bool exclusive,
              Aligned aligned, LookBack state) {
  using Value = typename F::Value;
  constexpr int kCount = kPackElements<T>;
  constexpr int kRows = kItems / kCount; // per warp
  __shared__ LookBackScratch<F> scratch;
  const std::int64_t tile = take_tile(state, scratch);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  const std::int64_t first = tile * kTile + warp * (kLanes * kItems) + lane * kCount;
  const std::int64_t left = n - first;

  Pack<T, kCount> element[kRows];
  load_rows(x + first, left, aligned.x, narrowed<T>(F::number(F::identity())), element);
  unsigned begins[kRows] = {}; // one bit per element of a pack
  if constexpr (F::kSegmented) {
    Pack<std::int8_t, kCount> head[kRows];
    load_rows(heads + first, left, aligned.heads, std::int8_t{0}, head);
    KG_UNROLL
    for (int r = 0; r < kRows; ++r) begins[r] = bits_of(head[r]);
  }
  const auto is_head = [&](int r, int e) { return (begins[r] >> e & 1u) != 0; };
  const auto item = [&](int r, int e) { return F::from(element[r].element[e], is_head(r, e)); };

  const PackScan<Value, kRows> of_warp = warp_scan_packs<F, kRows, kCount>(item);
  const TilePlace<Value> place = place_of_warp<F, kWarps>(state, tile, of_warp.all, scratch);
  const Value start = F::combine(place.before_tile, place.before_warp);

  KG_UNROLL
  for (int r = 0; r < kRows; ++r) {
    Value sum = F::combine(start, of_warp.before[r]);
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) {
      const Value without = is_head(r, e) ? F::identity() : sum;
      sum = F::combine(sum, item(r, e));
      element[r].element[e] = narrowed<T>(F::number(exclusive ? without : sum));
    }
  }
  store_rows(y + first, left, aligned.y, element);
}

// Marks where segments begin; heads must be clear. Empty segments, which begin where another one
// does or at the end, have no mark.
__global__ void __launch_bounds__(kThreads) mark_heads(Segments segments, std::int8_t* heads) {
  const std::int64_t s = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (s >= segments.count) return;
  const std::int32_t begins = segments.offsets[s], ends = segments.offsets[s + 1];
  if (begins < ends) heads[begins] = 1;
}

namespace {

constexpr std::int64_t tiles_of(std::int64_t n) { return div_up(n, kTile); }

constexpr std::int64_t kMost = std::int64_t{1} << 40; // 2^28 tiles, which fit into a grid

template <class F, class T>
void launch_variant(const Problem& problem, const T* x, const std::int8_t* heads, T* y,
                    void* workspace, Variant variant, Stream& stream) {
  const bool exclusive = problem.kind == Kind::exclusive;
  if (variant == Variant::naive)
    return launch(naive<F, T>, {.grid = 1, .block = kThreads, .stream = &stream}, x, heads, y,
                  problem.n, exclusive);
  const std::int64_t tiles = tiles_of(problem.n);
  const LookBack state = begin_look_back(workspace, tiles, stream);
  launch(look_back<F, T>,
         {.grid = static_cast<unsigned>(tiles), .block = kThreads, .stream = &stream}, x, heads, y,
         problem.n, exclusive,
         Aligned{is_aligned(x), lies_in_packs<kPackElements<T>>(heads), is_aligned(y)}, state);
}

template <template <class> class Lifted, class T>
void launch_operation(const Problem& problem, const T* x, const std::int8_t* heads, T* y,
                      void* workspace, Variant variant, Stream& stream) {
  constexpr bool kInteger = std::is_same_v<T, std::int32_t>;
  using Summed = std::conditional_t<kInteger, unsigned, float>;
  using Compared = std::conditional_t<kInteger, int, float>;
  if (problem.op == Op::sum)
    launch_variant<Lifted<Sum<Summed>>>(problem, x, heads, y, workspace, variant, stream);
  else
    launch_variant<Lifted<Max<Compared>>>(problem, x, heads, y, workspace, variant, stream);
}

// Enqueues a scan of valid arguments.
template <class T>
void launch_scan(const Problem& problem, const T* x, const std::int8_t* heads, T* y,
                 void* workspace, Variant variant, Stream& stream) {
  if (variant == Variant::pipelined && pipelined_fits(problem, x, y))
    return run_pipelined(problem, x, y, workspace, stream);
  if (heads != nullptr)
    launch_operation<Segmented>(problem, x, heads, y, workspace, variant, stream);
  else
    launch_operation<Whole>(problem, x, heads, y, workspace, variant, stream);
}

// Bytes of x and y.
template <class T>
std::int64_t require_arrays(const Problem& problem, const T* x, const T* y) {
  const std::int64_t n = problem.n, bytes = n * static_cast<std::int64_t>(sizeof(T));
  require_extent("scan: n", n);
  require(n <= kMost, "scan: n is " + std::to_string(n) + "; it must be at most 2^40");
  require_elements("scan: x", x, n);
  require_elements("scan: y", y, n);
  if (n > 0) require_same_or_apart("scan: x", x, "y", y, bytes);
  return bytes;
}

void require_workspace(const char* function, std::size_t needed, const void* workspace) {
  require(needed == 0 || workspace != nullptr,
          "scan: workspace is null; pass " + std::string(function).append("() = ") +
              std::to_string(needed) + " bytes of device memory");
}

// The variant that runs: pipelined only if the arrays fit, unless the caller asks for it.
template <class T>
Variant variant_of(const Problem& problem, const T* x, const T* y, Variant variant) {
  require(supports(variant), "scan: no variant " + std::string(name(variant)) +
                                 " on this device; use automatic or look_back");
  if (variant == Variant::automatic && !pipelined_fits(problem, x, y)) return Variant::look_back;
  return resolved<T>(problem, variant);
}

constexpr std::int64_t words_of_heads(std::int64_t n) { return div_up(n, 16) * 2; }

} // namespace

bool supports(Variant variant) {
  return variant != Variant::pipelined || !device_unavailable_reason().empty() ||
         device_properties().compute_major == 9;
}

template <class T>
Variant resolved(const Problem& problem, Variant variant) {
  if (variant != Variant::automatic) return variant;
  const bool pays = !problem.segmented && supports(Variant::pipelined) &&
                    pipelined_pays(div_up(problem.n, kPipelinedTile<T>));
  return pays ? Variant::pipelined : Variant::look_back;
}

// pipelined's tiles are larger, so look_back's state is enough for both.
template <class T>
std::size_t workspace_bytes(std::int64_t n, Variant variant) {
  static_assert(kPipelinedTile<T> >= kTile);
  return variant == Variant::naive ? 0 : look_back_bytes(tiles_of(n));
}

template <class T>
Variant run(const Problem& problem, const T* x, const std::int8_t* heads, T* y, void* workspace,
            Variant variant, Stream& stream) {
  variant = variant_of(problem, x, y, variant);
  const std::int64_t n = problem.n, bytes = require_arrays(problem, x, y);
  if (n == 0) return variant;
  if (problem.segmented) {
    require_elements("scan: heads", heads, n);
    require_apart("scan: heads", heads, n, "y", y, bytes);
  }
  require_workspace("workspace_bytes", workspace_bytes<T>(n, variant), workspace);
  launch_scan(problem, x, problem.segmented ? heads : nullptr, y, workspace, variant, stream);
  return variant;
}

template <class T>
std::size_t segments_workspace_bytes(std::int64_t n, Variant variant) {
  return static_cast<std::size_t>(words_of_heads(n)) * sizeof(LookBackWord) +
         workspace_bytes<T>(n, variant);
}

template <class T>
Variant run_segments(const Problem& problem, const T* x, const Segments& segments, T* y,
                     void* workspace, Variant variant, Stream& stream) {
  Problem in_segments = problem;
  in_segments.segmented = true;
  variant = variant_of(in_segments, x, y, variant);
  const std::int64_t n = problem.n, bytes = require_arrays(problem, x, y);
  require(n <= std::numeric_limits<std::int32_t>::max(),
          "scan: n is " + std::to_string(n) + "; offsets reach 2^31 - 1");
  require_segments("scan", segments, n);
  if (n == 0) return variant;
  require_apart("scan: offsets", segments.offsets, segments.bytes(), "y", y, bytes);
  require_workspace("segments_workspace_bytes", segments_workspace_bytes<T>(n, variant), workspace);
  auto* const words = static_cast<LookBackWord*>(workspace);
  auto* const heads = reinterpret_cast<std::int8_t*>(words);
  clear(words, words_of_heads(n), stream);
  launch(mark_heads,
         {.grid = grid_x(div_up(segments.count, kThreads), "scan: the segments", "split them"),
          .block = kThreads,
          .stream = &stream},
         segments, heads);
  launch_scan<T>(in_segments, x, heads, y, words + words_of_heads(n), variant, stream);
  return variant;
}

template <class T>
std::int64_t chain(std::int64_t n, Variant variant) {
  if (variant == Variant::naive) return div_up(n, kThreads) + 8 + 1; // rounds, steps
  // A pack's elements, a warp's lanes and rows, its warps, other tiles; and elements of the result.
  const std::int64_t of_look_back = kPackElements<T> + kButterflySteps + kItems / kPackElements<T> +
                                    kWarps + look_back_chain(tiles_of(n)) + 2 + kPackElements<T>;
  if (variant == Variant::look_back) return of_look_back;
  // A thread's elements, a warp's lanes, the warps, other tiles; and elements of the result.
  const std::int64_t of_pipelined = kPipelinedItems<T> + 2 * kButterflySteps +
                                    look_back_chain(div_up(n, kPipelinedTile<T>)) + 2 +
                                    kPipelinedItems<T>;
  return std::max(of_look_back, of_pipelined);
}

Work work(Dtype dtype, std::int64_t n, bool heads, std::int64_t segments) {
  const double elements = static_cast<double>(n);
  const double bytes = static_cast<double>(size_of(dtype)) * elements;
  const std::int64_t offsets = segments > 0 ? Segments{nullptr, segments}.bytes() : 0;
  return {.bytes = 2 * bytes + (heads ? elements : 0) + static_cast<double>(offsets),
          .written = bytes,
          .flops = elements};
}

template Variant resolved<float>(const Problem&, Variant);
template Variant resolved<f16>(const Problem&, Variant);
template Variant resolved<bf16>(const Problem&, Variant);
template Variant resolved<std::int32_t>(const Problem&, Variant);

template std::size_t workspace_bytes<float>(std::int64_t, Variant);
template std::size_t workspace_bytes<f16>(std::int64_t, Variant);
template std::size_t workspace_bytes<bf16>(std::int64_t, Variant);
template std::size_t workspace_bytes<std::int32_t>(std::int64_t, Variant);

template Variant run(const Problem&, const float*, const std::int8_t*, float*, void*, Variant,
                     Stream&);
template Variant run(const Problem&, const f16*, const std::int8_t*, f16*, void*, Variant, Stream&);
template Variant run(const Problem&, const bf16*, const std::int8_t*, bf16*, void*, Variant,
                     Stream&);
template Variant run(const Problem&, const std::int32_t*, const std::int8_t*, std::int32_t*, void*,
                     Variant, Stream&);

template std::size_t segments_workspace_bytes<float>(std::int64_t, Variant);
template std::size_t segments_workspace_bytes<f16>(std::int64_t, Variant);
template std::size_t segments_workspace_bytes<bf16>(std::int64_t, Variant);
template std::size_t segments_workspace_bytes<std::int32_t>(std::int64_t, Variant);

template Variant run_segments(const Problem&, const float*, const Segments&, float*, void*, Variant,
                              Stream&);
template Variant run_segments(const Problem&, const f16*, const Segments&, f16*, void*, Variant,
                              Stream&);
template Variant run_segments(const Problem&, const bf16*, const Segments&, bf16*, void*, Variant,
                              Stream&);
template Variant run_segments(const Problem&, const std::int32_t*, const Segments&, std::int32_t*,
                              void*, Variant, Stream&);

template std::int64_t chain<float>(std::int64_t, Variant);
template std::int64_t chain<f16>(std::int64_t, Variant);
template std::int64_t chain<bf16>(std::int64_t, Variant);
template std::int64_t chain<std::int32_t>(std::int64_t, Variant);

} // namespace kg::scan
