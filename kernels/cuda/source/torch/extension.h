// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of PyTorch's <torch/extension.h> that kernel launchers use, without PyTorch.
#pragma once

#include "cuda/source/torch/arithmetic.h"
#include "cuda/source/torch/dispatch.h"
#include "cuda/source/torch/factories.h"
#include "cuda/source/torch/library.h"
#include "cuda/source/torch/stream.h"

#include <iostream>
#include <string>
#include <tuple>
#include <vector>

// PyTorch's aliases.
namespace c10 {
using std::nullopt;
using std::optional;
} // namespace c10

namespace torch {
using namespace at;

inline TensorOptions device(Device where) { return TensorOptions(where); }
inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
template <class Function>
Function wrap_pybind_function(Function function) {
  return function;
}

} // namespace torch

namespace at {
using torch::device;
using torch::dtype;
} // namespace at

namespace py = pybind11;
