// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/mbarrier_notes.h"

#include <mutex>
#include <unordered_map>

namespace kg::host {
namespace {

// Sharded to reduce lock contention between blocks on different OS threads.
struct Part {
  std::mutex mutex;
  std::unordered_map<const std::uint64_t*, MbarrierNote> notes;
};

Part& part_of(const std::uint64_t* barrier) {
  constexpr std::size_t kParts = 64;
  static Part parts[kParts];
  return parts[reinterpret_cast<std::uintptr_t>(barrier) / sizeof *barrier % kParts];
}

template <class Change>
void change(const std::uint64_t* barrier, const Change& how) {
  Part& part = part_of(barrier);
  std::lock_guard lock(part.mutex);
  how(part.notes[barrier]);
}

} // namespace

void note_initialised(const std::uint64_t* barrier, Location where) {
  change(barrier, [&](MbarrierNote& note) {
    note = {};
    note.initialised = where;
  });
}

void note_phase(const std::uint64_t* barrier) {
  change(barrier, [](MbarrierNote& note) {
    ++note.phases;
    note.expected = {};
    note.expected_bytes = 0;
  });
}

void note_expected(const std::uint64_t* barrier, unsigned bytes, Location where) {
  change(barrier, [&](MbarrierNote& note) {
    note.expected = where;
    note.expected_bytes += bytes;
  });
}

std::optional<MbarrierNote> note_of(const std::uint64_t* barrier) {
  Part& part = part_of(barrier);
  std::lock_guard lock(part.mutex);
  const auto found = part.notes.find(barrier);
  if (found == part.notes.end()) return std::nullopt;
  return found->second;
}

} // namespace kg::host
