// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the word of an mbarrier does not hold, for reports: where it was initialised, how many of
// its phases have ended, and who named the bytes of the open one.
#pragma once

#include "runtime/error.h"

#include <cstdint>
#include <optional>

namespace kg::host {

struct MbarrierNote {
  Location initialised{};
  std::uint64_t phases = 0;         // that have ended since
  Location expected{};              // the last expect_tx of the open phase; line 0: none
  std::uint64_t expected_bytes = 0; // of all of them
};

// Blocks of a cluster write these at the same time.
void note_initialised(const std::uint64_t* barrier, Location where);
void note_phase(const std::uint64_t* barrier);
void note_expected(const std::uint64_t* barrier, unsigned bytes, Location where);
std::optional<MbarrierNote> note_of(const std::uint64_t* barrier);

} // namespace kg::host
