// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/preconditions.h"

#include "runtime/device.h"
#include "runtime/error.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace kg {
namespace {

using ::testing::HasSubstr;

// What the matrix is refused with; empty where it is accepted.
std::string refusal(const MatrixView<float>& matrix) {
  try {
    require_matrix("scale: x", matrix);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Preconditions, MatricesThatCanBeRead) {
  float element = 0;
  EXPECT_EQ(refusal(matrix(&element, 3, 5)), "");
  EXPECT_EQ(refusal(matrix(&element, 3, 5, 8)), "") << "a gap behind each row";
  EXPECT_EQ(refusal(matrix<float>(nullptr, 0, 5)), "") << "no elements, no memory";
}

TEST(Preconditions, MatricesThatCannot) {
  float element = 0;
  EXPECT_THAT(refusal(matrix(&element, -1, 5)), HasSubstr("scale: x is -1 x 5; extents"));
  EXPECT_THAT(refusal(matrix(&element, 3, -1, 0)), HasSubstr("scale: x is 3 x -1; extents"));
  EXPECT_THAT(refusal(matrix(&element, 3, 5, 4)), HasSubstr("rows are 4 apart and 5 long"));
  EXPECT_THAT(refusal({&element, {3, 5}, {10, 2}}), HasSubstr("elements are 2 apart"));
  EXPECT_THAT(refusal(matrix<float>(nullptr, 3, 5)), HasSubstr("scale: x is null"));
}

TEST(Preconditions, DivisionRoundsUp) {
  EXPECT_EQ(div_up(0, 4), 0);
  EXPECT_EQ(div_up(4, 4), 1);
  EXPECT_EQ(div_up(5, 4), 2);
}

TEST(Preconditions, AGridHasALimit) {
  const std::int64_t most = device_properties().max_grid_x;
  EXPECT_EQ(grid_x(most, "scale: the rows", "split the matrix"), most);
  try {
    grid_x(most + 1, "scale: the rows", "split the matrix");
    FAIL() << "a grid beyond the limit was accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("scale: the rows need " + std::to_string(most + 1)));
    EXPECT_THAT(error.what(), HasSubstr("; split the matrix"));
  }
}

TEST(Preconditions, MemoryApart) {
  const std::array<float, 8> memory{};
  const auto accept = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
    require_apart("scale: x", memory.data() + from, 4, "out", memory.data() + to, 16);
  };
  EXPECT_NO_THROW(accept(0, 1));
  EXPECT_NO_THROW(accept(4, 0));
  EXPECT_THROW(accept(0, 0), Error);
  EXPECT_THROW(accept(3, 0), Error);
}

// Three rows of two elements, four apart: x x . . x x . . x x
TEST(Preconditions, ArraysMayLieBetweenRows) {
  const std::array<float, 16> memory{};
  const auto accept = [&](std::ptrdiff_t from, std::int64_t count, std::int64_t rows = 3) {
    require_apart("scale: out", memory.data() + from, 4 * count, "x",
                  RowsInMemory{memory.data() + 3, rows, 8, 16});
  };
  EXPECT_NO_THROW(accept(0, 3));
  EXPECT_NO_THROW(accept(5, 2));
  EXPECT_NO_THROW(accept(9, 2));
  EXPECT_NO_THROW(accept(13, 3));
  EXPECT_NO_THROW(accept(0, 16, 0));
  EXPECT_THROW(accept(0, 4), Error);
  EXPECT_THROW(accept(3, 1), Error);
  EXPECT_THROW(accept(4, 1), Error);
  EXPECT_THROW(accept(5, 3), Error);
  EXPECT_THROW(accept(8, 1), Error);
  EXPECT_THROW(accept(0, 16), Error);
  EXPECT_NO_THROW(accept(11, 2, 2));
  try {
    accept(12, 4);
    FAIL() << "an array was accepted that begins in a row";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("scale: out (16 bytes) and row 2 of x (8 bytes) overlap"));
  }
}

TEST(Preconditions, InPlaceIsAllOrNothing) {
  const std::array<float, 8> memory{};
  const auto accept = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
    require_same_or_apart("scale: x", memory.data() + from, "out", memory.data() + to, 16);
  };
  EXPECT_NO_THROW(accept(2, 2));
  EXPECT_NO_THROW(accept(0, 4));
  EXPECT_NO_THROW(accept(4, 0));
  EXPECT_THROW(accept(3, 0), Error);
  try {
    accept(0, 1);
    FAIL() << "arrays that overlap in part were accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("scale: x (16 bytes) and out (16 bytes) overlap"));
  }
}

} // namespace
} // namespace kg
