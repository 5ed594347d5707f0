// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/format/named_path.h"

#include "runtime/error.h"

#include <gtest/gtest.h>

namespace kg::judge {
namespace {

TEST(NamedPath, TakesIds) {
  EXPECT_EQ(named_path("bb", "device", "nvidia-h200"), "bb/nvidia-h200");
  EXPECT_EQ(named_path("bb", "compiler", "sm_90a-cuda13.0", ".csv"), "bb/sm_90a-cuda13.0.csv");
  EXPECT_EQ(named_path("bb", "case", std::string(200, 'a')).filename().string().size(), 200u);
}

TEST(NamedPath, RefusesWhatLeadsElsewhere) {
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("../evil"),
        std::string("/tmp/evil"), std::string("a/b"), std::string("a\\b"), std::string("-rf"),
        std::string(".hidden"), std::string("a\nb"), std::string("a\0b", 3), std::string("a b"),
        std::string("\xc3\xa9"), std::string(201, 'a')})
    try {
      const auto path = named_path("bb", "device", name);
      ADD_FAILURE() << name << " gives " << path;
    } catch (const Error& error) {
      const std::string shown(name.substr(0, 200).c_str()); // what() ends at a NUL
      EXPECT_TRUE(std::string(error.what()).starts_with("the device '" + shown)) << error.what();
    }
}

} // namespace
} // namespace kg::judge
