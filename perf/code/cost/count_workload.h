// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts one execution of a workload, in a program linked with the counters.
#pragma once

#include "perf/measure/suite.h"
#include "runtime/error.h"
#include "runtime/host/count/counts.h"

#include <functional>
#include <string>
#include <vector>

namespace kg::cost {

// The workload's launches, without those that fill its data. `take_launches` is
// count::take_launches. Throws Error, with `name` first, if the result is wrong.
inline std::vector<count::Launch>
count_workload(const perf::Workload& workload,
               const std::function<std::vector<count::Launch>()>& take_launches,
               const std::string& name) {
  Stream stream;
  workload.poison(stream);
  stream.synchronize();
  take_launches();
  workload.run(stream);
  stream.synchronize();
  std::vector<count::Launch> launches = take_launches();
  if (const std::string wrong = workload.verify(stream); !wrong.empty())
    throw Error(name + ": INVALID: " + wrong);
  return launches;
}

} // namespace kg::cost
