// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Enumerators are called as the source spells them, when compiling, too.
#include "runtime/enumerators.h"

#include <gtest/gtest.h>

namespace kg {
namespace {

namespace inner {
enum class Colour { red, dark_blue };
}

enum class Sixteen { a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p };
enum class Sparse : unsigned char { first, third = 2, beyond = 200 };

static_assert(name(inner::Colour::dark_blue) == "dark_blue");

TEST(Enumerators, AreCalledAsTheSourceSpellsThem) {
  EXPECT_EQ(name(inner::Colour::red), "red");
  EXPECT_EQ(name(inner::Colour::dark_blue), "dark_blue");
  EXPECT_EQ(name(Sixteen::a), "a");
  EXPECT_EQ(name(Sixteen::p), "p");
  EXPECT_EQ(name(Sparse::third), "third");
}

TEST(Enumerators, WhatIsNoneHasNoName) {
  EXPECT_EQ(name(static_cast<inner::Colour>(2)), "");
  EXPECT_EQ(name(static_cast<inner::Colour>(-1)), "");
  EXPECT_EQ(name(static_cast<Sparse>(1)), "");
  EXPECT_EQ(name(Sparse::beyond), "") << "numbers from kMostEnumerators on have none";
}

} // namespace
} // namespace kg
