// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What every operation must pass, by its card. Per type these tests, in the suite Contract/<dtype>:
//
//   ExactFill               data whose results every legal order of operations gives
//   RandomAgainstOracle     within the derived bound of the fp64 oracle
//   RandomAgainstVendors    beside each library that has the operation
//   SpecialValues           NaN, infinities, signed zeros, the ends of the ranges
//   Subnormals              numbers below the normal range, in each input by itself
//   Sizes                   around packs, warps, blocks and tiles; nothing at all
//   Misaligned              tensors at odd addresses, and rows apart where the operation allows it
//   Pitches                 each stride by itself, and together, in and off whole packs
//   RowsFarApart            by more than 2^31 elements, where rows may lie apart
//   InPlace                 outputs in the memory of inputs that they may take
//   SameBitsEveryTime       in every run and order of threads
//   RowsAlone               each row's bits, whatever is beside it and wherever it lies
//   SameBitsAsSource        of kernels as nvcc compiled them: g++'s bits, or why not
//   WaitsForItsStream       behind work that still writes the inputs
//   AutomaticReportsWhatRan
//   RefusesWrongArguments   negative extents, null pointers, memory that overlaps in part
//   WorkIsItsTraffic        each input read once, each output written once
//   ListsProblems           the shapes that are timed, on the host and on a GPU, are problems
//
// Every run is made in watched memory (execute.h), and every comparison enters the ledger. What is
// an operation's own stands in tests/ops/<op>/<op>_test.cu, which uses Judge.
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

// Judges one operation in one type.
class Judge {
 public:
  Judge(const Card& card, Dtype dtype) : card_(card), dtype_(dtype) {}

  // Random data of this shape.
  Sample random(const std::string& shape) const;

  // Every variant that supports it (of `only`, where that names any) on this sample, against the
  // oracle.
  void check(const Sample& sample, const Layout& layout = {},
             const std::vector<std::string_view>& only = {});

  // The same, each result exactly the sample's expected, or the oracle's, rounded, where it names
  // none.
  void check_exactly(const Sample& sample);

  // The same against results of another source, by the output's name.
  void check_against(const Sample& sample, const References& references, const Layout& layout = {},
                     const std::vector<std::string_view>& only = {});

  // The same at each of these places in memory.
  void check_at(const std::vector<Layout>& layouts, const Sample& sample,
                const References& references, const std::vector<std::string_view>& only = {});

  // Beside every vendor, on numbers.
  void check_vendors(const Sample& sample, const Layout& layout = {});

  // That those kernels ran, by their names, that must.
  void check_kernels(const Outcome& outcome, const Problem& problem, const Layout& layout = {});

  // What a variant makes of it, with everything checked but the values.
  Outcome run(const Variant& variant, const Problem& problem, const Inputs& inputs,
              const Layout& layout = {});
  Outcome run(std::string_view variant, const Sample& sample);

  // test(variant) for each of ours that supports the sample's problem.
  void each_variant(const Sample& sample, const std::function<void(const Variant&)>& test);

  // A variant's name in the ledger. It begins with the form (Card::forms), unless that is "".
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
