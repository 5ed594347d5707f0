// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device activity during a trace: on a GPU from CUPTI's activity records, on the host backend from
// the executor's own clock.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kg::profile {

struct Activity {
  enum class Kind { kernel, copy, fill, call }; // call: of the caller; the others: of the device
  Kind kind = Kind::kernel;
  std::string name;
  double start_ns = 0; // one clock per trace
  double duration_ns = 0;
};
std::string_view name(Activity::Kind kind);

struct Trace {
  std::vector<Activity> activities;
  std::size_t dropped = 0; // lost activities
};

// Traces this thread's work from construction to finish(). The device must be idle before finish().
class Tracer {
 public:
  virtual ~Tracer() = default;
  virtual Trace finish() = 0;
};

// Throws Error, with the fix, if this build or machine cannot trace. One trace at a time.
std::unique_ptr<Tracer> start_trace();

} // namespace kg::profile
