// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches of the cuda backend, against the recording runtime.
#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/resident_clusters.h"
#include "tests/unit/kernels/runtime/recording_cudart.h"

#include <gmock/gmock.h>

namespace kg {

// What the kernels below were called with. The stand-in runs them on this thread.
struct Seen {
  int calls = 0;
  std::int64_t n = 0;
  double factor = 0;
  float* data = nullptr;
  float half = 0;
  std::string order;
};
static Seen seen;

__global__ void scale(std::int64_t n, double factor, float* data) {
  ++seen.calls;
  seen.n = n;
  seen.factor = factor;
  seen.data = data;
}

__global__ void nothing() { ++seen.calls; }

struct Shape {
  int rows;
  char tag;
  double weight;
};
__global__ void take(Shape shape, f16 half) {
  seen.n = shape.rows;
  seen.order += shape.tag;
  seen.factor = shape.weight;
  seen.half = to_float(half);
}

namespace {

using recording::calls;
using recording::machine;
using recording::message_of;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class CudaLaunch : public recording::RecordingTest {
 protected:
  void SetUp() override {
    RecordingTest::SetUp();
    seen = {};
    recording::register_kernel(scale, "_ZN2kg5scaleEldPf");
    recording::register_kernel(nothing, "_ZN2kg7nothingEv");
    recording::register_kernel(take, "_ZN2kg4takeENS_5ShapeE6__half");
    device_properties(); // read once, so that no test's calls depend on the tests before
    recording::clear_calls();
  }

  void launch_nothing(const LaunchConfig& config) { launch(nothing, config); }
};

TEST_F(CudaLaunch, PassesGridBlockSharedBytesAndStream) {
  Stream stream;
  recording::clear_calls();
  launch(scale, {.grid = {4, 3, 2}, .block = {64, 2, 1}, .shared_bytes = 1024, .stream = &stream},
         100, 0.5, nullptr);
  EXPECT_THAT(calls(),
              ElementsAre("cudaGetDevice()",
                          "cudaLaunchKernelExC(_ZN2kg5scaleEldPf, grid (4, 3, 2), block (64, 2, "
                          "1), shared 1024, stream0)"));
}

TEST_F(CudaLaunch, WithoutAStreamGoesToTheDefaultOne) {
  launch_nothing({.grid = 1, .block = 32});
  EXPECT_EQ(calls().back(), "cudaLaunchKernelExC(_ZN2kg7nothingEv, grid (1, 1, 1), block (32, 1, "
                            "1), shared 0, default)");
}

TEST_F(CudaLaunch, OnAStreamThatWasMovedFromIsRefused) {
  Stream stream;
  const Stream owner(std::move(stream));
  recording::clear_calls();
  EXPECT_THROW(launch_nothing({.grid = 1, .block = 32, .stream = &stream}), Error);
  EXPECT_THAT(calls(), Not(Contains(StartsWith("cudaLaunchKernelExC"))));
}

TEST_F(CudaLaunch, ConvertsArgumentsToTheParametersAndPassesThemByValue) {
  Stream stream;
  float data[2] = {};
  int n = 7;
  launch(scale, {.grid = 1, .block = 1, .stream = &stream}, n, 2.5f, data);
  n = 8;
  EXPECT_EQ(seen.calls, 0) << "the launch is asynchronous";
  stream.synchronize();
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.n, 7);
  EXPECT_EQ(seen.factor, 2.5);
  EXPECT_EQ(seen.data, data);
}

TEST_F(CudaLaunch, PassesStructuresAndHalvesByValue) {
  Stream stream;
  launch(take, {.grid = 1, .block = 1, .stream = &stream}, Shape{5, 'x', 0.25},
         from_float<f16>(1.5f));
  stream.synchronize();
  EXPECT_EQ(seen.n, 5);
  EXPECT_EQ(seen.order, "x");
  EXPECT_EQ(seen.factor, 0.25);
  EXPECT_EQ(seen.half, 1.5f);
}

TEST_F(CudaLaunch, InAGraphReplaysWithTheArgumentsOfItsCapture) {
  Stream stream;
  Graph graph = Graph::capture(stream, [](Stream& s) {
    for (char tag : {'a', 'b'})
      launch(take, {.grid = 1, .block = 1, .stream = &s}, Shape{1, tag, 0}, from_float<f16>(0));
  });
  EXPECT_EQ(graph.node_count(), 2);
  EXPECT_EQ(seen.order, "");
  graph.launch(stream);
  graph.launch(stream);
  stream.synchronize();
  EXPECT_EQ(seen.order, "abab");
}

// A driver takes microseconds to answer.
TEST_F(CudaLaunch, AsksOnceHowManyClustersAreResident) {
  for (const unsigned blocks : {1000u, 2000u})
    EXPECT_EQ(
        resident_clusters(
            nothing, {.grid = blocks, .block = 64, .shared_bytes = 49153, .cluster = {4, 1, 1}}),
        30);
  EXPECT_THAT(calls(), Contains("cudaFuncSetAttribute(_ZN2kg7nothingEv, "
                                "MaxDynamicSharedMemorySize, 49153)"));
  EXPECT_THAT(calls(), Contains("cudaOccupancyMaxActiveClusters(_ZN2kg7nothingEv, block (64, 1, "
                                "1), shared 49153, attributes 1)")
                           .Times(1));
  EXPECT_EQ(seen.calls, 0);
}

TEST_F(CudaLaunch, TakesNoFailureForAnAnswer) {
  const LaunchConfig config = {.grid = 8, .block = 96, .cluster = {8, 1, 1}};
  recording::fail_call("cudaOccupancyMaxActiveClusters", cudaErrorInvalidValue);
  EXPECT_THROW(resident_clusters(nothing, config), Error);
  EXPECT_EQ(resident_clusters(nothing, config), 30);
}

TEST_F(CudaLaunch, AsksForClustersAndCooperationOnlyWhenToldTo) {
  launch_nothing({.grid = {8, 2, 2}, .block = 32, .cluster = {4, 2, 1}});
  EXPECT_THAT(calls().back(), HasSubstr("default, cluster (4, 2, 1))"));
  launch_nothing({.grid = 8, .block = 32, .cooperative = true});
  EXPECT_THAT(calls().back(), HasSubstr("default, cooperative 1)"));
  launch_nothing({.grid = 8, .block = 32, .cluster = {1, 1, 1}, .cooperative = true});
  EXPECT_THAT(calls().back(), HasSubstr("default, cooperative 1)"));
  launch_nothing({.grid = 8, .block = 32, .cluster = {2, 1, 1}, .cooperative = true});
  EXPECT_THAT(calls().back(), HasSubstr("default, cluster (2, 1, 1), cooperative 1)"));
}

TEST_F(CudaLaunch, OptsInToSharedMemoryBeyond48KiBFirst) {
  launch_nothing({.grid = 1, .block = 32, .shared_bytes = 48 * 1024});
  EXPECT_THAT(calls(), Not(Contains(StartsWith("cudaFuncSetAttribute"))));
  recording::clear_calls();
  launch_nothing({.grid = 1, .block = 32, .shared_bytes = 48 * 1024 + 1});
  EXPECT_THAT(
      calls(),
      ElementsAre(
          "cudaGetDevice()",
          "cudaFuncSetAttribute(_ZN2kg7nothingEv, MaxDynamicSharedMemorySize, 49153)",
          "cudaLaunchKernelExC(_ZN2kg7nothingEv, grid (1, 1, 1), block (32, 1, 1), shared 49153, "
          "default)"));
}

TEST_F(CudaLaunch, WhoseOptInFailsIsNotMade) {
  recording::fail_call("cudaFuncSetAttribute", cudaErrorInvalidValue);
  EXPECT_THAT(
      message_of([&] { launch_nothing({.grid = 1, .block = 32, .shared_bytes = 100'000}); }),
      AllOf(HasSubstr("cudaFuncSetAttribute(MaxDynamicSharedMemorySize) failed: "
                      "cudaErrorInvalidValue: invalid argument (error 1)"),
            HasSubstr("100000 bytes of dynamic shared memory")));
  EXPECT_THAT(calls(), Not(Contains(StartsWith("cudaLaunchKernelExC"))));
}

TEST_F(CudaLaunch, ThatFailsNamesCallKernelShapeSiteAndTheVendorsText) {
  recording::fail_call("cudaLaunchKernelExC", cudaErrorCooperativeLaunchTooLarge);
  const int line = __LINE__ + 2;
  const std::string message = message_of([] {
    launch(scale, {.grid = {9, 2, 1}, .block = 64, .cooperative = true}, 1, 1.0, nullptr);
  });
  EXPECT_THAT(message, HasSubstr("cuda_launch_test.cpp:" + std::to_string(line) +
                                 ": kg::launch of kg::scale, grid (9, 2, 1), block (64, 1, 1), 0 "
                                 "bytes of dynamic shared memory: cudaLaunchKernelExC failed: "
                                 "cudaErrorCooperativeLaunchTooLarge: too many blocks in "
                                 "cooperative launch (error 720)"));
  EXPECT_EQ(recording::last_error(), cudaSuccess);
  EXPECT_NO_THROW(launch_nothing({.grid = 1, .block = 1}));
}

__global__ void unregistered() {}

TEST_F(CudaLaunch, OfAKernelWithoutCodeForTheDeviceFailsWithItsAddress) {
  const LaunchConfig config{.grid = 1, .block = 1};
  EXPECT_THAT(message_of([&] { launch(unregistered, config); }),
              AllOf(HasSubstr("kg::launch of kernel at 0x"),
                    HasSubstr("cudaErrorInvalidDeviceFunction: invalid device function")));
}

TEST_F(CudaLaunch, OnABrokenDeviceSaysWhatBrokeItAndIsNotTried) {
  recording::break_device(cudaErrorIllegalAddress);
  EXPECT_THAT(message_of([&] { launch_nothing({.grid = 1, .block = 1}); }),
              HasSubstr("cudaErrorIllegalAddress: an illegal memory access"));
  EXPECT_THAT(calls(), Not(Contains(StartsWith("cudaLaunchKernelExC"))));
  recording::reset(); // nothing else fixes a sticky error
}

struct Invalid {
  LaunchConfig config;
  const char* problem;
};

class CudaLaunchInvalid : public CudaLaunch, public testing::WithParamInterface<Invalid> {};

TEST_P(CudaLaunchInvalid, IsRefusedWithFieldValueAndLimitBeforeAnyLaunch) {
  EXPECT_THAT(message_of([&] { launch_nothing(GetParam().config); }),
              AllOf(HasSubstr("cuda_launch_test.cpp:"), HasSubstr("kg::launch of kg::nothing"),
                    HasSubstr(GetParam().problem)));
  EXPECT_THAT(calls(), Not(Contains(StartsWith("cudaLaunchKernelExC"))));
  EXPECT_THAT(calls(), Not(Contains(StartsWith("cudaFuncSetAttribute"))));
}

INSTANTIATE_TEST_SUITE_P(
    Limits, CudaLaunchInvalid,
    testing::Values(
        Invalid{{.grid = 0, .block = 1}, "grid.x is 0, at least 1 is needed"},
        Invalid{{.grid = {1, 0, 1}, .block = 1}, "grid.y is 0"},
        Invalid{{.grid = {1, 1, 0}, .block = 1}, "grid.z is 0"},
        Invalid{{.grid = 1, .block = 0}, "block.x is 0"},
        Invalid{{.grid = 1, .block = {1, 1, 0}}, "block.z is 0"},
        Invalid{{.grid = 0x80000000u, .block = 1},
                "grid.x is 2147483648, the device allows 2147483647"},
        Invalid{{.grid = {1, 65536, 1}, .block = 1}, "grid.y is 65536, the device allows 65535"},
        Invalid{{.grid = {1, 1, 65536}, .block = 1}, "grid.z is 65536, the device allows 65535"},
        Invalid{{.grid = 1, .block = 1025}, "block.x is 1025, the device allows 1024"},
        Invalid{{.grid = 1, .block = {1, 1025, 1}}, "block.y is 1025, the device allows 1024"},
        Invalid{{.grid = 1, .block = {1, 1, 65}}, "block.z is 65, the device allows 64"},
        Invalid{{.grid = 1, .block = {32, 33, 1}},
                "the block has 1056 threads, the device allows 1024"},
        Invalid{{.grid = 1, .block = 1, .shared_bytes = 227 * 1024 + 1},
                "shared_bytes is 232449, the device allows 232448"},
        Invalid{{.grid = 8, .block = 1, .cluster = {0, 1, 1}}, "cluster.x is 0"},
        Invalid{{.grid = 16, .block = 1, .cluster = {16, 1, 1}},
                "cluster.x is 16, the device allows 8"},
        Invalid{{.grid = {4, 4, 1}, .block = 1, .cluster = {4, 4, 1}},
                "cluster (4, 4, 1) has more than 8 blocks"},
        Invalid{{.grid = {4, 3, 1}, .block = 1, .cluster = {2, 2, 1}},
                "the grid is not a multiple of cluster (2, 2, 1)"}));

TEST_F(CudaLaunch, AtEveryLimitIsMade) {
  launch_nothing({.grid = {0x7FFFFFFFu, 65535, 65535}, .block = {16, 1, 64}});
  launch_nothing({.grid = 1, .block = {1, 1024, 1}, .shared_bytes = 227 * 1024});
  launch_nothing({.grid = {2, 2, 2}, .block = 1024, .cluster = {2, 2, 2}});
  EXPECT_THAT(calls(), Contains(StartsWith("cudaLaunchKernelExC")).Times(3));
}

TEST_F(CudaLaunch, WithClustersNeedsADeviceThatHasThem) {
  machine().device = 20; // a device of its own: properties are kept per device
  machine().properties.major = 8;
  machine().properties.minor = 0;
  EXPECT_THAT(
      message_of([&] {
        launch_nothing({.grid = 2, .block = 1, .cluster = {2, 1, 1}});
      }),
      HasSubstr("cluster is (2, 1, 1), clusters need compute capability 9.0, the device has 8.0"));
}

} // namespace
} // namespace kg
