// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Cluster operations for code translated from PTX. As in the PTX ISA, a block without a cluster is
// its own cluster.
#include "runtime/host/block.h"
#include "runtime/host/block_group.h"
#include "runtime/ptx/prelude.h"

#include <fmt/format.h>

namespace kg::ptx_run {
namespace {

// Rank + 1 is stored above an offset into shared memory, which has less than 2^24 bytes.
constexpr unsigned kOffsetBits = 24;
constexpr u64 kOffsets = (u64{1} << kOffsetBits) - 1;

Location here(Where where) { return {where.file, where.line}; }

u32 size() {
  const host::BlockGroup* const cluster = host::current_block->groups().cluster;
  return cluster ? cluster->size() : 1;
}
u32 own_rank() {
  const host::BlockGroup* const cluster = host::current_block->groups().cluster;
  return cluster ? cluster->rank(blockIdx) : 0;
}
u64 base_of(u32 rank) {
  host::Block& own = *host::current_block;
  const host::BlockGroup* const cluster = own.groups().cluster;
  return reinterpret_cast<u64>((cluster ? cluster->placed(rank) : &own)->shared_memory());
}

struct Place {
  u32 rank;
  u64 offset;
};
// The position of a generic address in the cluster's shared memory. The block's own memory is
// searched first. The rank is size() if the address is elsewhere.
Place place_of(u64 address) {
  const u64 bytes = host::current_block->launch().shared_bytes;
  for (u32 i = 0, rank = own_rank(); i < size(); ++i, rank = (rank + 1) % size())
    if (address - base_of(rank) < bytes) return {rank, address - base_of(rank)};
  return {size(), 0};
}

void check_rank(const char* name, u64 rank, Where where) {
  if (rank >= size())
    host::current_block->trap(
        fmt::format("{}: rank {} is not one of the {} blocks of the cluster", name, rank, size()),
        here(where));
}

u64 in_window(u32 rank, u64 offset) {
  return rank == own_rank() ? offset : (u64{rank} + 1) << kOffsetBits | offset;
}

} // namespace

InCluster in_cluster() {
  const host::BlockGroup* const cluster = host::current_block->groups().cluster;
  if (!cluster) return {{0, 0, 0}, {1, 1, 1}, 0, 1};
  const uint3 first = cluster->first();
  const dim3 extent = cluster->extent();
  return {{blockIdx.x - first.x, blockIdx.y - first.y, blockIdx.z - first.z},
          {extent.x, extent.y, extent.z},
          own_rank(),
          size()};
}

void cluster_arrive(bool relaxed, Where where) {
  host::current_block->cluster_barrier().arrive(relaxed, here(where));
}
void cluster_wait(Where where) { host::current_block->cluster_barrier().wait(here(where)); }

u32 rank_of(u64 in_window) {
  const u64 above = in_window >> kOffsetBits;
  return above == 0 ? own_rank() : static_cast<u32>(above - 1);
}

u8* cluster_memory(u64 in_window, Where where) {
  const u32 rank = rank_of(in_window);
  check_rank("shared::cluster", rank, where);
  return reinterpret_cast<u8*>(base_of(rank) + (in_window & kOffsets));
}

u64 to_window(u64 address) {
  const Place place = place_of(address);
  return place.rank == size() ? address - base_of(own_rank()) : in_window(place.rank, place.offset);
}

// The compiler may move mapa before the barrier after which the other block has started. So mapa
// only returns where that block's memory is.
u64 mapped(u64 address, u32 rank, Where where) {
  check_rank("mapa", rank, where);
  const Place place = place_of(address);
  if (place.rank == size())
    host::current_block->trap(
        fmt::format("mapa: the address is not in the {} bytes of shared memory of a block",
                    host::current_block->launch().shared_bytes),
        here(where));
  return base_of(rank) + place.offset;
}

u64 mapped_in_window(u64 at, u32 rank, Where where) {
  check_rank("mapa", rank, where);
  return in_window(rank, at & kOffsets);
}

bool is_in_cluster(u64 address) { return place_of(address).rank != size(); }

} // namespace kg::ptx_run
