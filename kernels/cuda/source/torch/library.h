// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// An extension's registrations with Python and the dispatcher compile, but nothing uses them.
#pragma once

#include <utility>

namespace kg::torch {

struct Table {
  template <class... Words>
  Table& def(const Words&...) {
    return *this;
  }
  template <class... Words>
  Table& impl(const Words&...) {
    return *this;
  }
  template <class Word>
  void doc(const Word&) {}
};

} // namespace kg::torch

namespace pybind11 {

using module_ = kg::torch::Table;
using module = kg::torch::Table;
struct arg {
  explicit arg(const char*) {}
  template <class T>
  arg operator=(T&&) const {
    return *this;
  }
};
template <class... T>
struct call_guard {};
struct gil_scoped_release {};

} // namespace pybind11

#define PYBIND11_MODULE(name, variable)                                                            \
  [[maybe_unused]] static void kg_python_module([[maybe_unused]] ::kg::torch::Table& variable)
#define KG_TORCH_JOINED(a, b) a##b
#define KG_TORCH_LIBRARY(variable, number)                                                         \
  [[maybe_unused]] static void KG_TORCH_JOINED(kg_torch_library_, number)(                         \
      [[maybe_unused]] ::kg::torch::Table & variable)
#define TORCH_LIBRARY(name, variable) KG_TORCH_LIBRARY(variable, __COUNTER__)
#define TORCH_LIBRARY_FRAGMENT(name, variable) KG_TORCH_LIBRARY(variable, __COUNTER__)
#define TORCH_LIBRARY_IMPL(name, key, variable) KG_TORCH_LIBRARY(variable, __COUNTER__)
