// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls through pointers: a table of functions, a function that the host chooses, and virtual
// functions of objects that another kernel has made.
#include <cstdio>
#include <new>

using Operation = float (*)(float, float);
__device__ __noinline__ float sum(float a, float b) { return a + b; }
__device__ __noinline__ float product(float a, float b) { return a * b; }
__device__ Operation operations[] = {sum, product};
__device__ Operation favourite = product;

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Rectangle : Square {
  float height;
  __device__ Rectangle(float w, float h) : Square(w), height(h) {}
  __device__ float area() const override { return side * height; }
};

__global__ void make(Shape** shapes, Square* squares, Rectangle* rectangles) {
  const unsigned i = threadIdx.x;
  if (i % 2 == 0)
    shapes[i] = new (squares + i) Square(static_cast<float>(i));
  else
    shapes[i] = new (rectangles + i) Rectangle(static_cast<float>(i), 2);
}

__global__ void use(Shape** shapes, Operation given, float* out) {
  const unsigned i = threadIdx.x;
  const float x = operations[i % 2](static_cast<float>(i), 3);
  out[i] = shapes[i]->area() + x + 1000 * given(static_cast<float>(i), 2);
}

int main() {
  constexpr unsigned kCount = 32;
  Shape** shapes = nullptr;
  Square* squares = nullptr;
  Rectangle* rectangles = nullptr;
  float* out = nullptr;
  cudaMalloc(&shapes, kCount * sizeof(Shape*));
  cudaMalloc(&squares, kCount * sizeof(Square));
  cudaMalloc(&rectangles, kCount * sizeof(Rectangle));
  cudaMalloc(&out, kCount * sizeof(float));
  Operation given = nullptr;
  cudaMemcpyFromSymbol(&given, favourite, sizeof given);
  make<<<1, kCount>>>(shapes, squares, rectangles);
  use<<<1, kCount>>>(shapes, given, out);
  float got[kCount];
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDefault);
  bool right = true;
  for (unsigned i = 0; i < kCount; ++i) {
    const unsigned area = i % 2 == 0 ? i * i : 2 * i, x = i % 2 == 0 ? i + 3 : i * 3;
    right &= got[i] == static_cast<float>(area + x + 2000 * i);
  }
  const cudaError_t error = cudaGetLastError();
  std::printf("%s, %s\n", right ? "right" : "WRONG", cudaGetErrorName(error));
  return right && error == cudaSuccess ? 0 : 1;
}
