// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The host and the device share memory: too early by some first arguments, in time by the others.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void fill(int* out, int value) { out[threadIdx.x] = value; }

static void add(void* data) { static_cast<int*>(data)[1] += 1; }
static void tell(void* done) { *static_cast<std::atomic<bool>*>(done) = true; }

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return std::strcmp(how, name) == 0; };
  constexpr size_t bytes = 64 * sizeof(int);
  int *managed = nullptr, *pinned = nullptr, *other = nullptr, *device = nullptr;
  cudaMallocManaged(&managed, bytes);
  cudaMallocHost(&pinned, bytes);
  cudaMallocHost(&other, bytes);
  cudaMalloc(&device, bytes);
  cudaStream_t stream, second;
  cudaStreamCreate(&stream);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreate(&event);
  for (int i = 0; i < 64; ++i) managed[i] = pinned[i] = other[i] = i;

  cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, stream);
  if (is("reuses what a copy reads")) pinned[5] = -1;
  fill<<<1, 64, 0, stream>>>(managed, 7);
  fill<<<1, 32, 0, stream>>>(device, 8);
  int sum = 0;
  if (is("reads what a kernel writes")) sum = managed[3];
  if (is("writes what a kernel writes")) managed[3] = 2;
  cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, stream);
  cudaEventRecord(event, stream);
  if (is("reads what a copy writes")) sum = pinned[3];
  if (is("waits for another stream")) {
    cudaStreamSynchronize(second);
    sum = pinned[3];
  }
  if (is("other memory")) sum = other[3];
  if (is("function")) cudaLaunchHostFunc(stream, add, pinned);
  if (is("function tells")) {
    std::atomic<bool> done = false;
    cudaLaunchHostFunc(stream, tell, &done);
    while (!done) {
    }
    sum = pinned[3];
  }
  if (is("event waits")) {
    cudaEventSynchronize(event);
  } else if (is("copy waits")) {
    cudaMemcpy(device, other, bytes, cudaMemcpyHostToDevice);
  } else if (is("device waits")) {
    cudaDeviceSynchronize();
  } else if (is("query waits")) {
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
  } else {
    cudaStreamSynchronize(stream);
  }
  sum += managed[3] + pinned[3];
  managed[3] = pinned[3] = sum;
  std::printf("%d\n", sum);
  cudaFree(managed);
  cudaFree(device);
  cudaFreeHost(pinned);
  cudaFreeHost(other);
  cudaStreamDestroy(stream);
  cudaStreamDestroy(second);
  cudaEventDestroy(event);
  return 0;
}
