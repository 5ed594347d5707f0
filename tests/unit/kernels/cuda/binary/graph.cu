// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A graph that is built node by node: memset, two kernels, a copy and a host function, and the same
// with another argument. With -DMISSING_EDGE nothing orders the second kernel after the first.
#include <cstdio>

__global__ void add(int* data, int value) { data[threadIdx.x] += value; }
__global__ void twice(int* data) { data[threadIdx.x] *= 2; }

void count(void* calls) { ++*static_cast<int*>(calls); }

bool failed(cudaError_t error, int line) {
  if (error != cudaSuccess) std::printf("line %d: %s\n", line, cudaGetErrorName(error));
  return error != cudaSuccess;
}
#define TRY(call)                                                                                  \
  if (failed(call, __LINE__)) return 1

cudaKernelNodeParams kernel(void* function, void** arguments) {
  cudaKernelNodeParams parameters{};
  parameters.func = function;
  parameters.gridDim = 1;
  parameters.blockDim = 64;
  parameters.kernelParams = arguments;
  return parameters;
}

int main() {
  int* data = nullptr;
  int* host = nullptr;
  TRY(cudaMalloc(&data, 64 * sizeof(int)));
  TRY(cudaMallocHost(&host, 64 * sizeof(int)));

  cudaGraph_t graph = nullptr;
  TRY(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t zero, first, second, copy, told;
  cudaMemsetParams memset{};
  memset.dst = data;
  memset.value = 7;
  memset.elementSize = 4;
  memset.width = 64;
  memset.height = 1;
  TRY(cudaGraphAddMemsetNode(&zero, graph, nullptr, 0, &memset));
  int value = 3;
  void* add_arguments[] = {&data, &value};
  cudaKernelNodeParams adds = kernel(reinterpret_cast<void*>(add), add_arguments);
  TRY(cudaGraphAddKernelNode(&first, graph, &zero, 1, &adds));
  value = 1000; // the node has its copy
  void* twice_arguments[] = {&data};
  cudaKernelNodeParams doubles = kernel(reinterpret_cast<void*>(twice), twice_arguments);
  TRY(cudaGraphAddKernelNode(&second, graph, nullptr, 0, &doubles));
#ifndef MISSING_EDGE
  TRY(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
#endif
  TRY(cudaGraphAddMemcpyNode1D(&copy, graph, &second, 1, host, data, 64 * sizeof(int),
                               cudaMemcpyDeviceToHost));
  int calls = 0;
  cudaHostNodeParams counts{count, &calls};
  TRY(cudaGraphAddHostNode(&told, graph, &copy, 1, &counts));

  cudaGraphExec_t exec = nullptr;
  TRY(cudaGraphInstantiate(&exec, graph, 0));
  TRY(cudaGraphLaunch(exec, nullptr));
  TRY(cudaDeviceSynchronize());
  bool right = calls == 1;
  for (int i = 0; i < 64; ++i) right &= host[i] == (7 + 3) * 2;

  value = 5;
  TRY(cudaGraphExecKernelNodeSetParams(exec, first, &adds));
  TRY(cudaGraphLaunch(exec, nullptr));
  TRY(cudaDeviceSynchronize());
  right &= calls == 2;
  for (int i = 0; i < 64; ++i) right &= host[i] == (7 + 5) * 2;
  right &= cudaGraphAddKernelNode(&first, graph, nullptr, 0, nullptr) == cudaErrorInvalidValue;
  cudaGetLastError();

  TRY(cudaGraphExecDestroy(exec));
  TRY(cudaGraphDestroy(graph));
  TRY(cudaFree(data));
  TRY(cudaFreeHost(host));
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}
