// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A block merges two sorted lists in shared memory as moderngpu does: each thread finds its place
// by a binary search, then takes the smaller of two keys and loads the one behind it, which behind
// the second list is a word that nothing has written. No such key is chosen, as long as the ends
// are asked for (without -DNO_ENDS).
#include <cstdio>
#include <vector>

constexpr int kThreads = 32, kEach = 3, kCount = kThreads * kEach, kHalf = kCount / 2;

__global__ void merge(const int* in, int* out) {
  __shared__ int keys[kCount + 1];
  for (int i = threadIdx.x; i < kCount; i += kThreads) keys[i] = in[i];
  __syncthreads();
  const int diagonal = threadIdx.x * kEach;
  int low = max(0, diagonal - kHalf), high = min(diagonal, kHalf);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (keys[middle] <= keys[kHalf + diagonal - 1 - middle])
      low = middle + 1;
    else
      high = middle;
  }
  int a = low, b = kHalf + diagonal - low;
  int key_a = keys[a], key_b = keys[b];
  for (int i = 0; i < kEach; ++i) {
#ifdef NO_ENDS
    const bool first = key_a <= key_b;
#else
    const bool first = b >= kCount || (a < kHalf && key_a <= key_b);
#endif
    out[diagonal + i] = first ? key_a : key_b;
    const int next = keys[first ? ++a : ++b];
    if (first)
      key_a = next;
    else
      key_b = next;
  }
}

int main() {
  std::vector<int> keys(kCount), merged(kCount);
  for (int i = 0; i < kHalf; ++i) { // 1, 3, ... and 0, 2, ...
    keys[i] = 2 * i + 1;
    keys[kHalf + i] = 2 * i;
  }
  int *in, *out;
  cudaMalloc(&in, kCount * sizeof(int));
  cudaMalloc(&out, kCount * sizeof(int));
  cudaMemcpy(in, keys.data(), kCount * sizeof(int), cudaMemcpyHostToDevice);
  merge<<<1, kThreads>>>(in, out);
  cudaMemcpy(merged.data(), out, kCount * sizeof(int), cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < kCount; ++i) right = right && merged[i] == i;
  std::puts(right ? "right" : "wrong");
  cudaFree(in);
  cudaFree(out);
  return right ? 0 : 1;
}
