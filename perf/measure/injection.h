// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Injected slow-downs, to count how many of them the gate finds. They add real time inside the
// measured region. The command reports them, and each row gets the tag judge::kInjectedTag, which
// excludes it from baselines.
#pragma once

#include "runtime/stream.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kg::perf {

inline constexpr const char* kInjectVariable = "KERNELGRADE_INJECT";

struct Injection {
  double share = 0; // added to the time of each execution of our rows; 0.05 is 5 %
  std::string text; // "5 %", or the value drawn for a random term: "31.4 % (wild:0.03)"
};

// Terms joined by ',', whose slow-downs multiply:
//   <percent>          every process, 0 to 1000
//   wild:<share>       this share of processes, uniformly from 0 to 50 %
//   bimodal:<percent>  one process in five
// `draw` returns uniform numbers from [0, 1) and is called twice for each random term. Empty for an
// empty text. Throws Error on any other term.
std::optional<Injection> parse_injection(std::string_view text,
                                         const std::function<double()>& draw);

// KERNELGRADE_INJECT, with newly drawn random terms.
std::optional<Injection> injection_here();

// Keeps the device busy for a given time.
class Spin {
 public:
  // On a GPU, measures the overhead of the waiting kernel after another kernel.
  explicit Spin(Stream& stream);

  // Host: computes until `ns` have passed. GPU: enqueues a kernel that delays the stream by `ns`;
  // throws Error if the kernel's overhead alone is longer. 0 does nothing.
  void run(double ns, Stream& stream) const;

 private:
  double overhead_ns_ = 0;
  double rate_ = 1; // ns that pass per nominal ns of delay()
};

} // namespace kg::perf
