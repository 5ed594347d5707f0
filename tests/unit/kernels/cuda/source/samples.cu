// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA as people write it: nothing in this file knows of another backend than a GPU.
#include "samples.cuh"
#include "samples.h"

#include <cstdio>
#include <cuda_fp16.h>
#include <device_launch_parameters.h>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    cudaError_t status = (call);                                                                   \
    if (status != cudaSuccess) {                                                                   \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));              \
      return false;                                                                                \
    }                                                                                              \
  } while (0)

// A launch in a macro.
#define LAUNCH_1D(kernel, n, shared, ...)                                                          \
  kernel<<<CEIL_DIV(n, 256), 256, shared>>>(__VA_ARGS__);                                          \
  CHECK(cudaGetLastError())

namespace {

constexpr int kTile = 16;
__constant__ float weights_on_device[3];
__device__ int grid_total;
extern __shared__ unsigned char raw_bytes[]; // outside a function

struct Pair {
  int first, second;
  __host__ __device__ int both() const { return first + second; }
};

__global__ void transpose_kernel(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < rows && y < columns) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void filter_kernel(const float* in, float* out, int n) {
  float* const part = (float*)raw_bytes;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x + 1;
  if (i < n) part[lane] = in[i];
  if (threadIdx.x == 0) part[0] = i > 0 ? in[i - 1] : 0.0f;
  if (i < n && (threadIdx.x == blockDim.x - 1 || i == n - 1))
    part[lane + 1] = i + 1 < n ? in[i + 1] : 0.0f;
  __syncthreads();
  if (i < n)
    out[i] = weights_on_device[0] * part[lane - 1] + weights_on_device[1] * part[lane] +
             weights_on_device[2] * part[lane + 1];
}

__global__ void grid_sum_kernel(const int* in, int n, Pair offset) {
  namespace cg = cooperative_groups;
  cg::grid_group grid = cg::this_grid();
  if (grid.thread_rank() == 0) grid_total = offset.both();
  grid.sync();
  int sum = 0;
  for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) sum += in[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(&grid_total, sum);
}

__global__ void halves_kernel(const __half* in, __half* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __hmul(in[i], __float2half(0.5f));
}

template <int Add>
__global__ void to_half(const float* in, __half* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half(in[i] + Add);
}

// What is compiled for the device alone.
__global__ void recent_maximum(const int* in, int n, int* maximum) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicMax(maximum, in[i]);
#endif
}

__global__ void subtract_pair(int* out, Pair pair, int* nothing, Pair from) {
  *out = nothing ? -1 : from.both() + pair.first - pair.second;
}

__global__ void say(int number) { printf("kernel says %d\n", number); }

__global__ void add_one(float* data, int n, const float* nothing) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && nothing == nullptr) data[i] += 1;
}

