// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The products of one warpgroup that are not over, and the registers that they hold (warpgroup.h).
#pragma once

#include "runtime/host/warpgroup_product.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace kg::host {

using Word = std::uint32_t;
inline constexpr Word kPendingSum = ~Word{0}; // NaN for every floating-point type

Word word_at(const void* address);
void set_word(void* address, Word value);

struct WarpgroupJob {
  WarpgroupJob(const WarpgroupProduct& what, Location place);

  // Where the sums go of a thread: null, where another product has taken the register over.
  void** registers(unsigned thread) { return at.data() + thread * product.words(); }
  void execute(); // takes the sums that it continues from those before it, which are executed

  struct Copied { // by the thread, from a register that is pending
    unsigned thread;
    void* to;
    std::size_t word; // of `sums`
  };
  struct Taken { // a sum that begins as that of another product
    std::size_t word;
    std::shared_ptr<const WarpgroupJob> from;
    std::size_t word_there;
  };

  WarpgroupProduct product;
  Location where;
  unsigned came = 0;    // of the warpgroup's threads
  unsigned retired = 0; // threads that have got their sums
  bool issued = false;  // by all, and whoever watches has been told
  bool executed = false;
  bool waited_for = false;
  std::vector<void*> at;                          // by thread, then word
  std::vector<Word> sums;                         // likewise
  std::vector<const void*> a_at;                  // empty where A is in shared memory
  std::vector<Word> a_issued;                     // what was there
  std::shared_ptr<const WarpgroupJob> before;     // the one whose sums it goes on from
  std::bitset<kWarpgroupSize> goes_on, continued; // threads whose sums all come from, or go to, one
  std::vector<Taken> taken;
  std::vector<Copied> copies;
  struct Range {
    std::uintptr_t begin;
    std::size_t bytes;
    Swizzle swizzle;
  };
  std::vector<Range> reads; // of shared memory; while somebody watches
};

// Registers and what they held when it was allowed to change them last.
struct KnownRegisters {
  std::vector<const void*> at;
  std::vector<Word> values;
};

// One thread of the warpgroup.
struct WarpgroupMember {
  std::size_t issued = 0, retired = 0; // products
  std::vector<std::size_t> groups;     // for each committed group, how many products it ends at
  bool has_fenced = false;
  std::vector<KnownRegisters> known;

  // Null where they are not known.
  KnownRegisters* find(const void* const* at, std::size_t count);
  void know(const void* const* at, std::size_t count);
  void know_anew();
};

struct Warpgroup {
  std::deque<std::shared_ptr<WarpgroupJob>> jobs;
  std::size_t over = 0; // products in front of these
  std::array<WarpgroupMember, kWarpgroupSize> members;

  WarpgroupJob& job(std::size_t number) { return *jobs[number - over]; }

  // Where a register of a thread belongs to a pending product.
  struct Owner {
    std::shared_ptr<WarpgroupJob> job; // null: nowhere
    std::size_t word = 0;              // of its sums
    WarpgroupJob::Copied* copy = nullptr;
  };
  Owner owner(unsigned thread, const void* sum);
  // The register is that product's no more.
  static void release(const Owner& owner);
  void execute(std::size_t end); // all products up to it
  void drop_retired();
};

} // namespace kg::host
