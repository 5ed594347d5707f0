// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/reason.h"

#include <gtest/gtest.h>

namespace kg::judge {
namespace {

TEST(Reason, IsALineThatCanBeRead) {
  for (const char* const reason :
       {"", "issue 12", "one pass less", "7", "\xc3\xbc", "\xe9\x80\x9f"})
    EXPECT_EQ(fault_of_reason(reason), "") << reason;
}

TEST(Reason, BlanksAreNone) {
  // Spaces, one of no width, one that does not break, an ideographic one, and a filler.
  for (const char* const reason :
       {" ", "  ...  ", "\xe2\x80\x8b", "\xc2\xa0", "\xe3\x80\x80", "\xe3\x85\xa4", "\xef\xbb\xbf"})
    EXPECT_EQ(fault_of_reason(reason), "has no letter and no digit") << reason;
  for (const char* const reason : {"\n", "a\nb", "\t", "a\x7f"})
    EXPECT_EQ(fault_of_reason(reason), "has a line end or another control character") << reason;
  for (const char* const reason : {"\xff", "a\xc3", "\xc3(", "\xc0\xaf"})
    EXPECT_EQ(fault_of_reason(reason), "is not UTF-8") << reason;
}

} // namespace
} // namespace kg::judge
