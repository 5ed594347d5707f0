// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// driver PTX FATBIN CUBIN: a program on the driver API alone, by CUDA's own header, for
// `kernelgrade emulate`. Says "right" where all was as CUDA's manual has it. With a fourth argument
// it ends with a kernel's access out of bounds.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

int wrong = 0;

void expect(CUresult got, CUresult wanted, const char* call, int line) {
  if (got == wanted) return;
  ++wrong;
  std::printf("line %d: %s gives %d, not %d\n", line, call, got, wanted);
}
#define GIVES(code, call) expect(call, code, #call, __LINE__)
#define OK(call) GIVES(CUDA_SUCCESS, call)
#define HOLDS(what)                                                                                \
  expect((what) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN, CUDA_SUCCESS, #what, __LINE__)

std::string contents(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Pair {
  char tag;
  double factor;
};

void contexts() {
  CUcontext context = nullptr, other = nullptr, popped = nullptr;
  CUdeviceptr memory = 0;
  CUdevice device = -1;
  GIVES(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&device, 0));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 1));
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 4));
  OK(cuDevicePrimaryCtxRetain(&context, 0));
  OK(cuCtxSetCurrent(context));
  OK(cuCtxCreate(&other, nullptr, 0, 0));
  OK(cuCtxGetCurrent(&popped));
  HOLDS(popped == other);
  OK(cuCtxAttach(&popped, 0));
  OK(cuCtxDetach(other)); // once more attached
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(context));
  OK(cuMemAlloc(&memory, 4));
  OK(cuMemFree(memory));
  OK(cuCtxPopCurrent(&popped));
  OK(cuCtxDestroy(other));
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(other));
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(other));
  OK(cuCtxGetCurrent(&popped));
  HOLDS(popped == context);
  // A thread of its own has no context, and keeps one that another thread destroys.
  std::thread([&] {
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
    CUcontext mine = nullptr;
    OK(cuCtxCreate(&mine, nullptr, 0, 0));
    std::thread([&] { OK(cuCtxDestroy(mine)); }).join();
    GIVES(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
  }).join();
  unsigned flags = 1;
  int active = 0, major = 0;
  OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  HOLDS(active == 1);
  OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  HOLDS(major == 8);
}

void memory() {
  CUdeviceptr a = 0, b = 0, base = 0;
  std::size_t bytes = 0, pitch = 0;
  unsigned type = 0;
  OK(cuMemAlloc(&a, 64));
  OK(cuMemAllocManaged(&b, 64, CU_MEM_ATTACH_GLOBAL));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&base, 0));
  OK(cuMemsetD32(a, 7, 16));
  OK(cuMemsetD16(a + 8, 3, 2));
  OK(cuMemcpyDtoD(b, a, 64));
  int got[16] = {};
  OK(cuMemcpyDtoH(got, b, sizeof got));
  HOLDS(got[0] == 7 && got[2] == 0x30003 && got[15] == 7);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(got, a + 4, sizeof got));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(a + 2, 1, 1));
  OK(cuMemGetAddressRange(&base, &bytes, a + 12));
  HOLDS(base == a && bytes == 64);
  OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
  HOLDS(type == CU_MEMORYTYPE_DEVICE);
  OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_IS_MANAGED, b));
  HOLDS(type == 1);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                                        reinterpret_cast<CUdeviceptr>(got)));
  // Two rows of eight bytes out of four.
  CUdeviceptr rows = 0;
  OK(cuMemAllocPitch(&rows, &pitch, 16, 4, 4));
  OK(cuMemsetD2D8(rows, pitch, 9, 16, 4));
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = rows;
  copy.srcPitch = pitch;
  copy.srcXInBytes = 8;
  copy.srcY = 2;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = got;
  copy.dstPitch = 8;
  copy.WidthInBytes = 8;
  copy.Height = 2;
  OK(cuMemcpy2D(&copy));
  HOLDS(got[0] == 0x9090909 && got[3] == 0x9090909 && got[4] == 7);
  OK(cuMemFree(rows));
  OK(cuMemFree(b));
  OK(cuMemFree(a));
}

// Findings under the checkers.
void wrong_frees() {
  void* host = nullptr;
  OK(cuMemHostAlloc(&host, 64, 0));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(reinterpret_cast<CUdeviceptr>(host)));
  OK(cuMemFreeHost(host));
  CUdeviceptr memory = 0;
  OK(cuMemAlloc(&memory, 64));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory + 4));
  OK(cuMemFree(memory));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
}

