// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The name of a case and what a failure must say: which case, on what data, and the command that
// runs it again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/dtype.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/ledger.h"

namespace kg::test {

// <op>.<dtype>.<parameters> of letters, digits, '_' and '.', for example gemm.f32.m96_n128_k64_nn.
// Throws kg::Error for anything else.
class CaseId {
 public:
  explicit CaseId(std::string text);
  const std::string& text() const { return text_; }
  std::string op() const { return text_.substr(0, text_.find('.')); }
  std::string dtype() const; // what stands between the first two dots

 private:
  std::string text_;
};

struct CaseContext {
  CaseId id;
  std::string variant;               // whose result: naive, tiled, cublas, ...
  std::string fill;                  // Fill::name or description
  std::vector<std::int64_t> shape;   // of the result
  std::vector<std::int64_t> strides; // in elements; empty: dense
};

// Seed, case, variant, fill, shape, strides and the reproduction command, in lines that follow a
// comparison's text.
std::string failure_context(const CaseContext& context);

// KERNELGRADE_SEED=<seed> <program> --gtest_filter=<test>, for the running test (the whole program
// outside of one), with what else the environment sets of the executor.
std::string reproduction_command();

// `program` as a user types it at the project's root: the part of the path from the last /build/
// on, as ./build/...; any other path is left as it is.
std::string from_project_root(std::string_view program);

// The comparison's verdict as a GoogleTest assertion, with the whole failure text. What was
// compared goes into the ledger.
testing::AssertionResult verdict(const Comparison& comparison, const CaseContext& context);

// The same; an inaccurate vendor is printed and recorded as the test's property vendor_inaccurate,
// and does not fail it.
testing::AssertionResult verdict(const VendorComparison& comparison, const CaseContext& context);

} // namespace kg::test
