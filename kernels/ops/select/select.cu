// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes: size_of(T) and a flag per element, size_of(T) per selected element; no flops. An H200
// issues 252 instructions while memory moves a KiB. If half of the elements are selected, nvcc
// 13.0's code takes 128 to 161 of them; for runs of 2 bytes 212 and of 1 byte 255, if every warp
// looked back instead of one in eight. A tile's round trips are serialized, as in reduce_by_key. On
// average 20 to 31 KiB per multiprocessor are in flight, enough for copy bandwidth (all modelled).
// Expected on an H200: 90 % of copy bandwidth from 10^8 bytes on.
//
// A tile is 256 threads x 64 bytes, read as in scan. The selected elements are first compacted in
// shared memory, with the alignment of their destination in y, and then copied in 16-byte accesses.
// If they were written directly, each element of a pack would be a separate request across all
// sectors of a row: four times as many requests for f32.
//
// Elements of 1 and 2 bytes stay in their loaded words until they are written to shared memory:
// flags and neighbours are compared four or two at a time (field_bits.h). As single elements they
// would take 64 or 32 registers, and spill.
//
// Why one pass with look-back: counting first and selecting afterwards reads the flags twice, and
// for unique the elements.
#include "ops/select/select.h"

#include "primitives/field_bits.h"
#include "primitives/look_back.h"
#include "primitives/pack_rows.h"
#include "primitives/row_move.h"
#include "primitives/runs.h"
#include "primitives/words.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <limits>
#include <string>
#include <type_traits>

namespace kg::select {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;
constexpr int kRows = 4; // packs per thread
template <class Word>
constexpr int kItems = kRows* kPackElements<Word>; // per thread

// 256 elements at a time.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    naive(const Word* x, const std::int8_t* flags, Word* y, std::int32_t* count, std::int64_t n) {
  __shared__ unsigned of_warps[kWarps];
  const auto thread = static_cast<int>(threadIdx.x);
  unsigned before = 0;
  for (std::int64_t first = 0; first < n; first += kThreads) {
    const std::int64_t i = first + thread;
    bool keep = false;
    if (i < n) keep = flags != nullptr ? flags[i] != 0 : begins_run(x, i);
    const unsigned kept = __ballot_sync(kAllLanes, keep);
    if (thread % kLanes == 0) of_warps[thread / kLanes] = __popc(kept);
    __syncthreads();
    unsigned place = before + __popc(kept & ((1u << thread % kLanes) - 1));
    for (int w = 0; w < kWarps; ++w) {
      const unsigned other = of_warps[w];
      if (w < thread / kLanes) place += other;
      before += other;
    }
    if (keep) {
      const Word word = x[i];
      y[place] = word;
    }
    __syncthreads();
  }
  if (thread == 0) *count = static_cast<std::int32_t>(before);
}

// Which arrays are aligned for their packs.
struct Aligned {
  bool x, flags;
};

// The number of selected elements in a warp before each of the lane's packs, and in total.
// `wanted`: one bit per element. Counts of several rows share a word, so one scan adds all of them.
// All lanes must call.
template <int Count>
__device__ __forceinline__ unsigned count_before(const unsigned (&wanted)[kRows],
                                                 unsigned (&before)[kRows]) {
  constexpr int kBits = kLanes * Count < 256 ? 8 : 16;
  constexpr int kOfWord = 32 / kBits;
  const auto count = [](unsigned word, int i) { return word >> i * kBits & ((1u << kBits) - 1); };
  unsigned all = 0;
  KG_UNROLL
  for (int r = 0; r < kRows; r += kOfWord) {
    unsigned word = 0;
    KG_UNROLL
    for (int i = 0; i < kOfWord; ++i) word += __popc(wanted[r + i]) << i * kBits;
    const WarpScan<unsigned> rows = warp_scan_below<Sum<unsigned>>(word);
    KG_UNROLL
    for (int i = 0; i < kOfWord; ++i) {
      before[r + i] = all + count(rows.below, i);
      all += count(rows.all, i);
    }
  }
  return all;
}

// Writes to[0] to to[count - 1] from kept[past] on. `past`: the number of elements from the
// previous 16-byte boundary to `to`; kept[0] is aligned. All threads must call.
template <class Word>
__device__ __forceinline__ void write_kept(const Word* kept, unsigned past, unsigned count,
                                           Word* to) {
  constexpr unsigned kCount = kPackElements<Word>;
  Word* const boundary = to - past;
  const unsigned end = past + count;
  const unsigned whole = past == 0 ? 0 : kCount; // where the first whole pack begins
  const unsigned whole_end = end / kCount * kCount;
  KG_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const unsigned i = whole + (r * kThreads + threadIdx.x) * kCount;
    if (i < whole_end) {
      const Quad quad = *reinterpret_cast<const Quad*>(kept + i);
      store_wide(reinterpret_cast<Quad*>(boundary + i), quad);
    }
  }
  if (threadIdx.x < 2 * kCount) { // single elements at both ends
    const bool in_front = threadIdx.x < kCount;
    const unsigned i = in_front ? threadIdx.x : whole_end + (threadIdx.x - kCount);
    if (i < end && (in_front ? i >= past && i < whole : i >= whole)) {
      const Word word = kept[i];
      boundary[i] = word;
    }
  }
}