// scale<<<3, 100>>> of the module, its arguments by address, in one buffer, or set one by one
// before.
enum class Arguments { listed, packed, prepared };
void run(CUfunction scale, Arguments how) {
  const int n = 300;
  std::vector<int> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = i;
  CUdeviceptr from = 0, to = 0;
  OK(cuMemAlloc(&from, n * sizeof(int)));
  OK(cuMemAlloc(&to, n * sizeof(int)));
  OK(cuMemcpyHtoD(from, in.data(), n * sizeof(int)));
  Pair pair{2, 1.5};
  if (how == Arguments::packed) {
    struct {
      CUdeviceptr from, to;
      int n;
      Pair pair;
    } buffer{from, to, n, pair};
    std::size_t bytes = sizeof buffer;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(scale, 3, 1, 1, 100, 1, 1, 0, nullptr, nullptr, extra));
  } else if (how == Arguments::prepared) {
    OK(cuFuncSetBlockShape(scale, 100, 1, 1));
    OK(cuParamSetSize(scale, 40));
    OK(cuParamSetv(scale, 0, &from, sizeof from));
    OK(cuParamSetv(scale, 8, &to, sizeof to));
    OK(cuParamSeti(scale, 16, n));
    OK(cuParamSetv(scale, 24, &pair, sizeof pair));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(scale, 0, 1));
    OK(cuLaunchGrid(scale, 3, 1));
  } else {
    int count = n;
    void* arguments[] = {&from, &to, &count, &pair};
    CUlaunchConfig config{3, 1, 1, 100, 1, 1, 0, nullptr, nullptr, 0};
    OK(cuLaunchKernelEx(&config, scale, arguments, nullptr));
    int clusters = 0;
    OK(cuOccupancyMaxActiveClusters(&clusters, scale, &config));
    HOLDS(clusters == 64); // of one block each: 16 multiprocessors of 4 blocks
  }
  OK(cuCtxSynchronize());
  OK(cuMemcpyDtoH(out.data(), to, n * sizeof(int)));
  int bad = 0;
  for (int i = 0; i < n; ++i) bad += out[i] != static_cast<int>(i * 1.5) + 3;
  HOLDS(bad == 0);
  OK(cuMemFree(from));
  OK(cuMemFree(to));
}

void module(const void* image) {
  CUmodule module = nullptr;
  CUfunction scale = nullptr, dynamic = nullptr;
  OK(cuModuleLoadData(&module, image));
  OK(cuModuleGetFunction(&scale, module, "scale"));
  GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&dynamic, module, "nothing"));
  run(scale, Arguments::listed);
  run(scale, Arguments::packed);
  run(scale, Arguments::prepared);
  CUdeviceptr total = 0;
  std::size_t bytes = 0, offset = 0;
  OK(cuModuleGetGlobal(&total, &bytes, module, "total"));
  int count = 0;
  HOLDS(bytes == sizeof count);
  OK(cuMemcpyDtoH(&count, total, sizeof count));
  HOLDS(count == 900);
  GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&total, &bytes, module, "nothing"));
  int shared = 0;
  OK(cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, scale));
  HOLDS(shared == 512);
  OK(cuFuncGetParamInfo(scale, 3, &offset, &bytes));
  HOLDS(offset == 24 && bytes == sizeof(Pair));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(scale, 4, &offset, &bytes));
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuLaunchKernel(scale, 1, 1, 1, 2000, 1, 1, 0, nullptr, nullptr, nullptr));
  // More dynamic shared memory than a launch has without having asked.
  OK(cuModuleGetFunction(&dynamic, module, "dynamic"));
  OK(cuMemAlloc(&total, 128 * sizeof(int)));
  void* arguments[] = {&total};
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuLaunchKernel(dynamic, 1, 1, 1, 128, 1, 1, 100000, nullptr, arguments, nullptr));
  OK(cuFuncSetAttribute(dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
  OK(cuLaunchKernel(dynamic, 1, 1, 1, 128, 1, 1, 100000, nullptr, arguments, nullptr));
  OK(cuMemcpyDtoH(&count, total + 4, sizeof count));
  HOLDS(count == 126);
  OK(cuMemFree(total));
  OK(cuModuleUnload(module));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
  GIVES(CUDA_ERROR_INVALID_HANDLE,
        cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
}

// A copy of 3 rows of 20 floats by way of an array and a texture; one row less is written if
// `less`.
void texture(const std::string& ptx, bool less) {
  CUmodule module = nullptr;
  CUfunction fetch = nullptr;
  CUarray array = nullptr;
  CUtexObject object = 0;
  CUdeviceptr out = 0;
  std::vector<float> rows(60), back(60);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i);
  CUDA_ARRAY_DESCRIPTOR shape{20, 3, CU_AD_FORMAT_FLOAT, 1};
  CUDA_ARRAY3D_DESCRIPTOR deep{20, 3, 2, CU_AD_FORMAT_FLOAT, 1, 0};
  GIVES(CUDA_ERROR_NOT_SUPPORTED, cuArray3DCreate(&array, &deep));
  shape.NumChannels = 3;
  GIVES(CUDA_ERROR_INVALID_VALUE, cuArrayCreate(&array, &shape));
  shape.NumChannels = 1;
  OK(cuArrayCreate(&array, &shape));
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = rows.data();
  copy.srcPitch = copy.WidthInBytes = 80;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.Height = less ? 2 : 3;
  OK(cuMemcpy2D(&copy));
  copy.Height = 4;
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&copy));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC how{};
  how.addressMode[0] = how.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  OK(cuTexObjectCreate(&object, &resource, &how, nullptr));
  OK(cuModuleLoadData(&module, ptx.c_str()));
  OK(cuModuleGetFunction(&fetch, module, "fetch"));
  OK(cuMemAlloc(&out, 240));
  int width = 20;
  void* arguments[] = {&object, &out, &width};
  OK(cuLaunchKernel(fetch, 3, 1, 1, 20, 1, 1, 0, nullptr, arguments, nullptr));
  OK(cuMemcpyDtoH(back.data(), out, 240));
  HOLDS(back == rows);
  OK(cuMemcpyAtoH(back.data(), array, 40, 40));
  HOLDS(back[0] == 10);
  OK(cuTexObjectDestroy(object));
  OK(cuArrayDestroy(array));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(array));
  OK(cuMemFree(out));
  OK(cuModuleUnload(module));
}

