// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The conformance tests of every operation, driven by its card. Suite Contract/<dtype> has:
//
//   ExactFill               data with the same result in every legal order of operations
//   RandomAgainstOracle     within the derived bound around the fp64 oracle
//   RandomAgainstVendors    compared with each library that has the operation
//   SpecialValues           NaN, infinities, signed zeros, the limits of the ranges
//   Subnormals              numbers below the normal range, in one input at a time
//   Sizes                   around packs, warps, blocks and tiles; empty problems
//   Misaligned              tensors at odd addresses, and row gaps where the operation allows them
//   Pitches                 each stride alone and all together, at and off whole packs
//   LargeStrides            rows more than 2^31 elements apart, where gaps are allowed
//   InPlace                 outputs in the memory of inputs that they may share
//   SameBitsEveryTime       in every run and thread order
//   RowsAlone               a row has the same bits in any batch and at any position
//   SameBitsAsSource        nvcc's code gives g++'s bits, or the card says why not
//   WaitsForItsStream       queued after work that still writes the inputs
//   AutomaticReportsWhatRan
//   RefusesWrongArguments   negative extents, null pointers, partial overlap
//   WorkIsItsTraffic        each input read once, each output written once
//   ListsProblems           the shapes timed on the host and on a GPU are valid problems
//
// Runs use watched memory (execute.h), and all comparisons are recorded in the ledger. An
// operation's own tests are in tests/ops/<op>/<op>_test.cu and use Judge.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/contract/card.h"
#include "tests/contract/execute.h"
#include "tests/contract/named_card.h"
#include "tests/support/case.h"
#include "tests/support/ledger.h"

namespace kg::card {

// Runs the checks for one operation in one type.
class Judge {
 public:
  Judge(const Card& card, Dtype dtype) : card_(card), dtype_(dtype) {}

  // Random data of this shape.
  Sample random(const std::string& shape) const;

  // Compares every variant that supports the sample (limited to `only` unless empty) with the
  // oracle.
  void check(const Sample& sample, const Layout& layout = {},
             const std::vector<std::string_view>& only = {});

  // The same, but each result must equal the sample's `expected`, or else the rounded oracle
  // result.
  void check_exactly(const Sample& sample);

  // The same against results from another source, by output name.
  void check_against(const Sample& sample, const References& references, const Layout& layout = {},
                     const std::vector<std::string_view>& only = {});

  // The same for each of these layouts.
  void check_at(const std::vector<Layout>& layouts, const Sample& sample,
                const References& references, const std::vector<std::string_view>& only = {});

  // Compares with every vendor, on numbers only.
  void check_vendors(const Sample& sample, const Layout& layout = {});

  // Checks the names of the kernels that ran against those that must run.
  void check_kernels(const Outcome& outcome, const Problem& problem, const Layout& layout = {});

  // Runs a variant and checks everything except the values.
  Outcome run(const Variant& variant, const Problem& problem, const Inputs& inputs,
              const Layout& layout = {});
  Outcome run(std::string_view variant, const Sample& sample);

  // Calls test(variant) for each of our variants that supports the sample's problem.
  void each_variant(const Sample& sample, const std::function<void(const Variant&)>& test);

  // A variant's name in the ledger. Starts with the form (Card::forms), unless that is "".
  test::VariantId id(std::string_view variant, const Problem& problem) const;
  test::VariantId form_id(std::string_view variant, const std::string& form) const;
  test::CaseContext context(std::string_view variant, const Problem& problem,
                            const std::string& fill, const Tensor& output) const;
  const Card& card() const { return card_; }
  Dtype dtype() const { return dtype_; }
  Stream& stream() { return stream_; }

 private:
  const Card& card_;
  Dtype dtype_;
  Stream stream_;
};

} // namespace kg::card
