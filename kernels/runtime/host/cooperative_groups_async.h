// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// memcpy_async of cooperative groups (CUDA C++ Programming Guide, "Cooperative Groups: Data
// Transfer"): the threads of a group share one asynchronous copy, see async_copy.h. A GPU copies
// synchronously if it must. Here all copies are asynchronous, because a kernel must wait for both
// kinds.
#pragma once

#include "runtime/host/async_copy.h"
#include "runtime/host/cooperative_groups.h"

#include <algorithm>

namespace cooperative_groups {

// Copies `bytes` bytes in pieces of at most 16 bytes, which the threads take in turn. Each call
// forms one group of copies.
template <class Group, class To, class From>
void memcpy_async(const Group& group, To* to, const From* from, std::size_t bytes,
                  Location where = Location::here()) {
  constexpr std::size_t kPiece = 16;
  for (std::size_t at = kPiece * group.thread_rank(); at < bytes;
       at += kPiece * group.num_threads()) {
    kg::host::async_copy_unaligned(reinterpret_cast<unsigned char*>(to) + at,
                                   reinterpret_cast<const unsigned char*>(from) + at,
                                   std::min(kPiece, bytes - at), "memcpy_async", where);
  }
  kg::host::async_commit("memcpy_async", where);
}

// Copies as many elements as the smaller array holds.
template <class Group, class Element>
void memcpy_async(const Group& group, Element* to, std::size_t to_size, const Element* from,
                  std::size_t from_size, Location where = Location::here()) {
  memcpy_async(group, to, from, std::min(to_size, from_size) * sizeof(Element), where);
}

// Waits for all copies of the group except the latest `Stages` calls, then for the group.
template <unsigned Stages, class Group>
void wait_prior(const Group& group, Location where = Location::here()) {
  kg::host::async_wait_group(Stages, "wait_prior", where);
  group.sync(where);
}
template <class Group>
void wait(const Group& group, Location where = Location::here()) {
  wait_prior<0>(group, where);
}

} // namespace cooperative_groups
