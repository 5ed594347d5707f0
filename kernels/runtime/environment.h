// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Switches of the environment, read alike by every program.
#pragma once

namespace kg {

// 1 is on, 0 is off, and `otherwise` is what a variable that is empty or not there means. Throws
// kg::Error for anything else: a switch that somebody meant to set must not be ignored.
bool is_set(const char* variable, bool otherwise = false);

// Throws as is_set does where any switch of this project has another value, whoever reads it.
void require_switches();

} // namespace kg