void libraries(const void* image) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  unsigned count = 0;
  const char* name = nullptr;
  OK(cuLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cuLibraryGetKernelCount(&count, library));
  HOLDS(count == 4);
  OK(cuLibraryGetKernel(&kernel, library, "scale"));
  OK(cuKernelGetName(&name, kernel));
  HOLDS(std::strcmp(name, "scale") == 0);
  OK(cuKernelGetFunction(&function, kernel));
  run(function, Arguments::listed);
  run(reinterpret_cast<CUfunction>(kernel), Arguments::listed);
  OK(cuLibraryUnload(library));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuKernelGetName(&name, kernel));
}

void images(const std::string& ptx, const std::string& machine_code) {
  CUmodule module = nullptr;
  char log[512] = "?";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  GIVES(CUDA_ERROR_NO_BINARY_FOR_GPU,
        cuModuleLoadDataEx(&module, machine_code.c_str(), 2, options, values));
  HOLDS(std::strstr(log, "compute_80") != nullptr);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&module, nullptr));
  GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "nonsense"));
  GIVES(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "no_such_file"));
  std::string newer = ptx;
  newer.replace(newer.find("sm_80"), 5, "sm_90");
  GIVES(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, newer.c_str()));
}

void streams() {
  CUstream stream = nullptr;
  CUevent begin = nullptr, end = nullptr;
  float milliseconds = -1;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&begin, 0));
  OK(cuEventCreate(&end, 0));
  OK(cuEventRecord(begin, stream));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, begin, end));
  OK(cuEventRecord(end, stream));
  OK(cuEventElapsedTime(&milliseconds, begin, end));
  HOLDS(milliseconds >= 0);
  int called = 0;
  OK(cuLaunchHostFunc(
      stream, [](void* data) { *static_cast<int*>(data) = 1; }, &called));
  OK(cuStreamSynchronize(stream));
  HOLDS(called == 1);
  OK(cuEventDestroy(begin));
  OK(cuEventDestroy(end));
  OK(cuStreamDestroy(stream));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
}

void entry_points() {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status{};
  OK(cuGetProcAddress("cuMemAlloc", &function, 13000, 0, &status));
  HOLDS(function == reinterpret_cast<void*>(&cuMemAlloc));
  GIVES(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuNothing", &function, 13000, 0, &status));
  HOLDS(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  CUipcMemHandle handle;
  GIVES(CUDA_ERROR_NOT_SUPPORTED, cuIpcGetMemHandle(&handle, 0)); // exists, and is not emulated
  const char* words = nullptr;
  OK(cuGetErrorName(CUDA_ERROR_INVALID_PTX, &words));
  HOLDS(std::strcmp(words, "CUDA_ERROR_INVALID_PTX") == 0);
  OK(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &words));
  HOLDS(std::strcmp(words, "invalid argument") == 0);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(12345), &words));
}

// After a kernel's fault every call returns it.
void fault(const std::string& ptx) {
  CUmodule module = nullptr;
  CUfunction beyond = nullptr;
  CUdeviceptr memory = 0;
  int i = 16;
  OK(cuModuleLoadData(&module, ptx.c_str()));
  OK(cuModuleGetFunction(&beyond, module, "beyond"));
  OK(cuMemAlloc(&memory, 64));
  void* arguments[] = {&memory, &i};
  GIVES(CUDA_ERROR_ILLEGAL_ADDRESS,
        cuLaunchKernel(beyond, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemFree(memory));
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string ptx = contents(argv[1]), fatbin = contents(argv[2]);
  contexts();
  memory();
  module(ptx.c_str());
  module(fatbin.data());
  libraries(fatbin.data());
  images(ptx, contents(argv[3]));
  texture(ptx, argc > 4 && std::string(argv[4]) == "array");
  streams();
  entry_points();
  if (argc > 4 && std::string(argv[4]) == "frees") wrong_frees();
  if (argc > 4 && std::string(argv[4]) == "fault") fault(ptx);
  std::printf("%s\n", wrong == 0 ? "right" : "wrong");
  return wrong != 0;
}
