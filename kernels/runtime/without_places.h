// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kg {

// `message` without the places in our sources that fail() put there ("perf/cli/run.cpp:12: "), for
// who handed in what is refused. Where a call failed that should not (KG_CHECK, the system) they
// stay: that fault is ours.
std::string without_places(std::string message);

} // namespace kg
