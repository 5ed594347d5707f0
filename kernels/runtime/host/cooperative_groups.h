// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A mirror of CUDA's cooperative groups (CUDA C++ Programming Guide, "Cooperative Groups"): thread
// blocks, tiles, coalesced groups, clusters and grids. coalesced_threads() gathers the lanes that
// reach the call before the warp blocks.
#pragma once

#include "runtime/host/block.h"
#include "runtime/host/block_group.h"
#include "runtime/host/forceinline.h"
#include "runtime/host/warp.h"

#include <bit>
#include <type_traits>

namespace cooperative_groups {

using kg::Location;

namespace detail {

inline kg::host::Block& block(Location where = Location::here()) {
  return kg::host::running_block("a cooperative group", where);
}

// The lanes of a warp that form a group, in rank order: the common base of tiles and coalesced
// groups.
class Lanes {
 public:
  explicit Lanes(unsigned mask) : mask_(mask) {}

  unsigned thread_rank() const { return static_cast<unsigned>(std::popcount(mask_ & (bit() - 1))); }
  unsigned num_threads() const { return static_cast<unsigned>(std::popcount(mask_)); }
  unsigned size() const { return num_threads(); }

  void sync(Location where = Location::here()) const { __syncwarp(mask_, where); }

  // Returns the value of the lane with rank `source`.
  template <class T>
  __forceinline__ T shfl(T value, unsigned source, Location where = Location::here()) const {
    return kg::host::exchange(mask_, value, lane_of(source % num_threads()), "shfl", where);
  }
  template <class T>
  __forceinline__ T shfl_up(T value, unsigned delta, Location where = Location::here()) const {
    const unsigned rank = thread_rank();
    return kg::host::exchange(mask_, value, lane_of(rank >= delta ? rank - delta : rank), "shfl_up",
                              where);
  }
  template <class T>
  __forceinline__ T shfl_down(T value, unsigned delta, Location where = Location::here()) const {
    const unsigned rank = thread_rank();
    const unsigned source = delta < num_threads() - rank ? rank + delta : rank;
    return kg::host::exchange(mask_, value, lane_of(source), "shfl_down", where);
  }
  template <class T>
  __forceinline__ T shfl_xor(T value, unsigned lane_mask, Location where = Location::here()) const {
    const unsigned rank = thread_rank();
    const unsigned source = (rank ^ lane_mask) < num_threads() ? rank ^ lane_mask : rank;
    return kg::host::exchange(mask_, value, lane_of(source), "shfl_xor", where);
  }
  int any(int predicate, Location where = Location::here()) const {
    return __any_sync(mask_, predicate, where);
  }
  int all(int predicate, Location where = Location::here()) const {
    return __all_sync(mask_, predicate, where);
  }
  // Bit r belongs to the thread of rank r.
  unsigned ballot(int predicate, Location where = Location::here()) const {
    return ranks_of(__ballot_sync(mask_, predicate, where));
  }
  template <class T>
  unsigned match_any(T value, Location where = Location::here()) const {
    return ranks_of(__match_any_sync(mask_, value, where));
  }
  template <class T>
  unsigned match_all(T value, int& all, Location where = Location::here()) const {
    return ranks_of(__match_all_sync(mask_, value, &all, where));
  }

  unsigned mask() const { return mask_; } // of lanes

 protected:
  static unsigned bit() { return 1u << block().lane(); }
  unsigned lane_of(unsigned rank) const {
    unsigned lanes = mask_;
    while (rank-- > 0) lanes &= lanes - 1;
    return static_cast<unsigned>(std::countr_zero(lanes));
  }
  unsigned ranks_of(unsigned lanes) const {
    unsigned ranks = 0;
    unsigned rank = 0;
    for (unsigned rest = mask_; rest != 0; rest &= rest - 1, ++rank) {
      if ((lanes & rest & (~rest + 1)) != 0) ranks |= 1u << rank;
    }
    return ranks;
  }

 private:
  unsigned mask_;
};

} // namespace detail

class thread_block {
 public:
  static unsigned thread_rank() { return detail::block().thread_rank(); }
  static unsigned num_threads() { return detail::block().thread_count(); }
  static unsigned size() { return num_threads(); }
  static uint3 thread_index() { return threadIdx; }
  static uint3 group_index() { return blockIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  static void sync(Location where = Location::here()) {
    detail::block(where).barrier("thread_block::sync", where);
  }
};
inline thread_block this_thread_block() { return {}; }

class coalesced_group : public detail::Lanes {
 public:
  explicit coalesced_group(unsigned mask, unsigned meta_group_rank = 0,
                           unsigned meta_group_size = 1)
      : Lanes(mask), meta_group_rank_(meta_group_rank), meta_group_size_(meta_group_size) {}
  unsigned meta_group_size() const { return meta_group_size_; }
  unsigned meta_group_rank() const { return meta_group_rank_; }

