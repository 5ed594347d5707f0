// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What device code may ask for beside its own computation: launches and memory.
#include <cuda_runtime.h>

#include <gtest/gtest.h>

namespace {

template <class T>
T* managed(int n) {
  T* data = nullptr;
  EXPECT_EQ(cudaMallocManaged(&data, n * sizeof(T)), cudaSuccess);
  for (int i = 0; i < n; ++i) data[i] = T{};
  return data;
}

// --- Launches

// The lower half in one launch, the upper half in another, down to single elements.
__global__ void halves(int* data, int n, int depth) {
  if (n == 1) {
    data[0] += depth;
    return;
  }
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  halves<<<1, 1, 0, stream>>>(data, n / 2, depth + 1);
  cudaStreamDestroy(stream);
  halves<<<1, 1>>>(data + n / 2, n - n / 2, depth + 1);
}

__global__ void square(int* data, const int* factor) {
  data[threadIdx.x] *= *factor * data[threadIdx.x];
}
// What is written before the launch the child sees.
__global__ void fill_and_square(int* data, int* factor) {
  data[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x != 0) return;
  *factor = 3;
  void (*const kernel)(int*, const int*) = square;
  kernel<<<1, blockDim.x>>>(data, factor);
}

__global__ void launches_too_much() { square<<<1, 2048>>>(nullptr, nullptr); }
__global__ void child_fails() { __trap(); }
__global__ void launches_a_fault() { child_fails<<<1, 1>>>(); }
__global__ void waits() { cudaDeviceSynchronize(); }

TEST(DeviceSide, KernelsThatLaunchThemselves) {
  int* const data = managed<int>(8);
  halves<<<1, 1>>>(data, 8, 0);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(data[i], 3);
  cudaFree(data);
}

TEST(DeviceSide, ChildrenSeeWhatTheirParentWrote) {
  int *const data = managed<int>(33), *const factor = data + 32;
  fill_and_square<<<1, 32>>>(data, factor);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(data[i], 3 * i * i);
  cudaFree(data);
}

TEST(DeviceSide, ChildrenOfAGraphsKernels) {
  int *const data = managed<int>(33), *const factor = data + 32;
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  {
    void (*kernel)(int*, int*) = fill_and_square; // gone when the graph runs
    kernel<<<1, 32, 0, stream>>>(data, factor);
    kernel = nullptr;
  }
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(*factor, 0);
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(data[i], 3 * i * i);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  cudaFree(data);
}

TEST(DeviceSide, AChildsFaultIsTheLaunchs) {
  testing::internal::CaptureStderr();
  launches_a_fault<<<1, 1>>>();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  cudaDeviceReset();
  waits<<<1, 1>>>();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_NE(kg::foreign::report().find("CUDA 12 took away"), std::string::npos);
  cudaDeviceReset();
  launches_too_much<<<1, 1>>>();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_NE(kg::foreign::report().find("2048"), std::string::npos);
  cudaDeviceReset();
  testing::internal::GetCapturedStderr();
}

// --- The heap

struct Base {
  int* destroyed;
  __device__ explicit Base(int* counter) : destroyed(counter) {}
  __device__ virtual ~Base() { ++*destroyed; }
  __device__ virtual int value() const = 0;
};
struct Other {
  __device__ virtual ~Other() {}
  int padding = 1;
};
struct Derived : Other, Base { // a Base is not where a Derived begins
  int* numbers;
  __device__ explicit Derived(int* counter) : Base(counter), numbers(new int[4]) {
    for (int i = 0; i < 4; ++i) numbers[i] = i;
  }
  __device__ ~Derived() override { delete[] numbers; }
  __device__ int value() const override { return numbers[3] + padding; }
};

__global__ void make(Base** object, int* counter) { *object = new Derived(counter); }
__global__ void use(Base** object, int* out) { *out = (*object)->value(); }
__global__ void destroy(Base** object) {
  delete *object;
  *object = nullptr;
  delete *object; // of nothing
}
__global__ void sum_by_malloc(int* out) {
  int* const mine = (int*)malloc(2 * sizeof(int));
  mine[0] = threadIdx.x;
  mine[1] = 2 * threadIdx.x;
  out[threadIdx.x] = mine[0] + mine[1];
  free(mine);
}

TEST(DeviceSide, ObjectsOnTheHeap) {
  Base** const object = managed<Base*>(1);
  int *const destroyed = managed<int>(1), *const out = managed<int>(64);
  make<<<1, 1>>>(object, destroyed);
  use<<<1, 1>>>(object, out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*out, 4);
  EXPECT_EQ(*destroyed, 0);
  destroy<<<1, 1>>>(object);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*destroyed, 1);
  sum_by_malloc<<<1, 64>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], 3 * i);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "what was freed came from the heap";
  cudaFree(object);
  cudaFree(destroyed);
  cudaFree(out);
}

} // namespace
