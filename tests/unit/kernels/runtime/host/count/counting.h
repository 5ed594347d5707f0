// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the tests of the counters count one launch, in every order of threads. The same figures must
// come from every compilation of the kernels (CMakeLists.txt).
#pragma once

#include "runtime/buffer.h"
#include "runtime/host/count/counts.h"
#include "runtime/launch.h"
#include "runtime/schedule.h"
#include "tests/unit/kernels/runtime/host/count/kernels.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace kg::test {

template <class... Parameters, class... Arguments>
count::Launch counted(void (*kernel)(Parameters...), const LaunchConfig& config,
                      Arguments&&... arguments) {
  count::take_launches();
  launch(kernel, config, std::forward<Arguments>(arguments)...);
  std::vector<count::Launch> launches = count::take_launches();
  EXPECT_EQ(launches.size(), 1u);
  return launches.empty() ? count::Launch{} : std::move(launches.front());
}

// All lines of one kind together; their widths must be equal.
inline count::Site total(const count::Launch& launch, count::Memory memory, count::Access access) {
  count::Site sum;
  for (const count::Site& site : launch.sites) {
    if (site.memory != memory || site.access != access) continue;
    EXPECT_TRUE(sum.width == 0 || sum.width == site.width) << site.line;
    sum.line = site.line;
    sum.width = site.width;
    sum.requests += site.requests;
    sum.lanes += site.lanes;
    sum.sectors += site.sectors;
    sum.least_sectors += site.least_sectors;
    sum.wavefronts += site.wavefronts;
    sum.least_wavefronts += site.least_wavefronts;
    sum.direct_wavefronts += site.direct_wavefronts;
    sum.l1_passes += site.l1_passes;
    sum.addresses += site.addresses;
    sum.most_lanes = std::max(sum.most_lanes, site.most_lanes);
  }
  return sum;
}

class Counters : public testing::TestWithParam<ThreadOrder> {
 protected:
  template <class T>
  DeviceBuffer<T> buffer(std::size_t size) {
    return DeviceBuffer<T>::from_host(std::vector<T>(size), stream_);
  }

 private:
  Stream stream_;
  ScopedSchedule scope_{{.order = GetParam(), .seed = 7}};
};

} // namespace kg::test
