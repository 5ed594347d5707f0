// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kg::cli {

// Of a row that executed once: the number of launches that it made.
inline constexpr const char* kLaunchesTag = "launches";

} // namespace kg::cli
