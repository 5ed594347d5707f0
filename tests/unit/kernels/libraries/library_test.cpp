// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/library.h"
#include "runtime/backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

namespace kg::vendor {
namespace {

TEST(Vendor, NamesItsLibrariesAndTheirVersions) {
  const std::vector<std::string> expected =
      backend == Backend::cuda ? std::vector<std::string>{"cublas", "cudnn", "thrust", "cub"}
                               : std::vector<std::string>{"openblas", "onednn", "thrust"};
  std::vector<std::string> names;
  for (const Library& library : libraries()) {
    names.push_back(library.name);
    EXPECT_TRUE(std::isdigit(static_cast<unsigned char>(library.version[0])) &&
                std::count(library.version.begin(), library.version.end(), '.') >= 1)
        << library.name << " " << library.version;
  }
  EXPECT_EQ(names, expected);
}

} // namespace
} // namespace kg::vendor
