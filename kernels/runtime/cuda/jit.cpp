// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels compiled at run time for a GPU: NVRTC generates machine code (PTX for a virtual
// architecture), which the runtime loads into the launching context.
#include "runtime/jit.h"

#include "runtime/cuda/status.h"
#include "runtime/device.h"
#include "runtime/jit_build.h"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <nvrtc.h>

static kg::Status describe(nvrtcResult result) {
  return {result == NVRTC_SUCCESS, nvrtcGetErrorString(result)};
}

namespace kg::jit {
namespace {

class Program {
 public:
  Program(const std::string& text, const std::string& name) {
    KG_CHECK(nvrtcCreateProgram(&program_, text.c_str(), name.c_str(), 0, nullptr, nullptr));
  }
  ~Program() { nvrtcDestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> words;
    for (const std::string& option : options) words.push_back(option.c_str());
    return nvrtcCompileProgram(program_, static_cast<int>(words.size()), words.data());
  }

  std::string log() const {
    std::size_t size = 0;
    KG_CHECK(nvrtcGetProgramLogSize(program_, &size));
    std::string text(size, '\0'); // including the terminating zero
    KG_CHECK(nvrtcGetProgramLog(program_, text.data()));
    text.resize(size == 0 ? 0 : size - 1);
    return text;
  }

  std::string ptx() const {
    std::size_t size = 0;
    KG_CHECK(nvrtcGetPTXSize(program_, &size));
    std::string bytes(size, '\0'); // including the terminating zero
    KG_CHECK(nvrtcGetPTX(program_, bytes.data()));
    return bytes;
  }

  std::string cubin() const {
    std::size_t size = 0;
    KG_CHECK(nvrtcGetCUBINSize(program_, &size));
    std::string bytes(size, '\0');
    KG_CHECK(nvrtcGetCUBIN(program_, bytes.data()));
    return bytes;
  }

 private:
  nvrtcProgram program_ = nullptr;
};

// NVRTC reports only major and minor version; the library's file size distinguishes updates.
std::string library_path() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&nvrtcVersion), &info) == 0 || !info.dli_fname)
    return "nvrtc";
  return std::filesystem::weakly_canonical(info.dli_fname).string();
}

std::string version_of(const std::string& library) {
  int major = 0, minor = 0;
  KG_CHECK(nvrtcVersion(&major, &minor));
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(library, unknown);
  return fmt::format("NVRTC {}.{}, {} bytes", major, minor, unknown ? 0 : size);
}

} // namespace

Toolchain toolchain() {
  const DeviceProperties& device = device_properties();
  return toolchain(fmt::format("{}_{}{}", device.emulated ? "compute" : "sm", device.compute_major,
                               device.compute_minor));
}

Toolchain toolchain(const std::string& architecture) {
  Toolchain result;
  result.compiler = library_path();
  result.version = version_of(result.compiler);
  result.architecture = architecture;
  const Build& build = build_settings();
  const std::string include = detail::include_folder(build.include);
  result.flags = {"--gpu-architecture=" + architecture, "--std=c++20", "--generate-line-info",
                  "-DKG_BACKEND_CUDA=1", "-I" + include};
  for (const std::string& toolkit : build.toolkit) result.flags.push_back("-I" + toolkit);
  result.headers = detail::hash_headers(include);
  result.cache = detail::cache_folder();
  return result;
}

namespace detail {

std::string build(const Source& source, const std::string& text, const Toolchain& toolchain,
                  Location where) {
  Program program(text, source.name);
  const nvrtcResult result = program.compile(toolchain.flags);
  if (result != NVRTC_SUCCESS)
    fail(fmt::format("{} ({}) does not compile: {}:\n{}by {} with {}", source.kernel, source.name,
                     describe(result).text, program.log(), toolchain.version,
                     fmt::join(toolchain.flags, " ")),
         where);
  return toolchain.architecture.starts_with("compute_") ? program.ptx() : program.cubin();
}

#if CUDART_VERSION >= 13000

std::shared_ptr<void> load(const MachineCode& code, Location where) {
  cudaLibrary_t library = nullptr;
  check_status(::describe(cudaLibraryLoadData(&library, code.bytes.data(), nullptr, nullptr, 0,
                                              nullptr, nullptr, 0)),
               "cudaLibraryLoadData", where);
  return {library, [](void* loaded) {
            cuda::check_release(cudaLibraryUnload(static_cast<cudaLibrary_t>(loaded)),
                                "cudaLibraryUnload");
          }};
}

const void* find_kernel(void* library, const std::string& name, Location where) {
  cudaKernel_t kernel = nullptr;
  const Status status =
      ::describe(cudaLibraryGetKernel(&kernel, static_cast<cudaLibrary_t>(library), name.c_str()));
  if (!status.ok)
    fail(name +
             ": the text that was compiled at run time has no such kernel; declare it extern "
             "\"C\" __global__ (" +
             status.text + ")",
         where);
  return kernel;
}

#else

std::shared_ptr<void> load(const MachineCode&, Location where) {
  fail("kernels compiled at run time need the CUDA toolkit 13 or later; build with that", where);
}

const void* find_kernel(void*, const std::string&, Location) { return nullptr; }

#endif

} // namespace detail
} // namespace kg::jit
