// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/identity/library_identity.h"

#include <gtest/gtest.h>

namespace kg::identity {
namespace {

TEST(LibraryIdentity, IsOfTheLibraryThatTheVariantIsNamedAfter) {
  const std::vector<vendor::Library> libraries = {{"cub", "3.0.1"}, {"cublas", "13.0.2"}};
  EXPECT_EQ(library_identity("cub", libraries), "cub 3.0.1");
  EXPECT_EQ(library_identity("cublas", libraries), "cublas 13.0.2");
  EXPECT_EQ(library_identity("cublas_lt", libraries), "cublas 13.0.2");
  EXPECT_EQ(library_identity("cudnn", libraries), "");
  EXPECT_EQ(library_identity("", libraries), "");
}

} // namespace
} // namespace kg::identity
