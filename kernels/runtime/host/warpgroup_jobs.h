// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The unfinished products of one warpgroup, and the registers that they use (warpgroup.h).
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

  // Destinations of a thread's sums; null if another product has taken over the register.
  void** registers(unsigned thread) { return at.data() + thread * product.words(); }
  void execute(); // the products whose sums this one continues must be executed

  struct Copied { // by the thread, from a pending register
    unsigned thread;
    void* to;
    std::size_t word; // of `sums`
  };
  struct Taken { // a sum that starts from another product's sum
    std::size_t word;
    std::shared_ptr<const WarpgroupJob> from;
    std::size_t word_there;
  };

  WarpgroupProduct product;
  Location where;
  unsigned came = 0;    // number of the warpgroup's threads that have issued it
  unsigned retired = 0; // number of threads that have received their sums
  bool issued = false;  // by all threads, and reported to the observer
  bool executed = false;
  bool waited_for = false;
  std::vector<void*> at;                          // by thread, then word
  std::vector<Word> sums;                         // in the same order
  std::vector<const void*> a_at;                  // empty if A is in shared memory
  std::vector<Word> a_issued;                     // values of A at the issue
  std::shared_ptr<const WarpgroupJob> before;     // the product whose sums this one continues
  std::bitset<kWarpgroupSize> goes_on, continued; // threads: all sums from, or to, one product
  std::vector<Taken> taken;
  std::vector<Copied> copies;
  struct Range {
    std::uintptr_t begin;
    std::size_t bytes;
    Swizzle swizzle;
  };
  std::vector<Range> reads; // of shared memory; only with an observer
};

// Registers, and their values when a change was last allowed.
struct KnownRegisters {
  std::vector<const void*> at;
  std::vector<Word> values;
};

// One thread of the warpgroup.
struct WarpgroupMember {
  std::size_t issued = 0, retired = 0; // products
  std::vector<std::size_t> groups;     // for each committed group, the end of its products
  bool has_fenced = false;
  std::vector<KnownRegisters> known;

  // Null if the registers are not known.
  KnownRegisters* find(const void* const* at, std::size_t count);
  void know(const void* const* at, std::size_t count);
  void know_anew();
};

struct Warpgroup {
  std::deque<std::shared_ptr<WarpgroupJob>> jobs;
  std::size_t over = 0; // finished products, no longer in `jobs`
  std::array<WarpgroupMember, kWarpgroupSize> members;

  WarpgroupJob& job(std::size_t number) { return *jobs[number - over]; }

  // The pending product that a thread's register belongs to.
  struct Owner {
    std::shared_ptr<WarpgroupJob> job; // null: none
    std::size_t word = 0;              // of its sums
    WarpgroupJob::Copied* copy = nullptr;
  };
  Owner owner(unsigned thread, const void* sum);
  // The register no longer belongs to the product.
  static void release(const Owner& owner);
  void execute(std::size_t end); // all products before `end`
  void drop_retired();
};

} // namespace kg::host
