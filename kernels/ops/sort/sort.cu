// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes: each pass reads and writes all keys and values once, and all keys are read once before
// them: (2 p + 1) size_of(T) per key of p bytes, 8 p per value; what work() claims is 2 size_of(T)
// and 8. Expected on an H200: 60 % of the memory's rate by the bytes that move, since a tile's keys
// go to up to 256 places.
//
// The passes are those of onesweep (Adinets and Merrill, "Onesweep: A Faster Least Significant
// Digit Radix Sort for GPUs", arXiv 2206.01784): digits of all passes are counted at once, and a
// tile learns where its keys go by looking back at the tiles before it, a thread for each digit.
// Counts are integers, so it may take whichever of a tile's two words it finds. Counting before
// each pass would read the keys twice in each: 3 passes for 2.
//
// A tile is 256 threads x 12 keys, of 8 bytes 8. A warp's keys are taken 32 after the other, in
// order, so that the sort is stable; lanes with the same digit find each other by a match of the
// warp. The tile is then put in order in shared memory, so that neighbours go to neighbours;
// written from where they are ranked, nearly every key would be a sector of its own.
#include "ops/sort/sort.h"

#include "ops/sort/arrays.h"
#include "ops/sort/keys.h"
#include "primitives/look_back.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <string>
#include <type_traits>

namespace kg::sort {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kLanes;
// Of a thread: 16 and their places do not fit into its registers.
constexpr int items_of(std::size_t key_bytes) { return key_bytes == 8 ? 8 : 12; }
constexpr int tile_of(std::size_t key_bytes) { return kThreads * items_of(key_bytes); }
constexpr int kBlocksPerSm = 4; // that count digits
static_assert(kThreads == kDigits);

// What a tile publishes of a digit: a count below kBeyond, of the tile alone or of all up to it.
constexpr unsigned kOwn = kBeyond, kAll = 2u << 30, kCount = kOwn - 1;

// One thread per key.
template <class Keys>
__global__ void __launch_bounds__(kThreads)
    naive(Keys order, const Word<Keys>* keys, Word<Keys>* sorted_keys, const std::int32_t* values,
          std::int32_t* sorted_values, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  const Word<Keys> own = keys[i];
  std::int64_t before = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const Word<Keys> other = keys[j];
    if (comes_before(order, other, j, own, i)) ++before;
  }
  sorted_keys[before] = own;
  if (values != nullptr) {
    const std::int32_t value = values[i];
    sorted_values[before] = value;
  }
}

// Adds to counts, for each pass, how many keys have each digit.
template <class Keys>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    count_digits(Keys order, const Word<Keys>* keys, unsigned* counts, std::int64_t n) {
  constexpr int kItems = items_of(sizeof(Word<Keys>)), kTile = kThreads * kItems;
  __shared__ unsigned own[kPasses<Keys> * kDigits];
  const auto thread = static_cast<int>(threadIdx.x);
  KG_UNROLL
  for (int pass = 0; pass < kPasses<Keys>; ++pass) own[pass * kDigits + thread] = 0;
  __syncthreads();
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kTile;
  for (std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * kTile; tile < n; tile += step) {
    Word<Keys> key[kItems];
    KG_UNROLL
    for (int i = 0; i < kItems; ++i) {
      const std::int64_t at = tile + i * kThreads + thread;
      key[i] = at < n ? keys[at] : Word<Keys>{0};
    }
    KG_UNROLL
    for (int i = 0; i < kItems; ++i)
      if (tile + i * kThreads + thread < n) {
        KG_UNROLL
        for (int pass = 0; pass < kPasses<Keys>; ++pass)
          atomicAdd(own + pass * kDigits + digit_of(order, key[i], pass), 1u);
      }
  }
  __syncthreads();
  KG_UNROLL
  for (int pass = 0; pass < kPasses<Keys>; ++pass) {
    const unsigned count = own[pass * kDigits + thread];
    if (count != 0) atomicAdd(counts + pass * kDigits + thread, count);
  }
}

