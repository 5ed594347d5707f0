// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// KG_OWN_TEST(Name) { ... } defines a test that an operation's card cannot express. It runs once
// per type, as Own/<dtype>.Name; `judge` is the operation's judge for that type.
#pragma once

#include "tests/contract/contract.h"

namespace kg::card {

// Registers a test of the program's card. Returns true.
bool own_test(const char* name, void (*test)(Judge& judge), const char* file, int line);

} // namespace kg::card

#define KG_OWN_TEST(test)                                                                          \
  void test(::kg::card::Judge& judge);                                                             \
  [[maybe_unused]] const bool test##_is_registered =                                               \
      ::kg::card::own_test(#test, test, __FILE__, __LINE__);                                       \
  void test([[maybe_unused]] ::kg::card::Judge& judge)
