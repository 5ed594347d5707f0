// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Slow-downs put in on purpose, so that what the gate finds can be counted. They are real extra
// time inside the measured region, and never silent: the command says so, and each row carries the
// tag judge::kInjectedTag, with which nothing can be blessed.
#pragma once

#include "runtime/stream.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kg::perf {

inline constexpr const char* kInjectVariable = "KERNELGRADE_INJECT";

struct Injection {
  double share = 0; // by which each timed execution of our rows takes longer; 0.05 is 5 %
  std::string text; // "5 %", or what a random term came to: "31.4 % (wild:0.03)"
};

// Terms joined by ',', whose slow-downs multiply:
//   <percent>          every process, 0 to 1000
//   wild:<share>       in this share of processes, evenly from 0 to 50 %
//   bimodal:<percent>  in one process of five
// `draw` returns numbers evenly from [0, 1), two for each random term. Throws Error on anything
// else. Nothing for an empty text.
std::optional<Injection> parse_injection(std::string_view text,
                                         const std::function<double()>& draw);

// KERNELGRADE_INJECT of this process, its random terms drawn anew.
std::optional<Injection> injection_here();

// Keeps the device busy for a given time.
class Spin {
 public:
  // On cuda, measures what the kernel that waits costs behind another one; on the host there is
  // nothing to know.
  explicit Spin(Stream& stream);

  // Host: computes until `ns` have passed. Cuda: enqueues a kernel after which the stream is done
  // `ns` later. Throws Error where that kernel alone takes longer. 0 does nothing.
  void run(double ns, Stream& stream) const;

 private:
  double overhead_ns_ = 0;
  double rate_ = 1; // ns that pass per nominal ns of delay()
};

} // namespace kg::perf