template <class Word, bool Flagged>
__global__ void __launch_bounds__(kThreads, 4)
    look_back(const Word* x, const std::int8_t* flags, Word* y, std::int32_t* count, std::int64_t n,
              Aligned aligned, LookBack state) {
  using Counted = Sum<unsigned>;
  constexpr int kCount = kPackElements<Word>;
  constexpr int kOfWarp = kLanes * kItems<Word>;
  __shared__ LookBackScratch<Counted> scratch;
  alignas(kPackBytes) __shared__ Word kept[kWarps * kOfWarp + kCount];
  const std::int64_t tile = take_tile(state, scratch);
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  const std::int64_t first = tile * (kWarps * kOfWarp) + warp * kOfWarp + lane * kCount;
  const std::int64_t left = n - first;

  StoredPack<Word, kCount> pack[kRows];
  load_rows(x + first, left, aligned.x, Word{0}, pack);
  unsigned wanted[kRows]; // one bit per element of a pack
  if constexpr (Flagged) {
    StoredPack<std::int8_t, kCount> flag[kRows];
    load_rows(flags + first, left, aligned.flags, std::int8_t{0}, flag);
    KG_UNROLL
    for (int r = 0; r < kRows; ++r) wanted[r] = bits_of(flag[r]);
  } else {
    const Word before = before_warp(x, first, n);
    find_runs(before, first, n, pack, wanted);
  }

  unsigned before[kRows];
  const unsigned of_warp = count_before<kCount>(wanted, before);
  const TilePlace<unsigned> place = place_of_warp<Counted, kWarps>(state, tile, of_warp, scratch);
  Word* const to = y + place.before_tile;
  const auto past = static_cast<unsigned>(words_past_boundary(to));
  loaded(pack); // elements are extracted from their words here, not kept from above
  KG_UNROLL
  for (int r = 0; r < kRows; ++r) {
    Word* at = kept + (past + place.before_warp + before[r]);
    KG_UNROLL
    for (int e = 0; e < kCount; ++e)
      if ((wanted[r] >> e & 1u) != 0) {
        const Word word = element_of(pack[r], e);
        *at++ = word;
      }
  }
  __syncthreads();
  write_kept(kept, past, place.of_tile, to);
  if (tile + 1 == state.tiles && threadIdx.x == 0)
    *count = static_cast<std::int32_t>(place.before_tile + place.of_tile);
}

namespace {

// At least one, which writes the count.
std::int64_t tiles_of(const Problem& problem) {
  const auto tile =
      static_cast<std::int64_t>(kThreads * kRows * kPackBytes / problem.element_bytes);
  return problem.n > tile ? div_up(problem.n, tile) : 1;
}

template <class Word>
void launch_variant(const Problem& problem, const Word* x, const std::int8_t* flags, Word* y,
                    std::int32_t* count, void* workspace, Variant variant, Stream& stream) {
  const bool flagged = problem.wanted == Wanted::flagged;
  if (variant == Variant::naive)
    return launch(naive<Word>, {.grid = 1, .block = kThreads, .stream = &stream}, x,
                  flagged ? flags : nullptr, y, count, problem.n);
  const std::int64_t tiles = tiles_of(problem);
  const LookBack state = begin_look_back(workspace, tiles, stream);
  launch(flagged ? look_back<Word, true> : look_back<Word, false>,
         {.grid = static_cast<unsigned>(tiles), .block = kThreads, .stream = &stream}, x, flags, y,
         count, problem.n, Aligned{is_aligned(x), lies_in_packs<kPackElements<Word>>(flags)},
         state);
}

} // namespace

std::size_t workspace_bytes(const Problem& problem, Variant variant) {
  return resolved(variant) == Variant::naive ? 0 : look_back_bytes(tiles_of(problem));
}

Variant run(const Problem& problem, const void* x, const std::int8_t* flags, void* y,
            std::int32_t* count, void* workspace, Variant variant, Stream& stream) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  variant = resolved(variant);
  const std::int64_t n = problem.n;
  const bool flagged = problem.wanted == Wanted::flagged;
  require_extent("select: n", n);
  require(n <= kMost, "select: n is " + std::to_string(n) + "; it must be at most 2^31 - 1");
  require_elements("select: x", x, n);
  require_elements("select: y", y, n);
  require_elements("select: count", count, 1);
  const std::int64_t bytes = n * static_cast<std::int64_t>(problem.element_bytes);
  if (flagged) require_elements("select: flags", flags, n);
  if (n > 0) {
    require_apart("select: x", x, bytes, "y", y, bytes);
    require_apart("select: x", x, bytes, "count", count, sizeof *count);
    require_apart("select: y", y, bytes, "count", count, sizeof *count);
    if (flagged) {
      require_apart("select: flags", flags, n, "y", y, bytes);
      require_apart("select: flags", flags, n, "count", count, sizeof *count);
    }
  }
  const std::size_t needed = workspace_bytes(problem, variant);
  require(needed == 0 || workspace != nullptr,
          "select: workspace is null; pass workspace_bytes() = " + std::to_string(needed) +
              " bytes of device memory");
  with_word("select", problem.element_bytes, [&](auto word) {
    using Word = decltype(word);
    launch_variant(problem, static_cast<const Word*>(x), flags, static_cast<Word*>(y), count,
                   workspace, variant, stream);
  });
  return variant;
}

Work work(const Problem& problem, std::int64_t kept) {
  const auto element = static_cast<double>(problem.element_bytes);
  const double read = element + (problem.wanted == Wanted::flagged ? 1 : 0);
  const double written = element * static_cast<double>(kept) + sizeof(std::int32_t);
  return {.bytes = read * static_cast<double>(problem.n) + written, .written = written, .flops = 0};
}

} // namespace kg::select
