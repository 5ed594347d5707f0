// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A PyTorch extension: the sum of each row. A barrier is missing unless REPAIRED is defined.
#include <torch/extension.h>

template <typename scalar_t>
__global__ void sum_rows(const scalar_t* x, scalar_t* sums, int columns) {
  __shared__ float partial[128];
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += x[blockIdx.x * columns + i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
#ifdef REPAIRED
    __syncthreads();
#endif
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

torch::Tensor sum_of_rows(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.dim() == 2, "expected a matrix on the GPU");
  x = x.contiguous();
  auto sums = torch::empty({x.size(0)}, x.options());
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "sum_of_rows", [&] {
    sum_rows<scalar_t>
        <<<x.size(0), 128>>>(x.data_ptr<scalar_t>(), sums.data_ptr<scalar_t>(), x.size(1));
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return sums;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("sum_of_rows", &sum_of_rows, "The sum of each row");
}
