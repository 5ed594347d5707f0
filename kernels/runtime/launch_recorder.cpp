// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>

namespace kg {
namespace {

thread_local LaunchRecorder* innermost = nullptr;

// Index of the parenthesis that opens the parameter list at the end of a demangled function; npos
// for other names.
std::size_t parameter_list(const std::string& function) {
  if (!function.ends_with(')')) return std::string::npos;
  int depth = 0;
  for (std::size_t i = function.size(); i-- > 0;) {
    if (function[i] == ')') ++depth;
    if (function[i] == '(' && --depth == 0) return i;
  }
  return std::string::npos;
}

} // namespace

LaunchRecorder::LaunchRecorder() : outer_(std::exchange(innermost, this)) {}

LaunchRecorder::~LaunchRecorder() { innermost = outer_; }

void LaunchRecorder::pass_on() const {
  if (outer_) outer_->launches_.insert(outer_->launches_.end(), launches_.begin(), launches_.end());
}

void record_launch(const LaunchConfig& config, const void* kernel) {
  if (!innermost) return; // without a recorder, skip the cost of demangling
  innermost->launches_.push_back({kernel, detail::kernel_name(kernel), config.grid, config.block,
                                  config.cluster, config.shared_bytes, config.cooperative,
                                  config.stream});
}

std::string detail::readable_kernel_name(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  if (status != 0 || !demangled) return mangled;
  std::string name = demangled.get();
  name.resize(std::min(name.size(), parameter_list(name)));
  if (name.starts_with("void ")) name.erase(0, 5); // appears only for templates
  return name;
}

} // namespace kg
