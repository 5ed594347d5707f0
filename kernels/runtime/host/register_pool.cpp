// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/register_pool.h"

#include "runtime/host/block.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <vector>

namespace kg::host {
namespace {

constexpr unsigned kRegisters = 65536; // per SM
constexpr unsigned kStep = 8, kLeast = 24, kMost = 256;

// Of the block that this OS thread runs.
struct RegisterPool {
  std::vector<unsigned> held, wanted; // by thread; empty until a thread changes its count
  unsigned all = 0;                   // of the block
  unsigned free = 0;
};
thread_local RegisterPool pool;

void begin(unsigned threads) {
  if (!pool.held.empty()) return;
  const unsigned each = std::min(kRegisters / threads / kStep * kStep, kMost);
  pool.held.assign(threads, each);
  pool.wanted = pool.held;
  pool.all = each * threads;
}

bool has_free(const void*, unsigned count) { return pool.free >= count; }

} // namespace

void set_registers(unsigned count, bool rises, Location where) {
  const char* const name = rises ? kRegisterRise : "setmaxnreg.dec";
  Block& block = running_block(name, where);
  begin(block.thread_count());
  const unsigned thread = block.thread_rank();
  unsigned& held = pool.held[thread];
  if (count % kStep != 0 || count < kLeast || count > kMost)
    block.trap(fmt::format("{} {}; it is a multiple of 8 from 24 to 256", name, count), where);
  if (!rises && count > held)
    block.trap(fmt::format("{} {} by a thread that has {} registers; increase by setmaxnreg.inc",
                           name, count, held),
               where);
  pool.wanted[thread] = count;
  if (count <= held) {
    pool.free += held - count;
    held = count;
    block.state_changed();
    return;
  }
  while (pool.free < count - held) block.wait_until(&has_free, &pool, count - held, name, where);
  pool.free -= count - held;
  held = count;
}

std::string registers_missing() {
  std::map<unsigned, unsigned> threads; // by requested count
  unsigned sum = 0;
  for (const unsigned each : pool.wanted) {
    ++threads[each];
    sum += each;
  }
  std::string text;
  for (const auto& [each, count] : threads)
    text += fmt::format("{}{} x {}", text.empty() ? "" : " + ", each, count);
  return fmt::format("for {} = {} of the block's {} registers", text, sum, pool.all);
}

void registers_reset() { pool = {}; }

} // namespace kg::host