 private:
  unsigned meta_group_rank_;
  unsigned meta_group_size_;
};
inline coalesced_group coalesced_threads(Location where = Location::here()) {
  return coalesced_group(detail::block(where).converge(where));
}

// `Size` consecutive threads, a power of two up to 32.
template <unsigned Size, class Parent = void>
class thread_block_tile : public detail::Lanes {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile has a power of two of threads, at most 32");

 public:
  explicit thread_block_tile(unsigned meta_group_size)
      : Lanes(static_cast<unsigned>(((std::uint64_t{1} << Size) - 1)
                                    << (detail::block().lane() & ~(Size - 1)))),
        meta_group_size_(meta_group_size) {}
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  static unsigned thread_rank() { return detail::block().lane() & (Size - 1); }
  unsigned meta_group_size() const { return meta_group_size_; }
  unsigned meta_group_rank() const {
    return detail::block().thread_rank() / Size % meta_group_size_;
  }

 private:
  unsigned meta_group_size_;
};

template <unsigned Size>
thread_block_tile<Size> tiled_partition(const thread_block& parent) {
  return thread_block_tile<Size>((parent.num_threads() + Size - 1) / Size);
}
template <unsigned Size, unsigned Outer, class Parent>
thread_block_tile<Size> tiled_partition(const thread_block_tile<Outer, Parent>&) {
  static_assert(Size <= Outer, "a tile is no larger than what it is cut from");
  return thread_block_tile<Size>(Outer / Size);
}
// `size` is known at run time: groups of `size` lanes of the parent, in rank order.
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  unsigned mask = 0;
  unsigned rank = 0;
  const unsigned mine = parent.thread_rank() / size;
  for (unsigned rest = parent.mask(); rest != 0; rest &= rest - 1, ++rank) {
    if (rank / size == mine) mask |= rest & (~rest + 1);
  }
  return coalesced_group(mask, mine, (parent.num_threads() + size - 1) / size);
}

// Any group within a block, chosen at run time.
class thread_group {
 public:
  thread_group(const thread_block&) : mask_(0) {}
  thread_group(const detail::Lanes& lanes) : mask_(lanes.mask()) {}
  unsigned thread_rank() const {
    return mask_ == 0 ? thread_block::thread_rank() : detail::Lanes(mask_).thread_rank();
  }
  unsigned num_threads() const {
    return mask_ == 0 ? thread_block::num_threads() : detail::Lanes(mask_).num_threads();
  }
  unsigned size() const { return num_threads(); }
  void sync(Location where = Location::here()) const {
    if (mask_ == 0) {
      thread_block::sync(where);
    } else {
      __syncwarp(mask_, where);
    }
  }
  unsigned mask() const { return mask_; } // of lanes; 0 for the whole block

 private:
  unsigned mask_;
};
// `size` is a power of two up to 32.
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  const unsigned all = parent.mask() == 0 ? ~0u : parent.mask();
  return tiled_partition(coalesced_group(all), size);
}

// The lanes of the parent with the same label.
template <class T>
coalesced_group labeled_partition(const detail::Lanes& parent, T label,
                                  Location where = Location::here()) {
  return coalesced_group(__match_any_sync(parent.mask(), label, where));
}
inline coalesced_group binary_partition(const detail::Lanes& parent, bool predicate,
                                        Location where = Location::here()) {
  return labeled_partition(parent, static_cast<int>(predicate), where);
}

