// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to rmsnorm_backward; its card configures those of every operation.
#include "ops/rmsnorm_backward/rmsnorm_backward.h"

#include "tests/ops/normalization/backward_tests.h"

namespace kg::card {
namespace {

KG_OWN_TEST(Rows) { norm_backward::check_rows(judge); }
KG_OWN_TEST(Automatic) { norm_backward::check_automatic(); }
KG_OWN_TEST(MoreThan2To31Elements) { norm_backward::check_more_than_2_to_31(judge); }

KG_OWN_TEST(RefusesWorkspaces) {
  dispatch(judge.dtype(), [&]<class T>() {
    const DeviceBuffer<T> data(64);
    const DeviceBuffer<float> rstd(4);
    norm_backward::check_refuses_workspaces([&](auto variant, void* workspace) {
      const auto in = kg::matrix<const T>(data.data(), 4, 8);
      rmsnorm_backward::run<T>(in, in, nullptr, rstd.data(), kg::matrix<T>(data.data(), 4, 8),
                               data.data() + 32, workspace, variant, judge.stream());
    });
  });
}

} // namespace
} // namespace kg::card
