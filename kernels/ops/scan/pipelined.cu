// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// scan, variant pipelined, for one segment on compute capability 9.0: persistent blocks, two per
// multiprocessor, with six stages of 18 KiB in shared memory each. Bytes and flops are look_back's:
// 2 size_of(T) and one operation per element. Expected on an H200: 90 % of copy bandwidth, an
// estimate from a simulation of tiles, not measured. `profile --sass` does not model this kernel:
// it takes a loop that polls for the main part.
//
// A tile takes several microseconds from its first load to its last store, mostly waiting: for its
// loads, and for the aggregates of earlier tiles. A block of look_back has loaded its tile before
// it waits and requests nothing meanwhile, so 64 KiB per multiprocessor are in flight at most, and
// half of that for 16 bits. Here the roles of warps decouple loads from look-back:
//   producer   loads tiles by bulk copies as soon as a stage is empty;
//   consumers  twelve warps: reduce tile i + 1, then scan tile i in place, in shared memory; each
//              warp stores its part by a bulk copy;
//   publisher  publishes the aggregate of a tile once it is reduced;
//   finder     finds the prefix of a tile by look-back.
// So a tile's aggregate is published before its block waits for any other block, and its look-back
// has a tile's time. At most three stages (tiles i - 1 to i + 1) are not being loaded: at least
// 108 KiB per multiprocessor are in flight, of any type.
//
// Tiles are assigned by index: block b has tiles b, b + blocks, ... Why not by tickets, as in
// look_back: a block that took several at once would publish the last one several tiles' times
// later, and all blocks with higher tickets would wait. A tile waits only for lower ones, and each
// block works in rising order. So no order of blocks can deadlock if all are resident, which a
// cooperative launch guarantees. Float sums have the same bits in each run: a thread's elements,
// lanes, warps and tiles (look_back.h) are combined in a fixed tree.
//
// The last tile's incomplete pack is moved by ordinary loads and stores, as bulk copies move
// multiples of 16 bytes. Heads and unaligned arrays are left to look_back.
//
// Why threads have contiguous elements, unlike look_back's: in shared memory they cost no more, and
// one warp scan per tile suffices. Why elements are read twice from shared memory: kept in
// registers from reducing to scanning, those of two tiles would not leave enough for two blocks.
// Why not one block with larger tiles: it would have half the time for each look-back. Why not
// look_back with cp.async of the next tile before the wait: two places of 16 KiB for each of four
// blocks are 64 to 128 KiB in flight, but all warps of a block still wait in its look-back, and
// each aggregate is published only when the previous tile is stored.
#include "ops/scan/pipelined.h"

#include "instructions/cp_async_bulk.h"
#include "instructions/elect.h"
#include "instructions/fence_proxy_async.h"
#include "instructions/mbarrier.h"
#include "instructions/store_shared.h"
#include "ops/scan/functors.h"
#include "primitives/bulk_pipeline.h"
#include "primitives/look_back.h"
#include "runtime/device.h"
#include "runtime/launch.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kg::scan {
namespace {

constexpr int kWarps = kPipelinedWarps;                                          // consumers
constexpr int kProducer = kWarps, kPublisher = kWarps + 1, kFinder = kWarps + 2; // warps
constexpr int kThreads = (kWarps + 3) * kLanes;
constexpr int kPacks = kPipelinedPacks;
constexpr int kPartBytes = kLanes * kPacks * kPackBytes; // of a warp
constexpr int kTileBytes = kWarps * kPartBytes;
constexpr int kStages = 6;
constexpr int kBlocks = 2; // per multiprocessor
// Consumers wait for a tile while they hold the two before it.
static_assert(kStages > 2 && kPacks % 2 == 1);

using Pipeline = BulkPipeline<kStages>;
using Position = Pipeline::State;

// Shared memory of a block. Value: the functor's.
template <class Value>
struct Ring {
  unsigned char stages[kStages][kTileBytes];
  Pipeline pipeline;
  std::uint64_t reduced[kStages]; // mbarriers: the consumers have written of_warps
  std::uint64_t found[kStages];   // the publisher has read of_warps; before_warps is written
  Value of_warps[kStages][kWarps];
  Value before_warps[kStages][kWarps];