// What the threads before this one have. `scratch`: kWarps words of shared memory that nobody else
// uses.
__device__ inline unsigned below_in_block(unsigned value, unsigned* scratch) {
  const WarpScan<unsigned> row = warp_scan_below<Sum<unsigned>>(value);
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  if (threadIdx.x % kLanes == 0) scratch[warp] = row.all;
  __syncthreads();
  unsigned below = row.below;
  for (int w = 0; w < warp; ++w) below += scratch[w];
  return below;
}

// How many keys of all tiles before have the digit of which `own` are in this one; `words` are the
// digit's, one of each tile, kDigits apart.
__device__ inline unsigned count_before(unsigned* words, std::int64_t tile, unsigned own) {
  volatile unsigned* const mine = words + tile * kDigits;
  if (tile == 0) {
    *mine = kAll | own;
    return 0;
  }
  *mine = kOwn | own;
  unsigned before = 0;
  for (std::int64_t other = tile - 1;;) {
    const unsigned word = *static_cast<volatile unsigned*>(words + other * kDigits);
    if ((word & ~kCount) == 0) {
      __nanosleep(20);
      continue;
    }
    before += word & kCount;
    if ((word & kAll) != 0) break;
    --other;
  }
  *mine = kAll | (before + own);
  return before;
}

// One pass: the keys in the order of one digit. counts: of each digit of this pass among all keys;
// words: the counter of tiles, and one of each tile and digit, all 0.
template <class Keys>
__global__ void __launch_bounds__(kThreads, 3)
    onesweep(Keys order, const Word<Keys>* keys, Word<Keys>* sorted_keys,
             const std::int32_t* values, std::int32_t* sorted_values, std::int64_t n, int pass,
             const unsigned* counts, unsigned* words) {
  constexpr int kItems = items_of(sizeof(Word<Keys>)), kTile = kThreads * kItems;
  union Slot {
    Word<Keys> key;
    std::int32_t value;
  };
  __shared__ unsigned of_warp[kWarps][kDigits]; // keys of a digit: of the warp, then before it
  __shared__ unsigned start[kDigits];           // of a digit's keys in the tile
  __shared__ unsigned target[kDigits];          // of the tile's first key, had it this digit
  __shared__ Slot in_order[kTile];
  __shared__ unsigned scratch[2][kWarps];
  __shared__ unsigned number;
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kLanes, warp = thread / kLanes;
  KG_UNROLL
  for (int w = 0; w < kWarps; ++w) of_warp[w][thread] = 0;
  if (thread == 0) number = atomicAdd(words, 1u);
  __syncthreads();
  const std::int64_t tile = number;
  const std::int64_t first = tile * kTile + warp * (kItems * kLanes) + lane;

  Word<Keys> key[kItems];
  KG_UNROLL
  for (int i = 0; i < kItems; ++i)
    key[i] = first + i * kLanes < n ? keys[first + i * kLanes] : order.last();
  unsigned place[kItems]; // among the warp's keys of its digit, then in the tile
  KG_UNROLL
  for (int i = 0; i < kItems; ++i) {
    const int digit = digit_of(order, key[i], pass);
    const unsigned same = __match_any_sync(kAllLanes, digit);
    const unsigned before = of_warp[warp][digit];
    const unsigned below = same & ((1u << lane) - 1);
    __syncwarp();
    if (below == 0) of_warp[warp][digit] = before + __popc(same);
    __syncwarp();
    place[i] = before + __popc(below);
  }
  __syncthreads();

  unsigned own = 0; // from here on a thread for each digit
  KG_UNROLL
  for (int w = 0; w < kWarps; ++w) {
    const unsigned count = of_warp[w][thread];
    of_warp[w][thread] = own;
    own += count;
  }
  const unsigned before_tile = count_before(words + 1 + thread, tile, own);
  const unsigned in_tile = below_in_block(own, scratch[0]);
  const unsigned in_all = below_in_block(counts[thread], scratch[1]);
  start[thread] = in_tile;
  target[thread] = in_all + before_tile - in_tile;
  __syncthreads();

  KG_UNROLL
  for (int i = 0; i < kItems; ++i) {
    const int digit = digit_of(order, key[i], pass);
    place[i] += start[digit] + of_warp[warp][digit];
    in_order[place[i]].key = key[i];
  }
  __syncthreads();
  const std::int64_t left = n - tile * kTile; // keys behind the end are the last of the tile
  unsigned to[kItems];
  KG_UNROLL
  for (int i = 0; i < kItems; ++i) {
    const int at = i * kThreads + thread;
    const Word<Keys> word = in_order[at].key;
    to[i] = target[digit_of(order, word, pass)] + static_cast<unsigned>(at);
    if (at < left) sorted_keys[to[i]] = word;
  }
  if (values == nullptr) return;
  std::int32_t value[kItems];
  KG_UNROLL
  for (int i = 0; i < kItems; ++i)
    value[i] = first + i * kLanes < n ? values[first + i * kLanes] : 0;
  __syncthreads();
  KG_UNROLL
  for (int i = 0; i < kItems; ++i) in_order[place[i]].value = value[i];
  __syncthreads();
  KG_UNROLL
  for (int i = 0; i < kItems; ++i) {
    const int at = i * kThreads + thread;
    const std::int32_t moved = in_order[at].value;
    if (at < left) sorted_values[to[i]] = moved;
  }
}

