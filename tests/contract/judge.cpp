// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/contract.h"

#include "tests/oracle/compare.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/vacuity.h"
#include "tests/support/vendor_runs.h"

#include <fmt/format.h>

namespace kg::card {
namespace {

using test::Evidence;
using test::Expectation;

// An expectation and the bounds that it points to.
struct Bounded {
  Bounded(const Tensor& output, const Reference& reference, std::string_view variant)
      : tolerance(reference.tolerance ? reference.tolerance(variant) : std::vector<double>()) {
    expectation = {output.dtype, output.extents, reference.value, tolerance, reference.unit};
    if (tolerance.empty())
      expectation = test::exactly(output.dtype, output.extents, reference.value);
  }
  Bounded(const Bounded&) = delete;
  Bounded& operator=(const Bounded&) = delete;

  std::vector<double> tolerance;
  Expectation expectation{};
};

test::Degenerate degenerate(const Sample& sample, const Tensor& output) {
  if (sample.degenerate != test::Degenerate::no) return sample.degenerate;
  return test::degenerate_of(output.size());
}

} // namespace

test::VariantId Judge::id(std::string_view variant) const {
  return {card_.name, std::string(name(dtype_)), std::string(variant)};
}

test::CaseContext Judge::context(std::string_view variant, const Sample& sample,
                                 const Tensor& output) const {
  const std::string fill = card_.problem(dtype_, Shape::parse(sample.shape)).outputs.size() > 1
                               ? sample.fill + ", " + output.name
                               : sample.fill;
  return {test::CaseId(fmt::format("{}.{}.{}", card_.name, name(dtype_), sample.shape)),
          std::string(variant),
          fill,
          output.extents,
          {}};
}

Outcome Judge::run(const Variant& variant, const Problem& problem, const Inputs& inputs,
                   const Layout& layout) {
  Outcome outcome = execute(variant.run, problem, inputs, stream_, layout);
  EXPECT_EQ(outcome.ran, variant.name);
  for (const std::string& fault : outcome.faults)
    ADD_FAILURE() << fault << "\n  memory around " << card_.name << "." << name(dtype_) << "."
                  << problem.shape << " " << variant.name;
  const bool empty = problem.output_size() == 0;
  EXPECT_EQ(outcome.kernels.empty(), empty) << problem.shape;
  if (card_.kernel_name && !empty) {
    const std::string wanted = card_.kernel_name(variant.name, problem, layout);
    EXPECT_TRUE(outcome.kernels.size() == 1 && outcome.kernels[0].find(wanted) != std::string::npos)
        << "the kernel is not " << wanted << ": "
        << (outcome.kernels.empty() ? "none" : outcome.kernels[0]);
  }
  record(id(variant.name), empty ? Evidence::empty : Evidence::hygiene);
  return outcome;
}

Outcome Judge::run(std::string_view variant, const Sample& sample) {
  const Problem problem = problem_of(card_, dtype_, sample);
  return run(card_.variant(variant), problem, completed(problem, sample.inputs));
}

void Judge::check(const Sample& sample, const Layout& layout) {
  const Problem problem = problem_of(card_, dtype_, sample);
  check_against(sample, card_.references(problem, completed(problem, sample.inputs)), layout);
}

void Judge::check_against(const Sample& sample, const References& references,
                          const Layout& layout) {
  const Problem problem = problem_of(card_, dtype_, sample);
  const Inputs inputs = completed(problem, sample.inputs);
  bool any = false;
  for (const Variant& variant : card_.variants) {
    if (!variant.supports(problem)) continue;
    any = true;
    const Outcome outcome = run(variant, problem, inputs, layout);
    for (const Tensor& output : problem.outputs) {
      const Bounded bounded(output, references.at(output.name), variant.name);
      if (!sample.may_be_vacuous) {
        EXPECT_TRUE(not_vacuous(bounded.expectation, degenerate(sample, output)))
            << sample.fill << " " << sample.shape;
      }
      EXPECT_TRUE(verdict(compare(outcome.outputs.at(output.name), bounded.expectation),
                          context(variant.name, sample, output)));
    }
  }
  EXPECT_TRUE(any) << "no variant supports " << sample.shape;
}

void Judge::check_vendors(const Sample& sample) {
  const Problem problem = problem_of(card_, dtype_, sample);
  const Inputs inputs = completed(problem, sample.inputs);
  const References references = card_.references(problem, inputs);
  const auto vendors = card_.vendors.names(problem);
  if (vendors.empty()) test::report_no_vendor(card_.name, dtype_);
  for (const Variant& variant : card_.variants) {
    if (!variant.supports(problem)) continue;
    // Before the vendor writes the same values.
    const Outcome ours = run(variant, problem, inputs);
    for (const std::string_view vendor : vendors) {
      Outcome theirs;
      if (!test::vendor_runs([&] {
            theirs = execute(
                [&](const Call& call, Stream& stream) {
                  card_.vendors.run(vendor, call, stream);
                  return vendor;
                },
                problem, inputs, stream_);
          }))
        continue;
      for (const Tensor& output : problem.outputs) {
        const Reference& reference = references.at(output.name);
        const Bounded bounded(output, reference, variant.name);
        const Bounded of_vendor(output, reference, "");
        Sample beside = sample;
        beside.fill += " beside " + std::string(vendor);
        EXPECT_TRUE(verdict(compare_with_vendor(ours.outputs.at(output.name),
                                                theirs.outputs.at(output.name), bounded.expectation,
                                                of_vendor.tolerance),
                            context(variant.name, beside, output)));
      }
    }
  }
}

} // namespace kg::card
