// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Each test twice: on the kernels as g++ compiles the source, and on the PTX that nvcc made of it.
#pragma once

#include "runtime/ptx/library.h"
#include "tests/unit/kernels/runtime/executor_support.h"

#include <gmock/gmock.h>
#include <string_view>
#include <vector>

namespace kg::bulk {

enum class Form { source, ptx };

class Forms : public testing::TestWithParam<Form> {
 protected:
  void SetUp() override {
    if (GetParam() == Form::source) return;
    if (std::string_view(KERNELGRADE_FATBINS).empty()) GTEST_SKIP() << "no nvcc";
    ptx_run::use(KERNELGRADE_FATBINS);
  }
  void TearDown() override { ptx_run::use(""); }
};

inline std::string form_name(const testing::TestParamInfo<Form>& form) {
  return form.param == Form::source ? "source" : "ptx";
}

} // namespace kg::bulk

#define KG_IN_BOTH_FORMS(suite)                                                                    \
  INSTANTIATE_TEST_SUITE_P(InBothForms, suite, testing::Values(Form::source, Form::ptx), form_name)
