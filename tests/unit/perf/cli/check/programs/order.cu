// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Work of two streams, or two nodes of a graph, on the same memory: each word names a program that
// lacks an order, and the same word with "ordered" behind it one that has it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <latch>
#include <thread>
#include <vector>

constexpr int kCount = 256;
constexpr size_t kBytes = kCount * sizeof(int);

__global__ void fill(int* out, int value) { out[threadIdx.x] = value; }
__global__ void twice(const int* in, int* out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }
__global__ void add(int* sum) { atomicAdd(sum, 1); }
__global__ void fill_half(int* out, int half) { out[2 * threadIdx.x + half] = half; }

// Publishes by a fence and a flag; a later kernel that reads the flag is ordered by it.
__global__ void publish(int* data, volatile int* flag) {
  data[threadIdx.x] = 3;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) *flag = 1;
}
__global__ void await(const int* data, const volatile int* flag, int* out) {
  if (threadIdx.x != 0) return;
  while (*flag == 0) {
  }
  __threadfence();
  out[0] = data[0];
}

__device__ int symbol;
__global__ void copy_symbol(int* out) { *out = symbol; }

static bool ordered = false;
static int *x, *y, *z;
static cudaStream_t a, b; // non-blocking
static cudaEvent_t event;

// What is missing where the order is.
static void join(cudaStream_t first, cudaStream_t second) {
  if (!ordered) return;
  cudaEventRecord(event, first);
  cudaStreamWaitEvent(second, event, 0);
}
static void fill_later(cudaStream_t stream, int* out, int value) {
  fill<<<1, kCount, 0, stream>>>(out, value);
}
static void twice_later(cudaStream_t stream, const int* in, int* out) {
  twice<<<1, kCount, 0, stream>>>(in, out);
}

static void read_after_write() {
  fill_later(a, x, 1);
  join(a, b);
  twice_later(b, x, y);
}
static void write_after_read() {
  twice_later(a, x, y);
  join(a, b);
  fill_later(b, x, 1);
}
static void write_after_write() {
  fill_later(a, x, 1);
  join(a, b);
  fill_later(b, x, 2);
}
static void copy_after_write() {
  fill_later(a, x, 1);
  join(a, b);
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToDevice, b);
}
static void memset_after_read() {
  twice_later(a, x, y);
  join(a, b);
  cudaMemsetAsync(x, 0, kBytes, b);
}
static void freed() {
  int* own = nullptr;
  cudaMallocAsync(&own, kBytes, a);
  fill_later(a, own, 1);
  cudaStreamSynchronize(a);
  twice_later(b, own, y);
  join(b, a);
  cudaFreeAsync(own, a);
}
static void freed_by_host() {
  int* own = nullptr;
  cudaMallocAsync(&own, kBytes, a);
  fill_later(a, own, 1);
  if (ordered) cudaStreamSynchronize(a);
  cudaFree(own);
}
static void allocated() {
  int* own = nullptr;
  cudaMallocAsync(&own, kBytes, a);
  join(a, b);
  fill_later(b, own, 1);
  cudaFreeAsync(own, b);
}
static void event_too_early() {
  if (!ordered) cudaEventRecord(event, a);
  fill_later(a, x, 1);
  if (ordered) cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  twice_later(b, x, y);
}
static void event_never_recorded() {
  fill_later(a, x, 1);
  if (ordered) cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  twice_later(b, x, y);
}
static void event_of_before() { // it is recorded anew, but waited for before that
  cudaEventRecord(event, a);
  if (!ordered) cudaStreamWaitEvent(b, event, 0);
  fill_later(a, x, 1);
  cudaEventRecord(event, a);
  if (ordered) cudaStreamWaitEvent(b, event, 0);
  twice_later(b, x, y);
}
static void default_stream() { // waits for blocking streams, and they for it
  cudaStream_t stream = a;
  if (ordered) cudaStreamCreate(&stream);
  fill_later(stream, x, 1);
  twice_later(nullptr, x, y);
  fill_later(stream, y, 2);
}
static void streams_by_default() { // two blocking streams, the default stream between them
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  fill_later(first, x, 1);
  if (ordered) fill_later(nullptr, z, 1);
  twice_later(second, x, y);
}
static void thread_stream() { // of its own, and blocking
  fill_later(cudaStreamPerThread, x, 1);
  twice_later(ordered ? cudaStreamLegacy : b, x, y);
}
static void other_stream_synchronized() {
  fill_later(a, x, 1);
  cudaStreamSynchronize(ordered ? a : b);
  twice_later(b, x, y);
}
static void device_copy() { // cudaMemcpy between buffers of the device does not wait
  cudaMemcpy(x, y, kBytes, cudaMemcpyDeviceToDevice);
  if (ordered) cudaStreamSynchronize(nullptr);
  twice_later(b, x, z);
}
static void symbol_copied() {
  static const int value = 5;
  if (ordered) {
    cudaMemcpyToSymbol(symbol, &value, sizeof value); // waits
  } else {
    cudaMemcpyToSymbolAsync(symbol, &value, sizeof value, 0, cudaMemcpyHostToDevice, a);
  }
  copy_symbol<<<1, 1, 0, b>>>(x);
}
static void function_of_the_host() {
  fill_later(a, x, 1);
  const auto nothing = [](void*) {};
  if (ordered) cudaLaunchHostFunc(a, nothing, nullptr); // which the host may have waited for
  twice_later(b, x, y);
}
// What one thread waits for, the others know: so none waits where the order is missing.
static void threads_of_the_host() {
  std::vector<std::thread> threads;
  int* own[8];
  std::latch all(8);
  for (int*& mine : own)
    threads.emplace_back([&mine, &all] {
      all.arrive_and_wait();
      int host[kCount] = {};
      cudaStream_t stream;
      cudaMalloc(&mine, kBytes);
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      for (int round = 0; round < 10; ++round) {
        cudaMemcpyAsync(mine, host, kBytes, cudaMemcpyHostToDevice, stream);
        twice_later(stream, mine, ordered ? mine : x);
        if (ordered) cudaMemcpyAsync(host, mine, kBytes, cudaMemcpyDeviceToHost, stream);
      }
      cudaStreamDestroy(stream);
    });
  for (std::thread& thread : threads) thread.join();
  cudaDeviceSynchronize();
  for (int* const each : own) cudaFree(each);
}
static void halves() { // of other bytes
  fill_half<<<1, kCount / 2, 0, a>>>(x, 0);
  fill_half<<<1, kCount / 2, 0, b>>>(x, ordered ? 1 : 0);
}
static void sums() { // atomics need no order
  add<<<1, 32, 0, a>>>(x);
  if (ordered) {
    add<<<1, 32, 0, b>>>(x);
  } else {
    fill_later(b, x, 0);
  }
}
static void flag() {
  cudaMemset(z, 0, kBytes);
  cudaDeviceSynchronize();
  publish<<<1, kCount, 0, a>>>(x, z);
  if (ordered) {
    await<<<1, 32, 0, b>>>(x, z, y);
  } else {
    twice_later(b, x, y);
  }
}

