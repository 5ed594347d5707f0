// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What happened on the device while a trace was on: on a GPU by CUPTI's activity records, on the
// host backend by the executor's own clock.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kg::profile {

struct Activity {
  enum class Kind { kernel, copy, fill, call }; // calls are the caller's, the others the device's
  Kind kind = Kind::kernel;
  std::string name;
  double start_ns = 0; // all of one trace on one clock
  double duration_ns = 0;
};
std::string_view name(Activity::Kind kind);

struct Trace {
  std::vector<Activity> activities;
  std::size_t dropped = 0; // activities that were lost
};

// Traces this thread's work from its making to finish(), before which the device must be idle.
class Tracer {
 public:
  virtual ~Tracer() = default;
  virtual Trace finish() = 0;
};

// Throws Error where this build or this machine cannot trace, with the fix. One at a time.
std::unique_ptr<Tracer> start_trace();

} // namespace kg::profile
