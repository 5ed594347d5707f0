// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles a kernel by NVRTC to machine code and launches it. nvrtc ARCHITECTURE, such as sm_80.
#include <cstdio>
#include <cuda.h>
#include <nvrtc.h>
#include <string>
#include <vector>

namespace {

constexpr const char* kSource = R"(
template <class T> __global__ void scale(T* data, T factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= factor;
})";

bool done(nvrtcResult result) { return result == NVRTC_SUCCESS; }
bool done(CUresult result) { return result == CUDA_SUCCESS; }

} // namespace

int main(int, char** words) {
  nvrtcProgram program;
  const std::string option = "-arch=" + std::string(words[1]);
  const char* const options[] = {option.c_str()};
  const char* name = nullptr;
  std::size_t bytes = 0;
  bool right = done(nvrtcCreateProgram(&program, kSource, "scale.cu", 0, nullptr, nullptr)) &&
               done(nvrtcAddNameExpression(program, "scale<float>")) &&
               done(nvrtcCompileProgram(program, 1, options)) &&
               done(nvrtcGetLoweredName(program, "scale<float>", &name)) &&
               done(nvrtcGetCUBINSize(program, &bytes));
  std::vector<char> image(bytes);
  right = right && done(nvrtcGetCUBIN(program, image.data()));

  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  CUdeviceptr data = 0;
  std::vector<float> host(1000, 2);
  right = right && done(cuInit(0)) && done(cuCtxCreate(&context, nullptr, 0, 0)) &&
          done(cuModuleLoadData(&module, image.data())) &&
          done(cuModuleGetFunction(&kernel, module, name)) && done(cuMemAlloc(&data, 4000)) &&
          done(cuMemcpyHtoD(data, host.data(), 4000));
  float factor = 3;
  int count = 1000;
  void* arguments[] = {&data, &factor, &count};
  right = right &&
          done(cuLaunchKernel(kernel, 4, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr)) &&
          done(cuMemcpyDtoH(host.data(), data, 4000)) && done(cuMemFree(data));
  for (const float value : host) right &= value == 6;
  right = right && done(nvrtcDestroyProgram(&program));
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
