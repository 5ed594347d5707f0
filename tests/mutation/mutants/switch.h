// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The switch in front of every mutant of a mutated kernel source. Includes little, as it stands
// before the source's first line.
#pragma once

#include <initializer_list>

namespace kg {

// Number of the mutant that KERNELGRADE_MUTANT names, -1 for "none" or nothing. The object is
// constant so that the switch is no memory access that a checker would look at.
extern const int active_mutant;

// constexpr: a function that constants are made with may hold a mutant. Constants stay right.
constexpr bool mutant(int number) {
  return !__builtin_is_constant_evaluated() && number == active_mutant;
}

// The place of KERNELGRADE_MUTANT among `names`; ends the program with 2 where it is none of them.
int choose_mutant(std::initializer_list<const char*> names);

} // namespace kg
