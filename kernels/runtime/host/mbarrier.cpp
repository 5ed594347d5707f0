// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/mbarrier.h"

#include "runtime/host/block.h"
#include "runtime/host/mbarrier_notes.h"
#include "runtime/host/observer.h"

#include <fmt/format.h>

namespace kg::host {
namespace {

// The state encoded in the word. The mark distinguishes an mbarrier from zeros, ones and most other
// data. The pending bytes are negative if more bytes have arrived than were expected.
struct State {
  unsigned mark;
  unsigned parity;
  unsigned expected;
  unsigned pending;
  int bytes;
};

constexpr unsigned kMark = 2;
constexpr int kMaxBytes = (1 << 20) - 1; // PTX ISA: the tx-count's range, in both directions
constexpr unsigned kBits = 20;
constexpr std::uint64_t kMask = (1u << kBits) - 1;

std::uint64_t pack(const State& s) {
  const auto bytes = static_cast<std::uint64_t>(s.bytes + kMaxBytes);
  return std::uint64_t{s.mark} << 62 | std::uint64_t{s.parity} << 61 | bytes << (2 * kBits) |
         std::uint64_t{s.expected} << kBits | s.pending;
}

State unpack(std::uint64_t word) {
  const auto bytes = static_cast<int>(word >> (2 * kBits) & (kMask << 1 | 1));
  return {static_cast<unsigned>(word >> 62), static_cast<unsigned>(word >> 61 & 1),
          static_cast<unsigned>(word >> kBits & kMask), static_cast<unsigned>(word & kMask),
          bytes - kMaxBytes};
}

[[noreturn]] void refuse(const char* name, const std::string& what, Location where) {
  running_block(name, where).trap(fmt::format("{}: {}", name, what), where);
}

void check_address(const std::uint64_t* barrier, const char* name, Location where) {
  if (reinterpret_cast<std::uintptr_t>(barrier) % sizeof(std::uint64_t) != 0)
    refuse(name, "the mbarrier is not aligned to 8 bytes", where);
}

State load(const std::uint64_t* barrier, const char* name, Location where) {
  check_address(barrier, name, where);
  const State state = unpack(__atomic_load_n(barrier, __ATOMIC_SEQ_CST));
  if (state.mark != kMark) {
    refuse(
        name,
        "the word is not an mbarrier: it was not initialized, or it was invalidated or overwritten",
        where);
  }
  return state;
}

// Atomically replaces the state by change(state), because other blocks of a cluster may arrive too.
// Ends the phase if nothing is pending. Returns the previous word.
template <class Change>
std::uint64_t update(Block& block, std::uint64_t* barrier, const char* name, Location where,
                     const Change& change) {
  for (;;) {
    const State before = load(barrier, name, where);
    State after = change(before);
    const bool ends = after.pending == 0 && after.bytes == 0;
    if (ends) {
      after.parity ^= 1;
      after.pending = after.expected;
    }
    std::uint64_t word = pack(before);
    if (__atomic_compare_exchange_n(barrier, &word, pack(after), false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
      if (ends) note_phase(barrier);
      if (ends && observer) observer->barrier_completed(barrier);
      block.groups().changed(); // the mbarrier may belong to another block
      if (ends) block.state_changed();
      return word;
    }
  }
}

State with_arrivals(State state, unsigned count, const char* name, Location where) {
  if (count == 0 || count > state.pending) {
    refuse(name,
           fmt::format("{} arrivals, but the phase waits for {} of {}; init with as many as arrive "
                       "in a phase, and wait for a phase before arriving in the next",
                       count, state.pending, state.expected),
           where);
  }
  state.pending -= count;
  return state;
}

State with_bytes(State state, std::int64_t bytes, const char* name, Location where) {
  const std::int64_t sum = state.bytes + bytes;
  if (sum > kMaxBytes || sum < -kMaxBytes) {
    refuse(name, fmt::format("{} pending bytes; the limit is {}", sum, kMaxBytes), where);
  }
  state.bytes = static_cast<int>(sum);
  return state;
}

void observe_arrival(const std::uint64_t* barrier) {
  if (observer) observer->barrier_arrived(barrier);
}

} // namespace

bool mbarrier_has_ended(const void* barrier, unsigned parity) {
  const auto* word = static_cast<const std::uint64_t*>(barrier);
  return unpack(__atomic_load_n(word, __ATOMIC_SEQ_CST)).parity != parity;
}

void mbarrier_init(std::uint64_t* barrier, unsigned count, Location where) {
  check_address(barrier, "mbarrier_init", where);
  if (count == 0 || count > kMaxMbarrierCount) {
    refuse("mbarrier_init", fmt::format("count {}; it is 1 to {}", count, kMaxMbarrierCount),
           where);
  }
  __atomic_store_n(barrier, pack({kMark, 0, count, count, 0}), __ATOMIC_SEQ_CST);
  note_initialised(barrier, where);
  if (observer) observer->mbarrier_initialised(barrier, where);
}

void mbarrier_inval(std::uint64_t* barrier, Location where) {
  load(barrier, "mbarrier_inval", where);
  __atomic_store_n(barrier, ~std::uint64_t{0}, __ATOMIC_SEQ_CST);
}

std::uint64_t mbarrier_arrive(std::uint64_t* barrier, unsigned count, unsigned bytes,
                              Location where) {
  constexpr const char* kName = "mbarrier_arrive";
  Block& block = running_block(kName, where);
  block.perturb(kName, where);
  observe_arrival(barrier);
  if (bytes != 0) note_expected(barrier, bytes, where);
  return update(block, barrier, kName, where, [&](const State& state) {
    return with_arrivals(with_bytes(state, bytes, kName, where), count, kName, where);
  });
}

std::uint64_t mbarrier_arrive_drop(std::uint64_t* barrier, Location where) {
  constexpr const char* kName = "mbarrier_arrive_drop";
  Block& block = running_block(kName, where);
  block.perturb(kName, where);
  observe_arrival(barrier);
  return update(block, barrier, kName, where, [&](State state) {
    state = with_arrivals(state, 1, kName, where);
    --state.expected;
    return state;
  });
}

void mbarrier_expect_tx(std::uint64_t* barrier, unsigned bytes, Location where) {
  constexpr const char* kName = "mbarrier_expect_tx";
  note_expected(barrier, bytes, where);
  update(running_block(kName, where), barrier, kName, where,
         [&](const State& state) { return with_bytes(state, bytes, kName, where); });
}

void mbarrier_complete_tx(std::uint64_t* barrier, unsigned bytes, Location where) {
  constexpr const char* kName = "mbarrier_complete_tx";
  Block& block = running_block(kName, where);
  observe_arrival(barrier);
  update(block, barrier, kName, where,
         [&](const State& state) { return with_bytes(state, -std::int64_t{bytes}, kName, where); });
}

bool mbarrier_test(std::uint64_t* barrier, unsigned parity, Location where) {
  constexpr const char* kName = kMbarrierTest;
  load(barrier, kName, where);
  if (!mbarrier_has_ended(barrier, parity))
    running_block(kName, where).poll_once(&mbarrier_has_ended, barrier, parity, kName, where);
  load(barrier, kName, where);
  if (!mbarrier_has_ended(barrier, parity)) return false;
  if (observer) observer->barrier_passed(barrier);
  return true;
}

void mbarrier_wait(std::uint64_t* barrier, unsigned parity, Location where) {
  constexpr const char* kName = "mbarrier_wait";
  load(barrier, kName, where);
  if (parity > 1) refuse(kName, fmt::format("parity {}; it is 0 or 1", parity), where);
  Block& block = running_block(kName, where);
  block.perturb(kName, where);
  block.wait_until(&mbarrier_has_ended, barrier, parity, kName, where);
  if (observer) observer->barrier_passed(barrier);
}

unsigned mbarrier_parity(std::uint64_t token) { return unpack(token).parity; }

std::string mbarrier_missing(const std::uint64_t* barrier) {
  const State state = unpack(__atomic_load_n(barrier, __ATOMIC_SEQ_CST));
  if (state.mark != kMark) return "for a word that has been overwritten or invalidated";
  const MbarrierNote note = note_of(barrier).value_or(MbarrierNote{});
  std::string text =
      fmt::format("for phase {} (parity {}) of the mbarrier", note.phases, state.parity);
  if (note.initialised.line != 0)
    text += fmt::format(" initialized at {}:{}", note.initialised.file, note.initialised.line);
  text += fmt::format(", where {} of {} arrivals are missing", state.pending, state.expected);
  if (state.bytes > 0)
    text += fmt::format(" and {} bytes, of {} expected", state.bytes, note.expected_bytes);
  if (state.bytes < 0)
    text += fmt::format(" and {} bytes more have come than the {} expected", -state.bytes,
                        note.expected_bytes);
  if (state.bytes != 0 && note.expected.line != 0)
    text += fmt::format(" at {}:{}", note.expected.file, note.expected.line);
  if (state.bytes != 0)
    text += "; expect_tx must name the bytes that the copies of the phase bring";
  return text;
}

void mbarrier_add_pending(std::uint64_t* barrier, Location where) {
  constexpr const char* kName = "cp_async_mbarrier_arrive";
  update(running_block(kName, where), barrier, kName, where, [&](State state) {
    if (++state.pending > kMaxMbarrierCount)
      refuse(kName, "more arrivals are pending than an mbarrier can count", where);
    return state;
  });
}

void mbarrier_check(const std::uint64_t* barrier, const char* name, Location where) {
  load(barrier, name, where);
}

void mbarrier_complete_unobserved(Block& block, std::uint64_t* barrier, std::size_t bytes,
                                  Location where) {
  constexpr const char* kName = "the bulk copy";
  update(block, barrier, kName, where, [&](const State& state) {
    return with_bytes(state, -static_cast<std::int64_t>(bytes), kName, where);
  });
}

void mbarrier_arrive_unobserved(Block& block, std::uint64_t* barrier, Location where) {
  constexpr const char* kName = "cp_async_mbarrier_arrive";
  update(block, barrier, kName, where,
         [&](const State& state) { return with_arrivals(state, 1, kName, where); });
}

} // namespace kg::host
