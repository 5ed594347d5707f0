// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx/entry_places.h"

#include <gtest/gtest.h>

namespace kg::ptx_run {
namespace {

TEST(EntryPlaces, OfKernelsWithLinesAndWithout) {
  // The second as fat binaries hold lines; .local must not pass for .loc.
  const auto places = entry_places("\t.file\t2 \"/opt/cuda-13.0/include/cub/x.cuh\"\n"
                                   ".visible .entry _Z3addPf(\n.param .u64 p\n)\n{\n"
                                   "\t.local .align 4 .b8 x[4];\n\t.loc\t1 7 0\n\t.loc\t1 9 3\n}\n"
                                   ".visible .entry _Z5neverPf(\n)\n{\n.loc\t2 22 0\n}\n"
                                   ".entry _ZN3cub5EmptyEv()\n{\nret;\n}\n"
                                   ".entry last()\n{\nret;\n}\n"
                                   ".file\t1 \"/home/me/a b.cu\"\n");
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[0].name, "_Z3addPf");
  EXPECT_EQ(places[0].file, "/home/me/a b.cu");
  EXPECT_EQ(places[0].line, 7);
  EXPECT_FALSE(places[0].of_toolkit);
  EXPECT_EQ(places[1].line, 22);
  EXPECT_TRUE(places[1].of_toolkit);
  EXPECT_TRUE(places[2].of_toolkit); // by its name
  EXPECT_EQ(places[3].name, "last");
  EXPECT_EQ(places[3].file, "");
  EXPECT_FALSE(places[3].of_toolkit);
}

TEST(EntryPlaces, OfATextWithoutKernelsAreNone) {
  EXPECT_TRUE(entry_places("").empty());
  EXPECT_TRUE(entry_places(".version 9.0\n.target sm_80\n").empty());
}

} // namespace
} // namespace kg::ptx_run
