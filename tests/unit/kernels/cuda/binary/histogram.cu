// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A program for `kernelgrade emulate`: what many CUDA programs do, by the runtime API alone. With
// -DRACE a barrier is missing.
#include <cstdio>
#include <cstring>
#include <vector>

__constant__ unsigned weight;
__device__ unsigned blocks;

__global__ void histogram(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned local[256];
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[data[i]], weight);
#ifndef RACE
  __syncthreads();
#endif
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
  if (threadIdx.x == 0) atomicAdd(&blocks, 1u);
}

template <class T>
T of_symbol(const T& symbol) {
  T value{};
  cudaMemcpyFromSymbol(&value, symbol, sizeof value);
  return value;
}

int main(int argc, char** argv) {
  const int n = 100003;
  std::vector<unsigned char> data(n);
  for (int i = 0; i < n; ++i) data[i] = static_cast<unsigned char>(i * 2654435761u >> 24);
  const unsigned three = 3;
  cudaMemcpyToSymbol(weight, &three, sizeof three);
  unsigned char* device_data = nullptr;
  unsigned* device_bins = nullptr;
  cudaMalloc(&device_data, n);
  cudaMalloc(&device_bins, 256 * sizeof(unsigned));
  cudaMemset(device_bins, 0, 256 * sizeof(unsigned));
  cudaMemcpy(device_data, data.data(), n, cudaMemcpyHostToDevice);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin, stream);
  histogram<<<7, 128, 0, stream>>>(device_data, n, device_bins);
  if (argc > 1 && std::strcmp(argv[1], "graph") == 0) { // the same again
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    histogram<<<7, 128, 0, stream>>>(device_data, n, device_bins);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
  }
  cudaEventRecord(end, stream);
  cudaEventSynchronize(end);
  std::vector<unsigned> bins(256), right(256);
  cudaMemcpy(bins.data(), device_bins, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost);
  const unsigned ran = of_symbol(blocks);
  for (const unsigned char value : data) right[value] += 3 * (ran / 7);
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, 0);
  std::printf("%s %d.%d: %s, %u blocks, %s\n", properties.name, properties.major, properties.minor,
              bins == right && ran > 0 ? "right" : "WRONG", ran,
              cudaGetErrorName(cudaGetLastError()));
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaStreamDestroy(stream);
  cudaFree(device_data);
  cudaFree(device_bins);
  return bins == right && ran > 0 ? 0 : 1;
}