template <class T>
T sum_of(const std::vector<T>& values) {
  constexpr int kBlock = 128;
  const int n = (int)values.size(), blocks = 4;
  T *in, *out;
  cudaMalloc(&in, n * sizeof(T));
  cudaMalloc((void**)&out, blocks * sizeof(T));
  cudaMemcpy(in, values.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  samples::block_sums<T, kBlock><<<blocks, kBlock, kBlock * sizeof(T)>>>(in, out, n);
  samples::block_sums<T, kBlock>
      <<<1, kBlock, kBlock * sizeof(T)>>>(out, out, blocks); // in place: one block reads first
  T result = -1;
  cudaMemcpy(&result, out, sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return cudaGetLastError() == cudaSuccess ? result : -1;
}

} // namespace

double samples::sum(const std::vector<double>& values) { return sum_of(values); }
long long samples::sum(const std::vector<long long>& values) { return sum_of(values); }

bool samples::reverse(std::vector<short>& values) {
  const int n = (int)values.size();
  short* data = NULL;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMallocAsync(&data, n * sizeof(short), stream));
  CHECK(cudaMemcpyAsync(data, values.data(), n * sizeof(short), cudaMemcpyHostToDevice, stream));
  reverse_on(data, n, stream);
  CHECK(cudaMemcpyAsync(values.data(), data, n * sizeof(short), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaFreeAsync(data, stream));
  CHECK(cudaStreamDestroy(stream));
  return true;
}

bool samples::transpose(const std::vector<float>& in, std::vector<float>& out, int rows,
                        int columns) {
  float *d_in, *d_out;
  const size_t bytes = in.size() * sizeof(float);
  CHECK(cudaMalloc(&d_in, bytes));
  CHECK(cudaMalloc(&d_out, bytes));
  CHECK(cudaMemcpy(d_in, in.data(), bytes, cudaMemcpyHostToDevice));
  dim3 block(kTile, kTile);
  dim3 grid(CEIL_DIV(columns, kTile), CEIL_DIV(rows, kTile));
  transpose_kernel<<<grid, block>>>(d_in, d_out, rows, columns);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  return true;
}

bool samples::filter(std::vector<float>& values, const float (&weights)[3]) {
  const int n = (int)values.size();
  float *in, *out;
  CHECK(cudaMalloc(&in, n * sizeof(float)));
  CHECK(cudaMalloc(&out, n * sizeof(float)));
  CHECK(cudaMemcpyToSymbol(weights_on_device, weights, sizeof(weights)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  LAUNCH_1D(filter_kernel, n, 258 * sizeof(float), in, out, n);
  CHECK(cudaMemcpy(values.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return true;
}

bool samples::grid_sum(const std::vector<int>& values, bool by_attribute, int* sum) {
  int n = (int)values.size();
  int* in;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  Pair offset = {40, 2};
  if (by_attribute) {
    cudaLaunchAttribute cooperative;
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 3;
    config.blockDim = 64;
    config.attrs = &cooperative;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, grid_sum_kernel, in, n, offset));
    CHECK(cudaMemcpyFromSymbol(sum, grid_total, sizeof(int)));
    CHECK(cudaFree(in));
    return true;
  }
  void* arguments[] = {&in, &n, &offset};
  CHECK(cudaLaunchCooperativeKernel((void*)grid_sum_kernel, dim3(3), dim3(64), arguments, 0, 0));
  CHECK(cudaMemcpyFromSymbol(sum, grid_total, sizeof(int)));
  CHECK(cudaFree(in));
  return true;
}

bool samples::halves(const std::vector<float>& in, std::vector<float>& out) {
  const int n = (int)in.size();
  float* d_in;
  __half *a, *b;
  CHECK(cudaMalloc(&d_in, n * sizeof(float)));
  CHECK(cudaMalloc(&a, n * sizeof(__half)));
  CHECK(cudaMalloc(&b, n * sizeof(__half)));
  CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  to_half<1><<<(n + 63) / 64, 64>>>(d_in, a, n);
  halves_kernel<<<(n + 63) / 64, 64>>>(a, b, n);
  std::vector<__half> result(n);
  CHECK(cudaMemcpy(result.data(), b, n * sizeof(__half), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) out[i] = __half2float(result[i]);
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  return true;
}

int samples::maximum(const std::vector<int>& values) {
  int *in, *out, result = -1;
  const size_t bytes = values.size() * sizeof(int);
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(in, values.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, sizeof(int));
  recent_maximum<<<1, 32>>>(in, (int)values.size(), out);
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return result;
}

int samples::in_braces(int a, int b) {
  int *out, result = -1;
  cudaMalloc(&out, sizeof(int));
  const int twice = 2 * b;
  subtract_pair<<<1, 1>>>(out, {a, twice}, {}, {.second = 1000});
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(out);
  return result;
}

bool samples::printed(int number) {
  say<<<1, 1>>>(number);
  CHECK(cudaDeviceSynchronize());
  return true;
}

float samples::managed_and_timed(int n) {
  float* data;
  if (cudaMallocManaged(&data, n * sizeof(float)) != cudaSuccess) return -1;
  for (int i = 0; i < n; ++i) data[i] = 1;
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  add_one<<<ceil(n / 32.0), 32>>>(data, n, NULL);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float milliseconds = -1, sum = 0;
  cudaEventElapsedTime(&milliseconds, start, stop);
  for (int i = 0; i < n; ++i) sum += data[i];
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaFree(data);
  return milliseconds > 0 ? sum : -1;
}