static void run(cudaGraph_t graph, int times) {
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < times; ++i) cudaGraphLaunch(exec, a);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}
static void graph_edge() {
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t first, second, third;
  int value = 1;
  void* arguments[] = {&x, &value};
  cudaKernelNodeParams parameters{};
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(kCount);
  parameters.kernelParams = arguments;
  parameters.func = (void*)fill;
  cudaGraphAddKernelNode(&first, graph, nullptr, 0, &parameters);
  cudaGraphAddMemcpyNode1D(&second, graph, &first, ordered ? 1 : 0, y, x, kBytes,
                           cudaMemcpyDeviceToDevice);
  cudaGraphAddEmptyNode(&third, graph, &first, 1);
  run(graph, 2);
}
static void captured() {
  cudaGraph_t graph;
  cudaEvent_t fork;
  cudaEventCreate(&fork);
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  if (!ordered) cudaEventRecord(fork, a); // before the work that it should cover
  fill_later(a, x, 1);
  if (ordered) cudaEventRecord(fork, a);
  cudaStreamWaitEvent(b, fork, 0);
  twice_later(b, x, y);
  cudaEventRecord(event, b);
  cudaStreamWaitEvent(a, event, 0);
  fill_later(a, y, 2);
  cudaStreamEndCapture(a, &graph);
  run(graph, 2);
}
static void graph_and_stream() {
  cudaGraph_t graph;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  fill_later(a, x, 1);
  cudaStreamEndCapture(a, &graph);
  run(graph, 1);
  join(a, b);
  twice_later(b, x, y);
}

static const struct {
  const char* name;
  void (*run)();
} kPrograms[] = {{"read after write", read_after_write},
                 {"write after read", write_after_read},
                 {"write after write", write_after_write},
                 {"copy after write", copy_after_write},
                 {"memset after read", memset_after_read},
                 {"freed while another stream reads", freed},
                 {"freed by the host", freed_by_host},
                 {"allocated in another stream", allocated},
                 {"event recorded too early", event_too_early},
                 {"event never recorded", event_never_recorded},
                 {"event recorded anew", event_of_before},
                 {"default stream", default_stream},
                 {"default stream between two", streams_by_default},
                 {"stream of a thread", thread_stream},
                 {"other stream synchronized", other_stream_synchronized},
                 {"copy on the device", device_copy},
                 {"copy to a symbol", symbol_copied},
                 {"function of the host", function_of_the_host},
                 {"threads of the host", threads_of_the_host},
                 {"halves", halves},
                 {"sums", sums},
                 {"flag", flag},
                 {"edge of a graph", graph_edge},
                 {"captured graph", captured},
                 {"graph and stream", graph_and_stream}};

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "list") == 0) {
    for (const auto& program : kPrograms) std::printf("%s\n", program.name);
    return 0;
  }
  ordered = argc > 2 && std::strcmp(argv[2], "ordered") == 0;
  cudaMalloc(&x, kBytes);
  cudaMalloc(&y, kBytes);
  cudaMalloc(&z, kBytes);
  cudaMemset(x, 0, kBytes);
  cudaMemset(y, 0, kBytes);
  cudaMemset(z, 0, kBytes);
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreate(&event);
  cudaDeviceSynchronize();
  for (const auto& program : kPrograms) {
    if (argc < 2 || std::strcmp(argv[1], program.name) != 0) continue;
    program.run();
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(x);
    cudaFree(y);
    cudaFree(z);
    return 0;
  }
  return 2;
}
