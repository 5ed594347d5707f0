// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of hygiene.h that needs device memory.
#include "tests/support/hygiene.h"

#include <vector>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace kg::test {
namespace {

TEST(Hygiene, a_run_is_entered_once_its_memory_was_checked) {
  const VariantId id{"copy", "f32", "plain"};
  Stream stream;
  const std::vector<float> x(10, 1.0F);
  const auto input = DeviceBuffer<float>::from_host(x, stream);
  const DeviceBuffer<float> output(12);
  Hygiene hygiene(id);
  hygiene.input("x", x, input, stream);
  copy_on_device(output.data(), input.data(), input.bytes(), stream);
  require_evidence(id, {Evidence::hygiene, Evidence::empty});
  EXPECT_EQ(hygiene.output(output, contiguous({10}), stream), x);
  Hygiene nothing(id);
  nothing.input("x", x, input, stream);
  const DeviceBuffer<float> untouched(3);
  EXPECT_TRUE(nothing.output(untouched, contiguous({0}), stream).empty());
}

TEST(Hygiene, a_run_fails_for_a_changed_input_and_a_written_gap) {
  static Stream stream;
  static const std::vector<float> x(10, 1.0F);
  static const auto input = DeviceBuffer<float>::from_host(std::vector<float>(10, 2.0F), stream);
  static const auto full = DeviceBuffer<float>::from_host(x, stream);
  static const DeviceBuffer<float> fresh(10);
  static const VariantId id{"copy", "f32", "plain"};
  require_evidence(id, {});
  EXPECT_NONFATAL_FAILURE(
      {
        Hygiene hygiene(id);
        hygiene.input("x", x, input, stream);
        hygiene.output(fresh, contiguous({10}), stream);
      },
      "the kernel changed its input x");
  EXPECT_NONFATAL_FAILURE(
      {
        Hygiene hygiene(id);
        hygiene.input("x", x, full, stream);
        hygiene.output(full, contiguous({8}), stream);
      },
      "2 elements outside the view were written");
  EXPECT_NONFATAL_FAILURE(Hygiene(id).output(fresh, contiguous({10}), stream),
                          "name the inputs before the run");
}

} // namespace
} // namespace kg::test