namespace {

// Counts of the digits of all passes, then a pass's words, then what passes hand to each other.
struct Layout {
  std::int64_t counts, words, keys, values; // in bytes, multiples of 16

  Layout(std::int64_t n, std::size_t key_bytes, bool pairs)
      : counts(static_cast<std::int64_t>(key_bytes) * kDigits * 4),
        words(div_up((1 + div_up(n, tile_of(key_bytes)) * kDigits) * 4, 16) * 16),
        keys(div_up(n * static_cast<std::int64_t>(key_bytes), 16) * 16),
        values(pairs ? div_up(n * 4, 16) * 16 : 0) {}
  std::size_t bytes() const { return static_cast<std::size_t>(counts + words + keys + values); }
};

void clear(unsigned* words, std::int64_t bytes, Stream& stream) {
  launch(clear_words<unsigned>,
         {.grid = static_cast<unsigned>(div_up(bytes / 4, kClearThreads)),
          .block = kClearThreads,
          .stream = &stream},
         words, bytes / 4);
}

template <class Keys>
void sweep(Keys order, const Word<Keys>* keys, Word<Keys>* sorted_keys, const std::int32_t* values,
           std::int32_t* sorted_values, std::int64_t n, void* workspace, Stream& stream) {
  const Layout layout(n, sizeof(Word<Keys>), values != nullptr);
  auto* const counts = static_cast<unsigned*>(workspace);
  unsigned* const words = counts + layout.counts / 4;
  auto* const other_keys = reinterpret_cast<Word<Keys>*>(words + layout.words / 4);
  auto* const other_values =
      reinterpret_cast<std::int32_t*>(words + (layout.words + layout.keys) / 4);
  const std::int64_t tiles = div_up(n, tile_of(sizeof(Word<Keys>)));
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kBlocksPerSm;
  clear(counts, layout.counts, stream);
  launch(count_digits<Keys>,
         {.grid = static_cast<unsigned>(std::min(tiles, resident)),
          .block = kThreads,
          .stream = &stream},
         order, keys, counts, n);
  static_assert(kPasses<Keys> % 2 == 0); // so that the last one ends in the outputs
  for (int pass = 0; pass < kPasses<Keys>; ++pass) {
    const bool back = pass % 2 == 1;
    const bool pairs = values != nullptr;
    clear(words, layout.words, stream);
    launch(onesweep<Keys>,
           {.grid = static_cast<unsigned>(tiles), .block = kThreads, .stream = &stream}, order,
           pass == 0 ? keys : (back ? other_keys : sorted_keys), back ? sorted_keys : other_keys,
           !pairs      ? nullptr
           : pass == 0 ? values
           : back      ? other_values
                       : sorted_values,
           !pairs ? nullptr
           : back ? sorted_values
                  : other_values,
           n, pass, counts + pass * kDigits, words);
  }
}

} // namespace

