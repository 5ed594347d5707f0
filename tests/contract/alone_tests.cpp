// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/alone_tests.h"

#include "runtime/backend.h"
#include "tests/contract/rows.h"
#include "tests/support/metamorphic.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace kg::card {
namespace {

constexpr std::int64_t kRows = 33; // odd, and more than the lanes of a warp

// Where a tensor stores the rows of a batch: each row has `each` indices of this axis.
struct RowAxis {
  std::size_t axis;
  std::int64_t each;
};

// The axis that is longer in a batch of kRows than in a batch of two; none if all rows share the
// tensor, or it is a result of all rows.
std::optional<RowAxis> row_axis(const Tensor& of_two, const Tensor& whole) {
  std::optional<RowAxis> found;
  for (std::size_t axis = 0; axis < whole.extents.size(); ++axis) {
    const std::int64_t few = of_two.extents.at(axis), many = whole.extents[axis];
    if (few == many) continue;
    require(!found && few % 2 == 0 && few / 2 * kRows == many,
            fmt::format("{}: axis {} has {} elements for 2 rows and {} for {}; a batch needs one "
                        "axis that has as many for each row",
                        whole.name, axis, few, many, kRows));
    found = {axis, few / 2};
  }
  return found;
}

using Rows = std::vector<std::int64_t>;

// One of the card's batches: its data, and selected rows in batches of other sizes.
class Batch {
 public:
  Batch(const Judge& judge, std::string pattern) : judge_(judge), pattern_(std::move(pattern)) {
    const Problem of_two = problem(2);
    whole = problem(kRows);
    inputs = completed(whole, {});
    EXPECT_EQ(of_two.scalars, whole.scalars) << pattern_ << ": a scalar depends on the rows";
    for (const auto* tensors : {&whole.inputs, &whole.outputs})
      for (const Tensor& tensor : *tensors)
        if (const auto axis = row_axis(of_two.tensor(tensor.name), tensor))
          axes_[tensor.name] = *axis;
    EXPECT_TRUE(std::any_of(whole.outputs.begin(), whole.outputs.end(),
                            [&](const Tensor& output) { return axes_.contains(output.name); }))
        << pattern_ << ": no output has rows";
  }

  Problem problem(std::int64_t rows) const {
    return problem_of(judge_.card(), judge_.dtype(), {"normal", batch_of(pattern_, rows)});
  }
  // Whether the variant is tested at all its sizes.
  bool tries(const Variant& variant) const {
    return variant.tries(whole) && variant.tries(problem(2)) && variant.tries(problem(1));
  }

  Inputs inputs_of(const Rows& rows) const {
    Inputs some;
    for (const auto& [name, input] : inputs) some[name] = part(name, input, kRows, rows);
    return some;
  }

  // The first element that differs between these rows' results, computed together, and their
  // results in the whole batch; empty if all bits match.
  std::string difference(const Rows& rows, const Inputs& together, const Inputs& in_whole,
                         const std::string& how) const {
    for (const Tensor& output : whole.outputs) {
      if (!axes_.contains(output.name)) continue; // a result of all rows
      for (std::int64_t i = 0; i < std::ssize(rows); ++i) {
        const std::int64_t row = rows[static_cast<std::size_t>(i)];
        const test::Observed seen =
            part(output.name, together.at(output.name), std::ssize(rows), {i});
        const test::Observed right = part(output.name, in_whole.at(output.name), kRows, {row});
        const auto [at, unused] =
            std::mismatch(seen.bits.begin(), seen.bits.end(), right.bits.begin(), right.bits.end());
        if (at == seen.bits.end()) continue;
        const auto element = static_cast<std::size_t>(at - seen.bits.begin());
        return fmt::format("row {} of {}: element {} of {} is {:.9g} (bits {:#x}) {}, and {:.9g} "
                           "(bits {:#x}) in the batch of {}",
                           row, whole.shape, element, output.name, seen.values[element],
                           seen.bits[element], how, right.values[element], right.bits[element],
                           kRows);
      }
    }
    return "";
  }

  Problem whole; // has kRows rows
  Inputs inputs;

 private:
  // The part of a tensor of `count` rows that belongs to these rows.
  test::Observed part(std::string_view name, const test::Observed& all, std::int64_t count,
                      const Rows& rows) const {
    const auto found = axes_.find(name);
    if (found == axes_.end()) return all;
    const std::span<const std::int64_t> extents = whole.tensor(name).extents;
    const auto [axis, each] = found->second;
    const std::int64_t run = each * test::element_count(extents.subspan(axis + 1));
    test::Observed some{all.dtype, {}, {}};
    for (std::int64_t i = 0; i < test::element_count(extents.first(axis)); ++i)
      for (const std::int64_t row : rows) {
        const auto append = [first = (i * count + row) * run, run](const auto& from, auto& to) {
          if (!from.empty()) to.insert(to.end(), from.begin() + first, from.begin() + first + run);
        };
        append(all.values, some.values);
        append(all.bits, some.bits);
      }
    return some;
  }

