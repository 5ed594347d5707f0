// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/huge_tests.h"

#include "runtime/buffer.h"
#include "tests/support/huge.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kg::card {
namespace {

constexpr std::int64_t k2To31 = std::int64_t{1} << 31, k2To32 = std::int64_t{1} << 32;
constexpr std::int64_t kParts = 16;      // of a row, or of a short grid axis, for a window to cover
constexpr std::int64_t kShownOuter = 64; // only the other windows cover more indices of outer axes
// The maximum number of blocks of a grid along x.
constexpr std::int64_t kMostRows = std::numeric_limits<std::int32_t>::max();

// For a tensor: a row is `outer` runs of `run` elements, with the runs of all rows interleaved.
// Rows of an outermost axis are a single run.
struct RowLayout {
  std::int64_t outer, run;

  std::int64_t size() const { return outer * run; }
};
using RowLayouts = std::map<std::string, RowLayout>; // by tensor

// Empty if a batch has an output of all rows: a window computes only some of the rows.
RowLayouts row_layouts(const Problem& of_one, const Problem& of_two) {
  RowLayouts layouts;
  for (const auto* tensors : {&of_two.inputs, &of_two.outputs})
    for (const Tensor& tensor : *tensors) {
      const Tensor& one = of_one.tensor(tensor.name);
      const auto [longer, same] = std::mismatch(tensor.extents.begin(), tensor.extents.end(),
                                                one.extents.begin(), one.extents.end());
      if (longer == tensor.extents.end() && tensors == &of_two.inputs) continue; // shared
      if (longer == tensor.extents.end() || tensor.size() != 2 * one.size() || *longer != 2 * *same)
        return {};
      const std::int64_t outer =
          std::accumulate(tensor.extents.begin(), longer, std::int64_t{1}, std::multiplies<>());
      layouts[tensor.name] = {outer, one.size() / outer};
    }
  return layouts;
}

// The first and last rows, and the rows around 2^31 and 2^32 elements and bytes of the tensors.
std::vector<std::int64_t> places(const Problem& problem, const RowLayouts& layouts,
                                 std::int64_t rows) {
  std::set<std::int64_t> found = {0, 1, rows - 2, rows - 1};
  for (const auto& [name, row] : layouts)
    for (const std::int64_t boundary : {k2To31, k2To32})
      for (const std::int64_t unit :
           {std::int64_t{1}, // elements, then bytes
            static_cast<std::int64_t>(size_of(problem.tensor(name).dtype))})
        for (const std::int64_t beside : {-1, 0, 1}) {
          const std::int64_t run = boundary / unit / row.run + beside;
          if (run < row.outer * rows) found.insert(run % rows);
        }
  return {found.begin(), found.end()};
}

// Copies row `i` of `from_rows` to row `j` of `to_rows`.
void copy_row(const Tensor& tensor, const RowLayout& row, const void* from, std::int64_t i,
              std::int64_t from_rows, void* to, std::int64_t j, std::int64_t to_rows,
              Stream& stream) {
  const std::size_t run = static_cast<std::size_t>(row.run) * size_of(tensor.dtype);
  for (std::int64_t o = 0; o < row.outer; ++o)
    copy_on_device(static_cast<std::byte*>(to) + static_cast<std::size_t>(o * to_rows + j) * run,
                   static_cast<const std::byte*>(from) +
                       static_cast<std::size_t>(o * from_rows + i) * run,
                   run, stream);
}

// Runs the variant on a batch of `rows` rows. `few` is a call on as many rows as there are
// `places`. Copies its inputs to these places of the batch, where all other rows are 0, and copies
// the results back.
std::string_view run_at_places(const Variant& variant, const Problem& huge,
                               const RowLayouts& layouts, const std::vector<std::int64_t>& places,
                               std::int64_t rows, const Call& few, Stream& stream) {
  std::map<std::string, DeviceBuffer<std::byte>> memory;
  Call call(huge);
  const std::int64_t few_rows = std::ssize(places);
  for (const auto* tensors : {&huge.inputs, &huge.outputs})
    for (const Tensor& tensor : *tensors) {
      if (memory.contains(tensor.name)) continue; // updated in place
      const auto layout = layouts.find(tensor.name);
      if (layout == layouts.end()) {
        call.bind(tensor.name, few.address(tensor.name));
        continue;
      }
      const RowLayout& row = layout->second;
      const auto bytes = static_cast<std::size_t>(rows * row.size()) * size_of(tensor.dtype);
      const auto& whole = memory.try_emplace(tensor.name, bytes).first->second;
      call.bind(tensor.name, whole.data());
      if (tensors == &huge.outputs) continue;
      fill_bytes(whole.data(), 0, whole.bytes(), stream);
      for (std::int64_t i = 0; i < few_rows; ++i)
        copy_row(tensor, row, few.address(tensor.name), i, few_rows, whole.data(),
                 places[static_cast<std::size_t>(i)], rows, stream);
    }
  std::string_view ran;
  {
    test::Window window(test::kBlockPerTile);
    for (std::int64_t part = 0; part < kParts; ++part) {
      window.show(part, kParts);
      for (const std::int64_t place : places) window.show(place * kParts + part, rows * kParts);
    }
    // Blocks of inner axes are consecutive within those of outer axes, or have their own grid axis.
    for (const auto& [name, row] : layouts)
      for (std::int64_t o = 0; o < row.outer && row.outer <= kShownOuter; ++o)
        for (const std::int64_t place : places) window.show(o * rows + place, row.outer * rows);
    ran = variant.run(call, stream);
    stream.synchronize();
  }
  for (const Tensor& output : huge.outputs) {
    for (std::int64_t i = 0; i < few_rows; ++i)
      copy_row(output, layouts.at(output.name), memory.at(output.name).data(),
               places[static_cast<std::size_t>(i)], rows, few.address(output.name), i, few_rows,
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
    const RowLayouts layouts = row_layouts(of_one, problem(pattern, 2));
    if (layouts.empty()) continue;
    std::int64_t widest = 0;
    for (const auto& [name, row] : layouts) widest = std::max(widest, row.size());
    const std::int64_t rows = std::min(kMostRows, k2To32 / widest + 3);
    if (rows * widest <= k2To31) continue;
    const Problem huge = problem(pattern, rows);
    const std::vector<std::int64_t> at = places(huge, layouts, rows);
    Card scattered = card;
    for (Variant& variant : scattered.variants)
      variant.run = [&, variant](const Call& few, Stream& stream) {
        return run_at_places(variant, huge, layouts, at, rows, few, stream);
      };
    Judge of_few(scattered, judge.dtype());
    Sample sample = of_few.random(batch_of(pattern, std::ssize(at)));
    sample.fill += fmt::format(", as rows {} of {}", fmt::join(at, ", "), rows);
    of_few.check(sample);
    any = true;
  }
  EXPECT_TRUE(any) << "--huge judges batches whose outputs all have rows, and " << card.name
                   << " has none; leave --huge out";
}

} // namespace kg::card
