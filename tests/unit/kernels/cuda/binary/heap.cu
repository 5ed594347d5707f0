// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The heap in device code, and double's arithmetic rounded up and down. With -DBEYOND a thread
// writes behind what malloc gave it; with -DFREED it reads what it has freed.
#include <cfenv>
#include <cmath>
#include <cstdio>

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const = 0;
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};

__global__ void allocate(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  auto* const numbers = static_cast<int*>(malloc((i + 1) * sizeof(int)));
  for (int k = 0; k <= i; ++k) numbers[k] = k;
#ifdef BEYOND
  numbers[i + 1] = 7;
#endif
  int sum = 0;
  for (int k = 0; k <= i; ++k) sum += numbers[k];
  free(numbers);
#ifdef FREED
  sum += numbers[0];
#endif
  const Shape* const shape = new Square(i);
  out[i] = sum + 1000 * shape->area();
  delete shape;
}

__global__ void round_both_ways(double a, double b, double* out) {
  out[0] = __dadd_ru(a, b);
  out[1] = __dadd_rd(a, b);
  out[2] = __dmul_ru(a, b);
  out[3] = __dmul_rd(a, b);
  out[4] = __fma_rz(a, -b, 1e-30);
  out[5] = __dsub_ru(a, b);
  out[6] = __ddiv_ru(a, b);
  out[7] = __drcp_rd(b);
  out[8] = __dsqrt_ru(b);
  out[9] = __fdiv_rd(1.0f, 3.0f);
  out[10] = __fsqrt_ru(2.0f);
}

double rounded(int mode, double (*operation)(double, double), double a, double b) {
  volatile double left = a, right = b;
  std::fesetround(mode);
  volatile double result = operation(left, right);
  std::fesetround(FE_TONEAREST);
  return result;
}

int main() {
  int* sums = nullptr;
  double* doubles = nullptr;
  cudaMalloc(&sums, 32 * sizeof(int));
  cudaMalloc(&doubles, 11 * sizeof(double));
  allocate<<<1, 32>>>(sums);
  const double a = 1.0 / 3, b = 0.1;
  round_both_ways<<<1, 1>>>(a, b, doubles);
  int got[32];
  double ways[11];
  cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost);
  cudaMemcpy(ways, doubles, sizeof ways, cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < 32; ++i) right &= got[i] == i * (i + 1) / 2 + 1000 * i * i;
  const auto plus = [](double x, double y) { return x + y; };
  const auto minus = [](double x, double y) { return x - y; };
  const auto times = [](double x, double y) { return x * y; };
  right &= ways[0] == rounded(FE_UPWARD, plus, a, b) && ways[1] == rounded(FE_DOWNWARD, plus, a, b);
  right &=
      ways[2] == rounded(FE_UPWARD, times, a, b) && ways[3] == rounded(FE_DOWNWARD, times, a, b);
  right &= ways[0] > ways[1] && ways[2] > ways[3];
  // The product is not exact, and the sum with so little is cut to what is nearer to zero.
  right &= ways[4] == -ways[3];
  right &= ways[5] == rounded(FE_UPWARD, minus, a, b);
  const auto over = [](double x, double y) { return x / y; };
  right &= ways[6] == rounded(FE_UPWARD, over, a, b);
  right &= ways[7] == rounded(FE_DOWNWARD, over, 1, b);
  right &= ways[8] * ways[8] >= b && ways[8] == std::nextafter(std::sqrt(b), 1);
  right &= ways[9] == static_cast<double>(std::nextafter(1.0f / 3.0f, 0.0f));
  right &= ways[10] * ways[10] > 2 && ways[10] - std::sqrt(2.0) < 0x1p-23;
  const cudaError_t error = cudaGetLastError();
  cudaFree(sums);
  cudaFree(doubles);
  std::printf("%s, %s\n", right ? "right" : "WRONG", cudaGetErrorName(error));
  return right && error == cudaSuccess ? 0 : 1;
}
