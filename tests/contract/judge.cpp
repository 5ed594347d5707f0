// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/contract.h"

#include "runtime/backend.h"
#include "tests/contract/form.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/accuracy.h"
#include "tests/support/vacuity.h"
#include "tests/support/vendor_runs.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>

namespace kg::card {
namespace {

using test::Evidence;
using test::Expectation;

// A counted output with its expected length.
Tensor with_its_length(Tensor output, const Reference& reference) {
  if (!output.counted_by.empty()) output.extents = {std::ssize(reference.value)};
  return output;
}

// An output's expectation, and the bounds that it references.
struct Bounded {
  Bounded(const Tensor& whole, const Reference& reference, std::string_view variant,
          test::SignedZero zero = test::SignedZero::must_match)
      : output(with_its_length(whole, reference)),
        tolerance(reference.tolerance ? reference.tolerance(variant) : std::vector<double>()) {
    expectation = {output.dtype, output.extents, reference.value, tolerance, reference.unit};
    if (tolerance.empty())
      expectation = {output.dtype, output.extents, reference.value, {}, {}, zero};
  }
  Bounded(const Bounded&) = delete;
  Bounded& operator=(const Bounded&) = delete;

  Tensor output;
  std::vector<double> tolerance;
  Expectation expectation{};
};

test::Degenerate degenerate(const Sample& sample, const Tensor& output,
                            const Reference& reference) {
  const test::Degenerate by_size = test::degenerate_of(output.size());
  if (by_size == test::Degenerate::empty) return by_size;
  if (sample.degenerate != test::Degenerate::no) return sample.degenerate;
  return reference.bits == std::vector<std::uint64_t>{0} ? test::Degenerate::zero : by_size;
}

// Checks the nonzero elements, as one row.
testing::AssertionResult not_vacuous_without_zeros(const Expectation& expectation) {
  std::vector<double> value, tolerance;
  for (std::size_t i = 0; i < expectation.value.size(); ++i) {
    if (expectation.value[i] == 0) continue;
    value.push_back(expectation.value[i]);
    if (!expectation.tolerance.empty()) tolerance.push_back(expectation.tolerance[i]);
  }
  const std::int64_t count = std::ssize(value);
  return test::not_vacuous({expectation.dtype, {count}, value, tolerance},
                           count == 1 ? test::Degenerate::single_element : test::Degenerate::no);
}

testing::AssertionResult not_vacuous(const Reference& reference, const Bounded& bounded,
                                     test::Degenerate degenerate) {
  if (reference.holds_zeros && degenerate == test::Degenerate::no)
    return not_vacuous_without_zeros(bounded.expectation);
  if (reference.bits.empty()) return test::not_vacuous(bounded.expectation, degenerate);
  return test::not_vacuous_bits(bounded.output.dtype, bounded.output.extents, reference.bits,
                                degenerate);
}

bool same_bits(const Inputs& outputs, const Inputs& others) {
  return std::equal(outputs.begin(), outputs.end(), others.begin(), others.end(),
                    [](const auto& a, const auto& b) {
                      return a.first == b.first && a.second.bits == b.second.bits;
                    });
}

test::Comparison compare(const test::Observed& actual, const Reference& reference,
                         const Bounded& bounded) {
  if (reference.bits.empty()) return test::compare(actual, bounded.expectation);
  return test::compare_bits(actual, bounded.output.extents, reference.bits);
}

} // namespace

test::VariantId Judge::form_id(std::string_view variant, const std::string& form) const {
  return {card_.name, std::string(name(dtype_)),
          (form.empty() ? "" : form + "_") + std::string(variant)};
}

test::VariantId Judge::id(std::string_view variant, const Problem& problem) const {
  return form_id(variant, form_of(card_, problem));
}

test::CaseContext Judge::context(std::string_view variant, const Problem& problem,
                                 const std::string& fill, const Tensor& output) const {
  const std::string of = problem.outputs.size() > 1 ? ", " + output.name : "";
  return {test::CaseId(fmt::format("{}.{}.{}", card_.name, name(dtype_), problem.shape)),
          id(variant, problem).variant,
          fill + of,
          output.extents,
          {}};
}

void Judge::check_kernels(const Outcome& outcome, const Problem& problem, const Layout& layout) {
  std::vector<std::vector<std::string>> right;
  if (card_.kernels)
    right = card_.kernels(outcome.ran, problem, layout);
  else if (problem.output_size() > 0)
    right.assign(card_.launches(outcome.ran, problem),
                 card_.kernel_name ? card_.kernel_name(outcome.ran, problem, layout)
                                   : std::vector<std::string>());
  ASSERT_EQ(outcome.kernels.size(), right.size()) << problem.shape << " " << outcome.ran;
  for (std::size_t i = 0; i < right.size(); ++i)
    for (const std::string& part : right[i])
      EXPECT_NE(outcome.kernels[i].find(part), std::string::npos)
          << outcome.kernels[i] << " ran where the kernel's name should hold " << part;
}

Outcome Judge::run(const Variant& variant, const Problem& problem, const Inputs& inputs,
                   const Layout& layout) {
  Outcome outcome = execute(variant.run, problem, inputs, stream_, layout);
  EXPECT_EQ(outcome.ran, variant.name);
  for (const std::string& fault : outcome.faults)
    ADD_FAILURE() << fault << "\n  memory around " << card_.name << "." << name(dtype_) << "."
                  << problem.shape << " " << variant.name;
  if (card_.launches) check_kernels(outcome, problem, layout);
  const bool nothing =
      problem.outputs[0].size() == 0 ||
      (!problem.inputs.empty() &&
       std::all_of(problem.inputs.begin(), problem.inputs.end(),
                   [](const Tensor& input) { return input.size() == 0; })); // empty sums
  record(id(variant.name, problem), nothing ? Evidence::empty : Evidence::hygiene);
  return outcome;
}

Outcome Judge::run(std::string_view variant, const Sample& sample) {
  const Problem problem = problem_of(card_, dtype_, sample);
  return run(card_.variant(variant), problem, completed(problem, sample.inputs));
}

void Judge::each_variant(const Sample& sample, const std::function<void(const Variant&)>& test) {
  const Problem problem = problem_of(card_, dtype_, sample);
  bool any = false;
  for (const Variant& variant : card_.variants) {
    if (!variant.tries(problem)) continue;
    test(variant);
    any = true;
  }
  EXPECT_TRUE(any) << "no variant is tried on " << sample.shape;
}

Sample Judge::random(const std::string& shape) const {
  const Problem problem = card_.problem(dtype_, Shape::parse(shape));
  return {.fill = card_.source ? "unique_bits" : "normal",
          .shape = shape,
          .degenerate = card_.degenerate(problem),
          .zero = card_.zero,
          .vacuous_outputs = card_.vacuous_outputs(problem)};
}

void Judge::check(const Sample& sample, const Layout& layout,
                  const std::vector<std::string_view>& only) {
  const Problem problem = problem_of(card_, dtype_, sample);
  Sample whole = sample; // draws its inputs once
  whole.inputs = completed(problem, sample.inputs);
  check_against(whole, card_.references(problem, whole.inputs), layout, only);
}

void Judge::check_exactly(const Sample& sample) {
  const Problem problem = problem_of(card_, dtype_, sample);
  References references;
  for (const auto& [output, value] : sample.expected) references[output] = {value, {}};
  if (references.size() < problem.outputs.size()) {
    References of_oracle = card_.references(problem, completed(problem, sample.inputs));
    for (const Tensor& output : problem.outputs) {
      Reference& reference = of_oracle.at(output.name);
      if (sample.expected.empty()) {
        reference.tolerance = {};
        if (reference.bits.empty())
          for (double& value : reference.value) value = test::round_to(output.dtype, value);
      }
      references.try_emplace(output.name, std::move(reference));
    }
  }
  check_against(sample, references);
}

void Judge::check_against(const Sample& sample, const References& references, const Layout& layout,
                          const std::vector<std::string_view>& only) {
  check_at({layout}, sample, references, only);
}

void Judge::check_at(const std::vector<Layout>& layouts, const Sample& sample,
                     const References& references, const std::vector<std::string_view>& only) {
  const Problem problem = problem_of(card_, dtype_, sample);
  const Inputs inputs = completed(problem, sample.inputs), stored = encoded(inputs);
  std::map<std::string, std::vector<double>> examined; // by output, with the last tolerance
  each_variant(sample, [&](const Variant& variant) {
    if (!only.empty() && std::find(only.begin(), only.end(), variant.name) == only.end()) return;
    std::map<std::string, Bounded> bounds;
    for (const Tensor& output : problem.outputs) {
      const Reference& reference = references.at(output.name);
      const Bounded& bounded =
          bounds.try_emplace(output.name, output, reference, variant.name, sample.zero)
              .first->second;
      const auto& vacuous = sample.vacuous_outputs;
      const auto before = examined.find(output.name);
      const bool is_new = before == examined.end() || before->second != bounded.tolerance;
      if (is_new && !sample.may_be_vacuous &&
          std::find(vacuous.begin(), vacuous.end(), output.name) == vacuous.end()) {
        EXPECT_TRUE(not_vacuous(reference, bounded, degenerate(sample, bounded.output, reference)))
            << sample.fill << " " << sample.shape;
        examined[output.name] = bounded.tolerance;
      }
    }
    Inputs last; // outputs already judged: equal bits get the same verdict
    for (const Layout& layout : layouts) {
      Outcome outcome = run(variant, problem, stored, layout);
      if (same_bits(outcome.outputs, last)) continue;
      for (const auto& [name, bounded] : bounds) {
        const test::Comparison found =
            compare(outcome.outputs.at(name), references.at(name), bounded);
        if (!found.exact)
          test::record_share(id(variant.name, problem), name, found.share,
                             problem.shape + ", " + sample.fill);
        EXPECT_TRUE(verdict(found, context(variant.name, problem, sample.fill, bounded.output)))
            << card_.hint(problem, inputs, found);
      }
      EXPECT_EQ(card_.also(problem, outcome.outputs), "")
          << variant.name << " on " << sample.fill << " " << sample.shape;
      last = std::move(outcome.outputs);
    }
  });
}

namespace {

// Approximations at the limit of what the PTX ISA allows (runtime/ptx/isa_latitude.h) must stay
// within the bounds. But only a GPU's real approximations can be compared with a library's
// accuracy.
bool approximations_are_off() {
  const char* const seed = std::getenv("KERNELGRADE_PTX_APPROX");
  return seed != nullptr && *seed != '\0';
}

} // namespace

void Judge::check_vendors(const Sample& sample, const Layout& layout) {
  Problem problem = problem_of(card_, dtype_, sample);
  problem.patterns = false; // a library may pass elements through arithmetic
  const Inputs inputs = completed(problem, sample.inputs);
  const References references = card_.references(problem, inputs);
  const auto vendors = card_.vendors.names(problem);
  // A CPU may lack the instructions for these types (libraries/host/onednn.h), but for no others.
  const bool is_16_bit = dtype_ == Dtype::f16 || dtype_ == Dtype::bf16;
  if (vendors.empty()) test::report_no_vendor(card_.name, dtype_);
  if (backend == Backend::host && dtype_ == Dtype::f32) {
    EXPECT_EQ(std::set(vendors.begin(), vendors.end()), card_.vendors.on_host(problem))
        << sample.shape;
  }
  for (const Variant& variant : card_.variants) {
    if (!variant.tries(problem)) continue;
    // Run first: the vendor writes the same values.
    const Outcome ours = run(variant, problem, inputs, layout);
    bool any_runs = vendors.empty();
    for (const std::string_view vendor : vendors) {
      const Problem of_vendor = card_.vendors.problem(problem, vendor);
      Outcome theirs;
      if (!test::vendor_runs([&] {
            theirs = execute(
                [&](const Call& call, Stream& stream) {
                  card_.vendors.prepare(vendor, call, stream);
                  card_.vendors.run(vendor, call, stream);
                  return vendor;
                },
                of_vendor, completed(of_vendor, inputs), stream_, layout);
          })) {
        EXPECT_TRUE(backend == Backend::cuda || is_16_bit) << vendor << " lacks " << sample.shape;
        continue;
      }
      any_runs = true;
      for (const Tensor& whole : of_vendor.outputs) {
        if (whole.dtype != problem.tensor(whole.name).dtype) continue;
        const Reference& reference = references.at(whole.name);
        Bounded bound(whole, reference, variant.name, card_.vendors.zero);
        if (!variant.accurate || approximations_are_off()) bound.expectation.unit = {};
        const Bounded bound_of_vendor(whole, reference, "");
        EXPECT_TRUE(
            verdict(compare_with_vendor(ours.outputs.at(whole.name), theirs.outputs.at(whole.name),
                                        bound.expectation, bound_of_vendor.tolerance),
                    context(variant.name, problem, fmt::format("{} beside {}", sample.fill, vendor),
                            bound.output)));
      }
    }
    // An explicit refusal of the problem by all libraries is also an answer.
    if (!any_runs) {
      testing::Test::RecordProperty("vendor_refused", problem.shape);
      record(id(variant.name, problem), Evidence::vendor);
    }
  }
}

} // namespace kg::card
