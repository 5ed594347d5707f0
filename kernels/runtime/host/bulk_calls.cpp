// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of bulk_copy.h that device code calls.
#include "runtime/host/bulk_copy.h"

#include "runtime/host/block.h"
#include "runtime/host/mbarrier.h"

#include <fmt/format.h>

namespace kg::host {
namespace {

constexpr std::size_t kUnit = 16; // bytes; granularity of addresses and sizes

void check(Block& block, const void* to, const void* from, std::size_t bytes, const char* name,
           Location where) {
  const auto misaligned = [&](const void* address, const char* which) {
    const std::size_t over = reinterpret_cast<std::uintptr_t>(address) % kUnit;
    if (over != 0)
      block.trap(fmt::format("{}: the {} is {} bytes behind a multiple of {}; align it to {} bytes",
                             name, which, over, kUnit, kUnit),
                 where);
  };
  misaligned(to, "destination");
  misaligned(from, "source");
  if (bytes % kUnit != 0)
    block.trap(fmt::format("{} of {} bytes; a bulk copy moves a multiple of {}: copy the rest by "
                           "ordinary stores",
                           name, bytes, kUnit),
               where);
}

// An empty copy has no pieces.
BulkMove in_one_piece(const void* shared, const void* global, std::size_t bytes) {
  BulkMove move{{}, bytes, 0};
  auto* const outside = static_cast<unsigned char*>(const_cast<void*>(global));
  if (bytes > 0) move.pieces.push_back({reinterpret_cast<std::uintptr_t>(shared), outside, bytes});
  return move;
}

} // namespace

void bulk_load(void* to, const void* from, std::size_t bytes, std::uint64_t* barrier,
               const char* name, Location where) {
  Block& block = running_block(name, where);
  block.perturb(name, where);
  check(block, to, from, bytes, name, where);
  mbarrier_check(barrier, name, where);
  block.bulk_copies().load(in_one_piece(to, from, bytes), barrier, where);
}

void bulk_multicast(void* to, const void* from, std::size_t bytes, std::uint64_t* barrier,
                    unsigned blocks, const char* name, Location where) {
  Block& block = running_block(name, where);
  block.perturb(name, where);
  check(block, to, from, bytes, name, where);
  block.bulk_copies().multicast(in_one_piece(to, from, bytes), to, barrier, blocks, name, where);
}

void bulk_send(void* to, const void* from, std::size_t bytes, std::uint64_t* barrier,
               std::optional<BulkReduction> reduction, const char* name, Location where) {
  Block& block = running_block(name, where);
  block.perturb(name, where);
  check(block, to, from, bytes, name, where);
  BulkMove move = in_one_piece(to, from, bytes);
  move.reduction = reduction;
  block.bulk_copies().send(std::move(move), to, barrier, name, where);
}

void bulk_store(void* to, const void* from, std::size_t bytes, const char* name, Location where) {
  Block& block = running_block(name, where);
  block.perturb(name, where);
  check(block, to, from, bytes, name, where);
  block.bulk_copies().store(in_one_piece(from, to, bytes), where);
}

void bulk_reduce(BulkReduction reduction, void* to, const void* from, std::size_t bytes,
                 const char* name, Location where) {
  Block& block = running_block(name, where);
  block.perturb(name, where);
  check(block, to, from, bytes, name, where);
  BulkMove move = in_one_piece(from, to, bytes);
  move.reduction = reduction;
  block.bulk_copies().store(std::move(move), where);
}

void bulk_commit(const char* name, Location where) {
  running_block(name, where).bulk_copies().commit();
}

void bulk_wait_group(std::size_t pending, bool read, const char* name, Location where) {
  Block& block = running_block(name, where);
  block.perturb(name, where);
  block.bulk_copies().wait_group(pending, read);
}

} // namespace kg::host