  __device__ __forceinline__ void init() {
    KG_UNROLL
    for (int i = 0; i < kStages; ++i) {
      ptx::mbarrier_init(reduced + i, kWarps);
      ptx::mbarrier_init(found + i, 2);
    }
    pipeline.init(kWarps);
  }
  // The sums of the consumers' warps: lane w has warp w's. Called by one whole warp.
  template <class F>
  __device__ __forceinline__ WarpScan<Value> wait_reduced(const Position& at) {
    ptx::mbarrier_wait_parity(reduced + at.stage(), at.parity());
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    Value of_warp = F::identity();
    if (lane < kWarps) of_warp = of_warps[at.stage()][lane];
    return warp_scan_below<F>(of_warp);
  }
};

template <class Value>
constexpr std::size_t kSharedBytes = sizeof(Ring<Value>);
constexpr std::size_t kReservedBytes = 1024; // per block, by the system
static_assert(kBlocks * (kSharedBytes<float> + kReservedBytes) <= 228 * 1024);

// The tiles of a block, in the order of all its roles: its own index, then every gridDim.x-th.
template <class Process>
__device__ __forceinline__ void for_each_tile(std::int64_t tiles, Process process) {
  Position at;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x, at.advance())
    process(tile, at);
}

// The elements of a tile that x has.
template <class T>
__device__ __forceinline__ int elements_of(std::int64_t tile, std::int64_t n) {
  const std::int64_t left = n - tile * kPipelinedTile<T>;
  return static_cast<int>(left < kPipelinedTile<T> ? left : kPipelinedTile<T>);
}
// Their bytes that are whole packs.
template <class T>
__device__ __forceinline__ int whole_bytes(int elements) {
  return elements / kPackElements<T> * kPackBytes;
}

// One thread loads the tiles.
template <class T, class Value>
__device__ __forceinline__ void produce(const T* x, std::int64_t n, std::int64_t tiles,
                                        Ring<Value>& ring) {
  for_each_tile(tiles, [&](std::int64_t tile, const Position& at) {
    const T* const from = x + tile * kPipelinedTile<T>;
    unsigned char* const to = ring.stages[at.stage()];
    const int elements = elements_of<T>(tile, n), bytes = whole_bytes<T>(elements);
    ring.pipeline.producer_wait(at);
    if (const int rest = elements % kPackElements<T>; rest != 0) {
      Pack<T, kPackElements<T>> pack{};
      for (int e = 0; e < rest; ++e) pack.element[e] = from[elements - rest + e];
      *reinterpret_cast<Pack<T, kPackElements<T>>*>(to + bytes) = pack;
    }
    if (bytes > 0)
      ptx::cp_async_bulk_load(to, from, static_cast<unsigned>(bytes), ring.pipeline.full(at));
    ring.pipeline.producer_expect(at, static_cast<unsigned>(bytes));
  });
}

// One warp publishes the tiles' aggregates.
template <class F>
__device__ __forceinline__ void publish(const LookBack& state, Ring<typename F::Value>& ring) {
  for_each_tile(state.tiles, [&](std::int64_t tile, const Position& at) {
    publish_aggregate<F>(state, tile, ring.template wait_reduced<F>(at).all);
    __syncwarp(); // all lanes have read of_warps
    if (threadIdx.x % kLanes == 0) ptx::mbarrier_arrive(ring.found + at.stage());
  });
}

// One warp finds the prefixes of the consumers' warps.
template <class F>
__device__ __forceinline__ void find(const LookBack& state, Ring<typename F::Value>& ring) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  for_each_tile(state.tiles, [&](std::int64_t tile, const Position& at) {
    const WarpScan<typename F::Value> of_warps = ring.template wait_reduced<F>(at);
    const auto before = look_back<F, true>(state, tile, of_warps.all);
    if (lane < kWarps) ring.before_warps[at.stage()][lane] = F::combine(before, of_warps.below);
    __syncwarp(); // all lanes have written
    if (lane == 0) ptx::mbarrier_arrive(ring.found + at.stage());
  });
}