  const Judge& judge_;
  std::string pattern_;
  std::map<std::string, RowAxis, std::less<>> axes_; // of tensors that have rows
};

// A layout whose rows start off whole packs by `off` elements, after `packs` extra 16-byte packs.
Layout apart(const Problem& problem, std::int64_t packs, std::int64_t off) {
  Layout layout;
  for (const auto* tensors : {&problem.inputs, &problem.outputs})
    for (const Tensor& tensor : *tensors) {
      if (tensor.extents.size() < 2) continue;
      const std::int64_t pack = elements_per_pack(tensor.dtype);
      const std::int64_t row = tensor.extents.back() + tensor.gap;
      layout[tensor.name].gap = (pack - row % pack) % pack + packs * pack + off;
    }
  return layout;
}

// The differences of one variant on one batch; empty if all bits match.
struct Differences {
  std::string batch, stride;
};

Differences differences(Judge& judge, const Batch& batch, const Variant& variant) {
  const auto run = [&](const Problem& problem, const Inputs& inputs, const Layout& layout = {}) {
    // Other tests check which kernels run; `automatic` has none of its own.
    return execute(variant.run, problem, inputs, judge.stream(), layout).outputs;
  };
  const Inputs in_whole = run(batch.whole, batch.inputs);
  Differences found;
  const auto among = [&](const Rows& rows, const std::string& how) {
    if (!found.batch.empty()) return;
    found.batch = batch.difference(
        rows, run(batch.problem(std::ssize(rows)), batch.inputs_of(rows)), in_whole, how);
  };
  for (std::int64_t row = 0; row < kRows; row += 4) among({row}, "alone");
  among({0, kRows - 1}, "in a batch of 2");
  among({13, 0}, "in a batch of 2");
  among(test::permutation(kRows), "at another place of the same batch");
  if (!batch.whole.gaps) return found;
  Rows all(kRows);
  std::iota(all.begin(), all.end(), 0);
  const Inputs aligned = run(batch.whole, batch.inputs, apart(batch.whole, 0, 0));
  const auto by_stride = [&](const Layout& layout, const Inputs& expected, const char* how) {
    return batch.difference(all, run(batch.whole, batch.inputs, layout), expected, how);
  };
  if (found.batch.empty())
    found.batch = by_stride(apart(batch.whole, 3, 0), aligned,
                            "with rows further apart, at whole 16 bytes as before");
  found.stride = by_stride(apart(batch.whole, 1, 1), aligned, "with rows that begin off 16 bytes");
  if (found.stride.empty())
    found.stride = batch.difference(all, aligned, in_whole, "with rows that begin at 16 bytes");
  return found;
}

// A variant's declared dependences; some batch must confirm each of them.
class Claims {
 public:
  // `seen` is the difference, `why` the card's reason for it.
  void check(const Variant& variant, Dtype dtype, const char* of, std::string_view why,
             const std::string& seen) {
    if (why.empty()) {
      const std::string difference = seen.empty() ? "" : variant.name + ": " + seen;
      EXPECT_EQ(difference, "");
      return;
    }
    // 16-bit rounding hides most differences. A GPU runs more blocks at once.
    const Dtype most_exact = variant.dtypes.empty() ? Dtype::f32 : variant.dtypes.front();
    if (backend == Backend::host && dtype == most_exact)
      shown_[fmt::format("{} declares that bits depend on the {}: {}", variant.name, of, why)] |=
          !seen.empty();
  }
  void check_that_all_are_needed() const {
    for (const auto& [claim, shown] : shown_)
      EXPECT_TRUE(shown) << claim << "; no batch shows it: remove the reason, or add a batch";
  }

 private:
  std::map<std::string, bool> shown_;
};

// Whether `automatic` selects the same variant for any batch size; that variant is tested itself.
bool takes_one_variant(const Card& card, const Batch& batch) {
  const std::string_view taken = card.resolved(batch.whole);
  return !taken.empty() && taken == card.resolved(batch.problem(2)) &&
         taken == card.resolved(batch.problem(1)) && batch.tries(card.variant(taken));
}

} // namespace

void rows_alone(Judge& judge) {
  const Card& card = judge.card();
  std::vector<Variant> variants = card.variants;
  if (card.run_automatic) {
    variants.push_back({"automatic", card.run_automatic});
    variants.back().dependence = card.automatic_dependence;
  }
  std::set<std::string> tried;
  Claims claims;
  for (const std::string& pattern : card.batches(judge.dtype())) {
    const Batch batch(judge, pattern);
    for (const Variant& variant : variants) {
      if (!batch.tries(variant)) continue;
      tried.insert(variant.name);
      if (variant.name == "automatic" && takes_one_variant(card, batch)) continue;
      const Dependence declared = variant.dependence(batch.whole);
      const Differences seen = differences(judge, batch, variant);
      claims.check(variant, judge.dtype(), "batch", declared.batch, seen.batch);
      claims.check(variant, judge.dtype(), "stride", declared.stride, seen.stride);
    }
  }
  for (const Variant& variant : variants) {
    const auto& dtypes = variant.dtypes;
    const bool has_type =
        dtypes.empty() || std::find(dtypes.begin(), dtypes.end(), judge.dtype()) != dtypes.end();
    EXPECT_TRUE(!has_type || tried.contains(variant.name))
        << variant.name << " is tried on no batch of the operation descriptor";
  }
  claims.check_that_all_are_needed();
}

} // namespace kg::card
