// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/fidelity.h"

#include <atomic>

namespace kg::host {
namespace {

enum State : char { never, noted, taken };
std::array<std::atomic<State>, kInexact.size()> states;
std::atomic<bool> changed = false;

} // namespace

void note_inexact(std::size_t place) noexcept {
  State before = never;
  if (states[place].load(std::memory_order_relaxed) == never &&
      states[place].compare_exchange_strong(before, noted))
    changed = true;
}

void note_inexact(const InexactSet& set) noexcept {
  if (set.none()) return;
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i]) note_inexact(i);
}

InexactSet take_inexact() {
  InexactSet set;
  if (!changed.load(std::memory_order_relaxed) || !changed.exchange(false)) return set;
  for (std::size_t i = 0; i < set.size(); ++i) {
    State expected = noted;
    set[i] = states[i].compare_exchange_strong(expected, taken);
  }
  return set;
}

} // namespace kg::host