// A consumer thread's packs of a tile.
template <class F, class T>
struct Items {
  using Value = typename F::Value;
  static constexpr int kCount = kPackElements<T>;
  Pack<T, kCount> pack[kPacks];
  int first; // element of the tile

  // Packs after the last element are 0; no result depends on them.
  __device__ __forceinline__ Items(const unsigned char* stage, int elements)
      : first(static_cast<int>(threadIdx.x) * kPipelinedItems<T>) {
    const auto* const from = reinterpret_cast<const Pack<T, kCount>*>(stage) + threadIdx.x * kPacks;
    KG_UNROLL
    for (int p = 0; p < kPacks; ++p)
      pack[p] = first + p * kCount < elements ? from[p] : Pack<T, kCount>{};
  }

  __device__ __forceinline__ Value item(int p, int e) const {
    return F::from(pack[p].element[e], false);
  }
  __device__ __forceinline__ Value reduced() const {
    Value all = item(0, 0);
    KG_UNROLL
    for (int i = 1; i < kPipelinedItems<T>; ++i)
      all = F::combine(all, item(i / kCount, i % kCount));
    return all;
  }
  // Replaces the elements by their results; `sum` is the prefix before them.
  __device__ __forceinline__ void scan(Value sum, bool exclusive) {
    KG_UNROLL
    for (int i = 0; i < kPipelinedItems<T>; ++i) {
      const Value without = sum;
      sum = F::combine(sum, item(i / kCount, i % kCount));
      pack[i / kCount].element[i % kCount] = narrowed<T>(F::number(exclusive ? without : sum));
    }
  }
  // Writes whole packs to the stage, and the elements of an incomplete one to y.
  __device__ __forceinline__ void store(unsigned char* stage, T* y_of_tile, int elements) const {
    auto* const to = reinterpret_cast<Pack<T, kCount>*>(stage) + threadIdx.x * kPacks;
    KG_UNROLL
    for (int p = 0; p < kPacks; ++p) {
      const int at = first + p * kCount;
      if (at + kCount <= elements) {
        ptx::store_shared(to + p, pack[p]);
        continue;
      }
      KG_UNROLL
      for (int e = 0; e < kCount; ++e)
        if (at + e < elements) y_of_tile[at + e] = pack[p].element[e];
    }
  }
};

// Starts to store a warp's part of a stage. One lane calls it.
template <class T>
__device__ __forceinline__ void store_part(const unsigned char* stage, T* y_of_tile, int elements) {
  const int at = static_cast<int>(threadIdx.x) / kLanes * kPartBytes;
  const int left = whole_bytes<T>(elements) - at;
  if (left > 0)
    ptx::cp_async_bulk_store(reinterpret_cast<unsigned char*>(y_of_tile) + at, stage + at,
                             static_cast<unsigned>(left < kPartBytes ? left : kPartBytes));
  ptx::cp_async_bulk_commit();
}

// A warp reduces its part of a tile, once loaded. Returns the sums before the lane's elements.
template <class F, class T>
__device__ __forceinline__ typename F::Value reduce(std::int64_t tile, const Position& at,
                                                    std::int64_t n, Ring<typename F::Value>& ring) {
  ring.pipeline.consumer_wait(at);
  const Items<F, T> items(ring.stages[at.stage()], elements_of<T>(tile, n));
  const WarpScan<typename F::Value> of_warp = warp_scan_below<F>(items.reduced());
  if (threadIdx.x % kLanes == 0) {
    ring.of_warps[at.stage()][threadIdx.x / kLanes] = of_warp.all;
    ptx::mbarrier_arrive(ring.reduced + at.stage());
  }
  return of_warp.below;
}

