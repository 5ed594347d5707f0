// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// For the host backend: the executor times each grid. Copies and fills are the host's own work.
#include "perf/lab/profile/trace.h"

#include "runtime/host/launch_timer.h"
#include "runtime/launch.h"

namespace kg::profile {
namespace {

class HostTracer : public Tracer {
 public:
  Trace finish() override {
    Trace trace;
    for (const host::TimedLaunch& launch : timer_.launches())
      trace.activities.push_back({Activity::Kind::kernel, detail::kernel_name(launch.kernel),
                                  launch.start_ns, launch.duration_ns});
    return trace;
  }

 private:
  host::LaunchTimer timer_;
};

} // namespace

std::unique_ptr<Tracer> start_trace() { return std::make_unique<HostTracer>(); }

} // namespace kg::profile
