// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A case's name and the context of a failure message: the case, its data, and the command that
// reproduces it.
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
  std::string dtype() const; // the text between the first two dots

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

// Seed, case, variant, fill, shape, strides and the reproduction command: the lines after a
// comparison's text.
std::string failure_context(const CaseContext& context);

// KERNELGRADE_SEED=<seed> <program> --gtest_filter=<test> for the running test (outside a test: the
// whole program), with the environment's other executor settings.
std::string reproduction_command();

// `program` as typed in the project's root: the path from the last /build/ on, as ./build/...;
// other paths are unchanged.
std::string from_project_root(std::string_view program);

// The comparison's verdict as a GoogleTest assertion, with the complete failure text. Records the
// comparison in the ledger.
testing::AssertionResult verdict(const Comparison& comparison, const CaseContext& context);

// The same; an inaccurate vendor is printed and recorded as the property vendor_inaccurate, but
// does not fail the test.
testing::AssertionResult verdict(const VendorComparison& comparison, const CaseContext& context);

} // namespace kg::test