// A warp scans its part of each tile after it has reduced that of the next one.
template <class F, class T>
__device__ __forceinline__ void consume(T* y, std::int64_t n, bool exclusive, std::int64_t tiles,
                                        Ring<typename F::Value>& ring) {
  using Value = typename F::Value;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  Position ahead, before;
  Value below = reduce<F, T>(blockIdx.x, ahead, n, ring);
  for_each_tile(tiles, [&](std::int64_t tile, const Position& at) {
    ahead.advance();
    Value below_next = F::identity();
    if (tile + gridDim.x < tiles) below_next = reduce<F, T>(tile + gridDim.x, ahead, n, ring);
    if (lane == 0 && tile >= gridDim.x) { // the store of the tile before has read its stage by now
      ptx::cp_async_bulk_wait_group_read<0>();
      ring.pipeline.consumer_release(before, 0);
    }
    unsigned char* const stage = ring.stages[at.stage()];
    T* const y_of_tile = y + tile * kPipelinedTile<T>;
    const int elements = elements_of<T>(tile, n);
    Items<F, T> items(stage, elements);
    ptx::mbarrier_wait_parity(ring.found + at.stage(), at.parity());
    const Value before_warp = ring.before_warps[at.stage()][warp];
    items.scan(F::combine(before_warp, below), exclusive);
    items.store(stage, y_of_tile, elements);
    ptx::fence_proxy_async_shared();
    __syncwarp(); // all lanes have written their packs
    if (lane == 0) store_part(stage, y_of_tile, elements);
    before = at;
    below = below_next;
  });
  // Shared memory must stay valid until the stores have read it.
  if (lane == 0) ptx::cp_async_bulk_wait_group<0>();
}

} // namespace

template <class F, class T>
__global__ void __launch_bounds__(kThreads, kBlocks)
    pipelined(const T* x, T* y, std::int64_t n, bool exclusive, LookBack state) {
  using Value = typename F::Value;
  auto& ring = *dynamic_shared<Ring<Value>>();
  if (threadIdx.x == 0) ring.init();
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  if (warp == kProducer) {
    if (ptx::elect_sync()) produce(x, n, state.tiles, ring);
  } else if (warp == kPublisher) {
    publish<F>(state, ring);
  } else if (warp == kFinder) {
    find<F>(state, ring);
  } else {
    consume<F>(y, n, exclusive, state.tiles, ring);
  }
}

namespace {

template <class F, class T>
void launch_pipelined(const Problem& problem, const T* x, T* y, void* workspace, Stream& stream) {
  const std::int64_t tiles = div_up(problem.n, kPipelinedTile<T>);
  const std::int64_t blocks = std::int64_t{kBlocks} * device_properties().sm_count;
  const LookBack state = begin_look_back(workspace, tiles, stream);
  launch(pipelined<F, T>,
         {.grid = static_cast<unsigned>(std::min(tiles, blocks)),
          .block = kThreads,
          .shared_bytes = kSharedBytes<typename F::Value>,
          .stream = &stream,
          .cooperative = true},
         x, y, problem.n, problem.kind == Kind::exclusive, state);
}

} // namespace

bool pipelined_pays(std::int64_t tiles) {
  return tiles > std::int64_t{kBlocks} * device_properties().sm_count;
}

template <class T>
void run_pipelined(const Problem& problem, const T* x, T* y, void* workspace, Stream& stream) {
  constexpr bool kInteger = std::is_same_v<T, std::int32_t>;
  using Summed = std::conditional_t<kInteger, unsigned, float>;
  using Compared = std::conditional_t<kInteger, int, float>;
  if (problem.op == Op::sum)
    launch_pipelined<Whole<Sum<Summed>>>(problem, x, y, workspace, stream);
  else
    launch_pipelined<Whole<Max<Compared>>>(problem, x, y, workspace, stream);
}

template void run_pipelined(const Problem&, const float*, float*, void*, Stream&);
template void run_pipelined(const Problem&, const f16*, f16*, void*, Stream&);
template void run_pipelined(const Problem&, const bf16*, bf16*, void*, Stream&);
template void run_pipelined(const Problem&, const std::int32_t*, std::int32_t*, void*, Stream&);

} // namespace kg::scan
