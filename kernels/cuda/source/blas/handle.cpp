// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/blas/handle.h"

#include "runtime/host/device_memory.h"
#include "runtime/host/queue.h"

#include <cublasLt.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>

struct cublasLtContext {};

namespace kg::foreign::blas {
namespace {

struct Words {
  cublasStatus_t status;
  const char* name;
  const char* text;
};

constexpr Words kWords[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
     "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
     "the function requires a feature absent from the current device's architecture"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR",
     "an access to GPU memory space failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
     "the GPU program failed to execute"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
     "the functionality requested is not supported"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR",
     "the functionality requested requires some license"},
};

struct Contexts {
  std::mutex mutex;
  std::map<cublasHandle_t, std::unique_ptr<cublasContext>> live;
};
Contexts& contexts() {
  static auto& instance = *new Contexts;
  return instance;
}

} // namespace

void demand_valid(bool condition, const char* why) {
  if (!condition) throw Refused(CUBLAS_STATUS_INVALID_VALUE, why);
}

cublasStatus_t call(const char* name, const std::function<void()>& body) {
  if (fault() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  const auto refused = [name](cublasStatus_t status, const char* why) {
    std::fprintf(stderr, "kernelgrade: %s: %s: %s\n", cublasGetStatusName(status), name, why);
    return status;
  };
  try {
    body();
    return CUBLAS_STATUS_SUCCESS;
  } catch (const Refused& error) {
    return refused(error.status, error.what());
  } catch (const Refusal& error) {
    return refused(CUBLAS_STATUS_INVALID_VALUE, error.what());
  } catch (const std::bad_alloc&) {
    return refused(CUBLAS_STATUS_ALLOC_FAILED, "no memory left for the operands' conversion");
  } catch (const std::exception& error) {
    return refused(CUBLAS_STATUS_INTERNAL_ERROR, error.what());
  }
}

cublasContext& context(cublasHandle_t handle) {
  std::lock_guard lock(contexts().mutex);
  const auto found = contexts().live.find(handle);
  if (found == contexts().live.end())
    throw Refused(CUBLAS_STATUS_NOT_INITIALIZED, "not a handle, or a destroyed one");
  return *found->second;
}

void enqueue(const cublasContext& context, std::function<void()> task) {
  const StreamWork work(context.stream, "cuBLAS");
  host::queue_of(stream_of(context.stream)).run(std::move(task));
}

void demand_matrix(const void* data, std::size_t element_bytes, int rows, int columns, int ld,
                   const char* which) {
  demand_valid(rows >= 0 && columns >= 0, "a negative extent");
  demand_valid(ld >= (rows > 1 ? rows : 1), "a leading dimension is less than its matrix's rows");
  if (rows == 0 || columns == 0) return;
  const std::size_t last = static_cast<std::size_t>(ld) * static_cast<std::size_t>(columns - 1);
  demand_on_device(data, (last + static_cast<std::size_t>(rows)) * element_bytes, which);
}

void demand_vector(const void* data, std::size_t element_bytes, int n, int increment,
                   const char* which) {
  demand_valid(increment != 0, "an increment of 0");
  if (n <= 0) return;
  const auto step = static_cast<std::size_t>(std::abs(increment));
  demand_on_device(data, (step * static_cast<std::size_t>(n - 1) + 1) * element_bytes, which);
}

} // namespace kg::foreign::blas

using namespace kg::foreign;

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  return blas::call("cublasCreate", [&] {
    blas::demand_valid(handle != nullptr, "the pointer to the handle is null");
    auto created = std::make_unique<cublasContext>();
    *handle = created.get();
    kg::host::host_libraries_read = true;
    std::lock_guard lock(blas::contexts().mutex);
    blas::contexts().live.emplace(*handle, std::move(created));
  });
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  return blas::call("cublasDestroy", [&] {
    blas::context(handle);
    std::lock_guard lock(blas::contexts().mutex);
    blas::contexts().live.erase(handle);
  });
}
cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  return blas::call("cublasGetVersion", [&] { *version = CUBLAS_VERSION; });
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  return blas::call("cublasSetStream", [&] {
    stream_of(stream);
    blas::context(handle).stream = stream;
  });
}
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  return blas::call("cublasGetStream", [&] { *stream = blas::context(handle).stream; });
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, std::size_t) {
  return blas::call("cublasSetWorkspace", [&] { blas::context(handle); });
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  return blas::call("cublasSetPointerMode", [&] { blas::context(handle).pointers = mode; });
}
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return blas::call("cublasGetPointerMode", [&] { *mode = blas::context(handle).pointers; });
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t) {
  return blas::call("cublasSetAtomicsMode", [&] { blas::context(handle); });
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return blas::call("cublasSetMathMode", [&] { blas::context(handle).math = mode; });
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return blas::call("cublasGetMathMode", [&] { *mode = blas::context(handle).math; });
}

const char* cublasGetStatusName(cublasStatus_t status) {
  for (const auto& words : blas::kWords) {
    if (words.status == status) return words.name;
  }
  return "unrecognized error code";
}
const char* cublasGetStatusString(cublasStatus_t status) {
  for (const auto& words : blas::kWords) {
    if (words.status == status) return words.text;
  }
  return "unrecognized error code";
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return blas::call("cublasLtCreate", [&] {
    blas::demand_valid(handle != nullptr, "the pointer to the handle is null");
    *handle = new cublasLtContext;
  });
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
