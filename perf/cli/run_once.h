// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kg::cli {

// For a row that was executed once: its number of launches.
inline constexpr const char* kLaunchesTag = "launches";

} // namespace kg::cli
