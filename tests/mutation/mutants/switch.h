// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The switch in front of every mutant of a mutated kernel source. Includes little, since it is
// included before the source's first line.
#pragma once

#include <initializer_list>

namespace kg {

// Number of the mutant named by KERNELGRADE_MUTANT, -1 for "none" or unset. The object is const so
// that reading the switch is not a memory access that a checker would track.
extern const int active_mutant;

// constexpr: functions used in constant expressions may contain a mutant. Constants stay correct.
constexpr bool mutant(int number) {
  return !__builtin_is_constant_evaluated() && number == active_mutant;
}

// The index of KERNELGRADE_MUTANT in `names`; exits with 2 if it is not among them.
int choose_mutant(std::initializer_list<const char*> names);

} // namespace kg
