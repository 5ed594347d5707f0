// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Facts about an mbarrier that its word cannot hold, for reports: where it was initialized, how
// many phases have ended, and which call set the expected bytes of the open phase.
#pragma once

#include "runtime/error.h"

#include <cstdint>
#include <optional>

namespace kg::host {

struct MbarrierNote {
  Location initialised{};
  std::uint64_t phases = 0;         // completed since initialization
  Location expected{};              // the last expect_tx of the open phase; line 0: none
  std::uint64_t expected_bytes = 0; // sum over the open phase
};

// The blocks of a cluster call these concurrently.
void note_initialised(const std::uint64_t* barrier, Location where);
void note_phase(const std::uint64_t* barrier);
void note_expected(const std::uint64_t* barrier, unsigned bytes, Location where);
std::optional<MbarrierNote> note_of(const std::uint64_t* barrier);

} // namespace kg::host
