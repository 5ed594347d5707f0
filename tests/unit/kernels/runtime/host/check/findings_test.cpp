// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/check/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::check {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(Findings, TheFirstOfEachKindIsShown) {
  Findings findings;
  for (Site site = 1; site <= 20; ++site)
    findings.add(Fault::proxy, site, 0, "fence " + std::to_string(site), {});
  findings.add(Fault::barrier, 21, 0, "the late one", {});
  const std::string text = findings.text();
  EXPECT_THAT(text, HasSubstr("[proxy] fence 7\n[barrier] the late one"));
  EXPECT_THAT(text, Not(HasSubstr("fence 8")));
  EXPECT_THAT(text, EndsWith("and 13 more"));
}

} // namespace
} // namespace kg::check
