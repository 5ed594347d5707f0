// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/hash.h"

#include <gtest/gtest.h>

namespace kg {
namespace {

// The published test vectors of FNV-1a with 128 bits.
TEST(Hash, IsFnv1aOf128Bits) {
  EXPECT_EQ(Hash().hex(), "6c62272e07bb014262b821756295c58d");
  EXPECT_EQ(Hash().bytes("a").hex(), "d228cb696f1a8caf78912b704e4a8964");
  EXPECT_EQ(Hash().bytes("foobar").hex(), "343e1662793c64bf6f0d3597ba446f18");
}

TEST(Hash, FieldsDoNotRunIntoEachOther) {
  EXPECT_EQ(Hash().bytes("ab").bytes("c").hex(), Hash().bytes("a").bytes("bc").hex());
  EXPECT_NE(Hash().field("ab").field("c").hex(), Hash().field("a").field("bc").hex());
  EXPECT_NE(Hash().number(1).number(2).hex(), Hash().number(2).number(1).hex());
}

} // namespace
} // namespace kg
