// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Fetches texels that nothing has written.
#include <cuda_runtime.h>

__global__ void fetch(cudaTextureObject_t texels, float* out) {
  out[threadIdx.x] = tex2D<float>(texels, static_cast<float>(threadIdx.x), 0.5f);
}

int main() {
  constexpr int kTexels = 32;
  float *data = nullptr, *out = nullptr, host[kTexels];
  cudaMalloc(&data, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = data;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  resource.res.pitch2D.width = kTexels;
  resource.res.pitch2D.height = 1;
  resource.res.pitch2D.pitchInBytes = sizeof host;
  const cudaTextureDesc how{};
  cudaTextureObject_t texels = 0;
  cudaCreateTextureObject(&texels, &resource, &how, nullptr);
  fetch<<<1, kTexels>>>(texels, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaDestroyTextureObject(texels);
  cudaFree(data);
  cudaFree(out);
}
