// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// On/off environment variables, parsed in the same way by every program.
#pragma once

namespace kg {

// 1 is on, 0 is off; an empty or unset variable means `otherwise`. Throws kg::Error for any other
// value, so that a mistyped switch is not silently ignored.
bool is_set(const char* variable, bool otherwise = false);

// Throws like is_set() if any switch of this project has an invalid value, even one not read here.
void require_switches();

} // namespace kg