// All blocks of a cooperative launch.
class grid_group {
 public:
  static bool is_valid() { return detail::block().groups().grid != nullptr; }
  static void sync(Location where = Location::here()) {
    kg::host::Block& mine = detail::block(where);
    if (!mine.groups().grid) {
      mine.trap(
          "grid_group::sync needs all blocks to run together: launch with .cooperative = true",
          where);
    }
    mine.meet(*mine.groups().grid, "grid_group::sync", where);
  }
  static unsigned long long num_blocks() { return 1ULL * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() {
    return blockIdx.x + 1ULL * gridDim.x * (blockIdx.y + 1ULL * gridDim.y * blockIdx.z);
  }
  static unsigned long long num_threads() { return num_blocks() * detail::block().thread_count(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long thread_rank() {
    return block_rank() * detail::block().thread_count() + detail::block().thread_rank();
  }
  static dim3 group_dim() { return gridDim; }
};
inline grid_group this_grid() { return {}; }

// The blocks of one cluster. map_shared_rank reaches the other blocks' dynamic shared memory, but
// not static __shared__ arrays.
class cluster_group {
 public:
  static void sync(Location where = Location::here()) {
    kg::host::Block& mine = detail::block(where);
    if (mine.groups().cluster) {
      mine.meet(*mine.groups().cluster, "cluster_group::sync", where);
    } else {
      mine.barrier("cluster_group::sync", where); // a cluster of one
    }
  }
  // Split barrier: work between arrival and wait delays no other thread.
  struct arrival_token {};
  static arrival_token barrier_arrive(Location where = Location::here()) {
    detail::block(where).cluster_barrier().arrive(false, where);
    return {};
  }
  static void barrier_wait(Location where = Location::here()) {
    detail::block(where).cluster_barrier().wait(where);
  }
  static void barrier_wait(arrival_token&&, Location where = Location::here()) {
    barrier_wait(where);
  }
  static unsigned num_blocks() { return blocks() ? blocks()->size() : 1; }
  static dim3 dim_blocks() { return blocks() ? blocks()->extent() : dim3(1, 1, 1); }
  static dim3 block_index() {
    if (!blocks()) return {0, 0, 0};
    const uint3 first = blocks()->first();
    return {blockIdx.x - first.x, blockIdx.y - first.y, blockIdx.z - first.z};
  }
  static unsigned block_rank() { return blocks() ? blocks()->rank(blockIdx) : 0; }
  static unsigned num_threads() { return num_blocks() * detail::block().thread_count(); }
  static unsigned size() { return num_threads(); }
  static unsigned thread_rank() {
    return block_rank() * detail::block().thread_count() + detail::block().thread_rank();
  }
  // Maps `address` in this block's dynamic shared memory to the same offset in block `rank`.
  template <class T>
  static T* map_shared_rank(T* address, unsigned rank, Location where = Location::here()) {
    return reinterpret_cast<T*>(detail::block(where).shared_memory_of(rank, address, where));
  }

 private:
  static const kg::host::BlockGroup* blocks() { return detail::block().groups().cluster; }
};
inline cluster_group this_cluster() { return {}; }

template <class T = void>
struct plus : kg::host::Plus {};
template <class T = void>
struct less : kg::host::Minimum {};
template <class T = void>
struct greater : kg::host::Maximum {};
template <class T = void>
struct bit_and : kg::host::BitAnd {};
template <class T = void>
struct bit_or : kg::host::BitOr {};
template <class T = void>
struct bit_xor : kg::host::BitXor {};

namespace detail {

// A value together with its combining operation, which may be a function or carry state.
template <class T, class Combine>
struct Combinable {
  T value;
  const Combine* combine;
};
struct CombineThem {
  template <class T, class Combine>
  Combinable<T, Combine> operator()(const Combinable<T, Combine>& a,
                                    const Combinable<T, Combine>& b) const {
    return {(*a.combine)(a.value, b.value), a.combine};
  }
};

} // namespace detail

// All threads get the combination of every thread's value, in rank order.
template <class T, class Combine>
__forceinline__ T reduce(const detail::Lanes& group, T value, Combine combine,
                         Location where = Location::here()) {
  return kg::host::reduce<detail::CombineThem>(group.mask(),
                                               detail::Combinable<T, Combine>{value, &combine},
                                               "cooperative_groups::reduce", where)
      .value;
}

// Thread r gets the combination of ranks 0..r (inclusive) or 0..r-1 (exclusive; rank 0 gets T{}).
template <class T, class Combine>
__forceinline__ T inclusive_scan(const detail::Lanes& group, T value, Combine combine,
                                 Location where = Location::here()) {
  for (unsigned step = 1; step < group.num_threads(); step *= 2) {
    const T below = group.shfl_up(value, step, where);
    if (group.thread_rank() >= step) value = combine(below, value);
  }
  return value;
}
template <class T>
__forceinline__ T inclusive_scan(const detail::Lanes& group, T value,
                                 Location where = Location::here()) {
  return inclusive_scan(group, value, plus<T>{}, where);
}
template <class T, class Combine>
__forceinline__ T exclusive_scan(const detail::Lanes& group, T value, Combine combine,
                                 Location where = Location::here()) {
  const T below = group.shfl_up(inclusive_scan(group, value, combine, where), 1, where);
  return group.thread_rank() == 0 ? T{} : below;
}
template <class T>
__forceinline__ T exclusive_scan(const detail::Lanes& group, T value,
                                 Location where = Location::here()) {
  return exclusive_scan(group, value, plus<T>{}, where);
}

template <class Group>
void sync(const Group& group, Location where = Location::here()) {
  group.sync(where);
}

} // namespace cooperative_groups
