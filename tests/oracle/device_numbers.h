// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The device's 16-bit types as element types of tests and timed cases.
#pragma once

#include "tests/oracle/numbers.h"

#include "runtime/device_code.h"

namespace kg::test {

template <>
struct DtypeOf<f16> {
  static constexpr Dtype value = Dtype::f16;
};
template <>
struct DtypeOf<bf16> {
  static constexpr Dtype value = Dtype::bf16;
};

} // namespace kg::test
