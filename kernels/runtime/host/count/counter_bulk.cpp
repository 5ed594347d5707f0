// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies, and the products of a warpgroup.
#include "runtime/host/check/source_line.h"
#include "runtime/host/count/counter.h"
#include "runtime/host/warpgroup_product.h"

#include <string>

namespace kg::count {
namespace {

std::string name_of(host::ElementType type) {
  constexpr const char* kNames[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"};
  return kNames[static_cast<int>(type)];
}

std::uintptr_t number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

} // namespace

// Counts an access by the copy itself. It does not affect round trips: threads wait for the data at
// a barrier, and not even there for the latest copies.
template <Access kAccess>
void Counter::copied(const void* memory, std::size_t bytes, Location where) {
  RoundTrips& trips =
      state_of(*host::current_block).round_trips[host::current_block->thread_rank()];
  const RoundTrips before = trips;
  accessed<kAccess>(number(memory), bytes, &check::remembered(where));
  trips = before;
}

void Counter::async_copy_issued(void* to, const void* from, std::size_t bytes,
                                std::size_t source_bytes, Location where) {
  copied<Access::load>(from, source_bytes, where);
  copying_ = source_bytes > 0; // else zeros, which the copy itself writes
  copied<Access::store>(to, bytes, where);
  copying_ = false;
}

void Counter::bulk_load_reads(const void* from, std::size_t bytes, Location where) {
  copied<Access::load>(from, bytes, where);
}
void Counter::bulk_load_issued(void* to, std::size_t bytes, const void* barrier, Location where) {
  copying_ = true;
  copied<Access::store>(to, bytes, where);
  copying_ = false;
  counted_.bulk_loaded += bytes;
  host::Block& block = *host::current_block;
  state_of(block).flight.issued(block.thread_rank(), barrier, bytes);
}
void Counter::barrier_arrived(const void* object) {
  if (host::Block* const block = host::current_block)
    state_of(*block).flight.arrived(block->thread_rank(), object);
}
void Counter::barrier_arrived_relaxed(const void* object) { barrier_arrived(object); }
void Counter::barrier_passed(const void* object) {
  if (host::Block* const block = host::current_block)
    state_of(*block).flight.passed(block->thread_rank(), object);
}
void Counter::bulk_send_issued(const void* from, std::size_t bytes, const void* /*barrier*/,
                               Location where) {
  copied<Access::load>(from, bytes, where);
}
void Counter::bulk_store_issued(const void* from, std::size_t bytes, Location where) {
  copied<Access::load>(from, bytes, where);
}
void Counter::bulk_store_writes(void* to, std::size_t bytes, Location where) {
  copying_ = true;
  copied<Access::store>(to, bytes, where);
  copying_ = false;
  counted_.bulk_stored += bytes;
}
void Counter::bulk_reduction_updates(void* to, std::size_t bytes, Location where) {
  copied<Access::atomic>(to, bytes, where);
  counted_.bulk_stored += bytes;
}

void Counter::warpgroup_multiplies(const host::WarpgroupProduct& product) {
  const std::string a = name_of(product.a_type), b = name_of(product.b_type);
  ++counted_.wgmma["m64n" + std::to_string(product.columns) + "k" +
                   std::to_string(product.depth()) + "<" + (a == b ? a : a + "," + b) + ">"];
}

} // namespace kg::count
