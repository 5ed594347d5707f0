// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/huge_tests.h"

#include "runtime/buffer.h"
#include "tests/support/huge.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kg::card {
namespace {

constexpr std::int64_t k2To31 = std::int64_t{1} << 31, k2To32 = std::int64_t{1} << 32;
constexpr std::int64_t kParts = 16; // of a row, or of a short axis of a grid, for a window to show
// As many blocks as a grid may have along x.
constexpr std::int64_t kMostRows = std::numeric_limits<std::int32_t>::max();

// Tensors whose rows follow each other, and the elements of a row; empty where a batch has
// others: rows along an inner axis, or outputs of all rows.
std::map<std::string, std::int64_t> row_sizes(const Problem& of_one, const Problem& of_two) {
  std::map<std::string, std::int64_t> sizes;
  for (const auto* tensors : {&of_two.inputs, &of_two.outputs})
    for (const Tensor& tensor : *tensors) {
      const std::int64_t row = of_one.tensor(tensor.name).size();
      const bool is_output = tensors == &of_two.outputs;
      if (row == tensor.size() && !is_output) continue; // every row's
      const auto outermost = std::find_if(tensor.extents.begin(), tensor.extents.end(),
                                          [](std::int64_t extent) { return extent != 1; });
      const std::size_t axis = static_cast<std::size_t>(outermost - tensor.extents.begin());
      if (tensor.size() != 2 * row || of_one.tensor(tensor.name).extents.at(axis) * 2 != *outermost)
        return {};
      sizes[tensor.name] = row;
    }
  return sizes;
}

// The first rows, the last ones, and those around where the tensors' elements and bytes reach 2^31
// and 2^32.
std::vector<std::int64_t> places(const Problem& problem,
                                 const std::map<std::string, std::int64_t>& sizes,
                                 std::int64_t rows) {
  std::set<std::int64_t> found = {0, 1, rows - 2, rows - 1};
  for (const auto& [name, row] : sizes)
    for (const std::int64_t boundary : {k2To31, k2To32})
      for (const std::int64_t unit :
           {std::int64_t{1}, // elements, bytes
            static_cast<std::int64_t>(size_of(problem.tensor(name).dtype))})
        for (const std::int64_t beside : {-1, 0, 1})
          if (const std::int64_t place = boundary / unit / row + beside; place < rows)
            found.insert(place);
  return {found.begin(), found.end()};
}

// `few` is a call on a batch of as many rows as there are places, `run` a variant: runs it on a
// batch of so many rows, in which these have their places, all others being 0, and brings their
// results back.
std::string_view run_at_places(const Variant& variant, const Problem& huge,
                               const std::map<std::string, std::int64_t>& sizes,
                               const std::vector<std::int64_t>& places, std::int64_t rows,
                               const Call& few, Stream& stream) {
  std::map<std::string, DeviceBuffer<std::byte>> memory;
  Call call(huge);
  const auto bytes_of_row = [&](const Tensor& tensor) {
    return static_cast<std::size_t>(sizes.at(tensor.name)) * size_of(tensor.dtype);
  };
  for (const auto* tensors : {&huge.inputs, &huge.outputs})
    for (const Tensor& tensor : *tensors) {
      if (memory.contains(tensor.name)) continue; // updated in place
      if (!sizes.contains(tensor.name)) {
        call.bind(tensor.name, few.address(tensor.name));
        continue;
      }
      const std::size_t row = bytes_of_row(tensor);
      const auto& whole =
          memory.try_emplace(tensor.name, static_cast<std::size_t>(rows) * row).first->second;
      call.bind(tensor.name, whole.data());
      if (tensors == &huge.outputs) continue;
      fill_bytes(whole.data(), 0, whole.bytes(), stream);
      const auto* const from = static_cast<const std::byte*>(few.address(tensor.name));
      for (std::size_t i = 0; i < places.size(); ++i)
        copy_on_device(whole.data() + static_cast<std::size_t>(places[i]) * row, from + i * row,
                       row, stream);
    }
  std::string_view ran;
  {
    test::Window window(test::kBlockPerTile);
    for (std::int64_t part = 0; part < kParts; ++part) {
      window.show(part, kParts);
      for (const std::int64_t place : places) window.show(place * kParts + part, rows * kParts);
    }
    ran = variant.run(call, stream);
    stream.synchronize();
  }
  for (const Tensor& output : huge.outputs) {
    const std::size_t row = bytes_of_row(output);
    auto* const to = static_cast<std::byte*>(few.address(output.name));
    for (std::size_t i = 0; i < places.size(); ++i)
      copy_on_device(to + i * row,
                     memory.at(output.name).data() + static_cast<std::size_t>(places[i]) * row, row,
                     stream);
  }
  for (const auto& [name, buffer] : memory) {
    try {
      buffer.check_guards();
    } catch (const Error& error) {
      fail(fmt::format("around {} of {} rows: {}", name, rows, error.what()));
    }
  }
  return ran;
}

} // namespace

void rows_beyond_32_bits(Judge& judge) {
  const Card& card = judge.card();
  const auto problem = [&](const std::string& pattern, std::int64_t rows) {
    return problem_of(card, judge.dtype(), {"normal", batch_of(pattern, rows)});
  };
  bool any = false;
  ASSERT_EQ(test::too_huge_reason(0, true), "");
  ASSERT_TRUE(card.batches) << "--huge judges rows of a batch, and " << card.name
                            << " has none; leave --huge out";
  for (const std::string& pattern : card.batches(judge.dtype())) {
    const Problem of_one = problem(pattern, 1);
    const auto sizes = row_sizes(of_one, problem(pattern, 2));
    if (sizes.empty()) continue;
    const std::int64_t widest =
        std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->second;
    const std::int64_t rows = std::min(kMostRows, k2To32 / widest + 3);
    if (rows * widest <= k2To31) continue;
    const Problem huge = problem(pattern, rows);
    const std::vector<std::int64_t> at = places(huge, sizes, rows);
    Card scattered = card;
    for (Variant& variant : scattered.variants)
      variant.run = [&, variant](const Call& few, Stream& stream) {
        return run_at_places(variant, huge, sizes, at, rows, few, stream);
      };
    Judge of_few(scattered, judge.dtype());
    Sample sample = of_few.random(batch_of(pattern, std::ssize(at)));
    sample.fill += fmt::format(", as rows {} of {}", fmt::join(at, ", "), rows);
    of_few.check(sample);
    any = true;
  }
  EXPECT_TRUE(any) << "--huge judges rows that follow each other in each tensor, and " << card.name
                   << " has no batch of such; leave --huge out";
}

} // namespace kg::card
