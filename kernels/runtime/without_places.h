// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kg {

// `message` without the source locations that fail() added ("perf/cli/run.cpp:12: "), for users
// whose input was rejected. Locations stay in failures of KG_CHECK and system calls, which are our
// own bugs.
std::string without_places(std::string message);

} // namespace kg
