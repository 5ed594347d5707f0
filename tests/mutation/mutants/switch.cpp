// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/mutation/mutants/switch.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

int kg::choose_mutant(std::initializer_list<const char*> names) {
  const char* variable = std::getenv("KERNELGRADE_MUTANT");
  const std::string_view wanted = variable == nullptr ? "none" : variable;
  if (wanted == "none") return -1;
  int number = 0;
  for (const std::string_view name : names) {
    if (name == wanted) return number;
    ++number;
  }
  std::fprintf(stderr, "KERNELGRADE_MUTANT is \"%s\"; the mutants are: none", variable);
  for (const char* name : names) std::fprintf(stderr, ", %s", name);
  std::fputs("\n", stderr);
  std::exit(2); // before main: an exception could not be caught
}