template <class T>
std::size_t workspace_bytes(std::int64_t n, bool pairs, Variant variant) {
  return resolved(variant) == Variant::naive || n == 0 ? 0 : Layout(n, sizeof(T), pairs).bytes();
}

template <class T>
Variant run(const Arrays<T>& arrays, std::int64_t n, void* workspace, Variant variant,
            Stream& stream) {
  variant = resolved(variant);
  require_arrays(arrays, n);
  if (n == 0) return variant;
  const bool pairs = arrays.values != nullptr;
  const std::size_t needed = workspace_bytes<T>(n, pairs, variant);
  require(needed == 0 || workspace != nullptr,
          "sort: workspace is null; pass workspace_bytes() = " + std::to_string(needed) +
              " bytes of device memory");
  with_keys<T>([&]<class Keys>(Keys order) {
    const auto* const keys = reinterpret_cast<const Word<Keys>*>(arrays.keys);
    auto* const sorted_keys = reinterpret_cast<Word<Keys>*>(arrays.sorted_keys);
    if (variant == Variant::naive)
      launch(naive<Keys>,
             {.grid = static_cast<unsigned>(div_up(n, kThreads)),
              .block = kThreads,
              .stream = &stream},
             order, keys, sorted_keys, arrays.values, arrays.sorted_values, n);
    else
      sweep(order, keys, sorted_keys, arrays.values, arrays.sorted_values, n, workspace, stream);
  });
  return variant;
}

template <class T>
Work work(std::int64_t n, bool pairs, std::int64_t segments) {
  const double bytes = static_cast<double>(n) * (sizeof(T) + (pairs ? sizeof(std::int32_t) : 0));
  const double offsets = segments > 0 ? 4.0 * static_cast<double>(segments + 1) : 0;
  return {.bytes = 2 * bytes + offsets, .written = bytes, .flops = 0};
}

template std::size_t workspace_bytes<float>(std::int64_t, bool, Variant);
template std::size_t workspace_bytes<f16>(std::int64_t, bool, Variant);
template std::size_t workspace_bytes<bf16>(std::int64_t, bool, Variant);
template std::size_t workspace_bytes<std::int32_t>(std::int64_t, bool, Variant);
template std::size_t workspace_bytes<std::uint32_t>(std::int64_t, bool, Variant);
template std::size_t workspace_bytes<std::int64_t>(std::int64_t, bool, Variant);
template Variant run(const Arrays<float>&, std::int64_t, void*, Variant, Stream&);
template Variant run(const Arrays<f16>&, std::int64_t, void*, Variant, Stream&);
template Variant run(const Arrays<bf16>&, std::int64_t, void*, Variant, Stream&);
template Variant run(const Arrays<std::int32_t>&, std::int64_t, void*, Variant, Stream&);
template Variant run(const Arrays<std::uint32_t>&, std::int64_t, void*, Variant, Stream&);
template Variant run(const Arrays<std::int64_t>&, std::int64_t, void*, Variant, Stream&);
template Work work<float>(std::int64_t, bool, std::int64_t);
template Work work<f16>(std::int64_t, bool, std::int64_t);
template Work work<bf16>(std::int64_t, bool, std::int64_t);
template Work work<std::int32_t>(std::int64_t, bool, std::int64_t);
template Work work<std::uint32_t>(std::int64_t, bool, std::int64_t);
template Work work<std::int64_t>(std::int64_t, bool, std::int64_t);

} // namespace kg::sort
