// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/binary/driver/modules.h"

#include "cuda/source/handles.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace kg::emulate {
namespace {

struct Live {
  foreign::Handles<CUmod_st> modules;
  foreign::Handles<CUfunc_st> functions;
  std::mutex mutex; // for the maps of the modules
};
Live& live() {
  static auto& only = *new Live;
  return only;
}

// The load options that describe the error log.
struct Log {
  char* text = nullptr;
  std::size_t bytes = 0;

  Log(unsigned count, CUjit_option* options, void** values) {
    for (unsigned i = 0; options && values && i < count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER) text = static_cast<char*>(values[i]);
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
        bytes = reinterpret_cast<std::size_t>(values[i]);
    }
    write("");
  }
  void write(const std::string& why) const {
    if (text && bytes != 0) std::snprintf(text, bytes, "%s", why.c_str());
  }
};

CUmod_st* load(const void* image, const Log& log) {
  try {
    return load_module(image);
  } catch (const Error& error) {
    log.write(error.what());
    throw;
  }
}

CUmod_st* load_file(const char* path, const Log& log) {
  demand_pointer(path, "the file's name");
  std::ifstream file(path, std::ios::binary);
  demand(file.good(), CUDA_ERROR_FILE_NOT_FOUND, std::string(path) + " cannot be read");
  const std::string image{std::istreambuf_iterator<char>(file), {}};
  return load(image.c_str(), log);
}

CUmod_st* of(CUlibrary library) { return reinterpret_cast<CUmod_st*>(library); }

} // namespace

CUmod_st* load_module(const void* image) {
  demand_pointer(image, "image");
  try {
    auto module = std::make_unique<CUmod_st>();
    module->program = register_image(image);
    return live().modules.add(std::move(module));
  } catch (const BadImage& bad) {
    refuse(static_cast<CUresult>(bad.code), bad.what());
  }
}

void unload_module(CUmod_st* handle) {
  CUmod_st& module = module_of(handle);
  {
    const std::lock_guard lock(live().mutex);
    for (const auto& [name, function] : module.functions)
      live().functions.remove(function, "function");
    module.functions.clear();
  }
  unregister_program(module.program);
  live().modules.remove(handle, "module");
}

CUmod_st& module_of(CUmod_st* handle) { return live().modules.get(handle, "module"); }

CUfunc_st* function_in(CUmod_st* handle, const std::string& name) {
  CUmod_st& module = module_of(handle);
  const std::lock_guard lock(live().mutex);
  if (const auto known = module.functions.find(name); known != module.functions.end())
    return known->second;
  auto made = std::make_unique<CUfunc_st>();
  made->module = &module;
  made->name = name;
  demand(register_kernel_if_there(module.program, made.get(), name.c_str()), CUDA_ERROR_NOT_FOUND,
         "the module has no kernel " + name);
  return module.functions[name] = live().functions.add(std::move(made));
}

CUfunc_st& function_of(const void* handle) {
  return live().functions.get(static_cast<CUfunc_st*>(const_cast<void*>(handle)), "function");
}

Variable global_in(CUmod_st* handle, const std::string& name) {
  const CUmod_st& module = module_of(handle);
  try {
    const Variable found = variable_in(module.program, name);
    void* address = nullptr;
    foreign::symbol_address(&address, found.data, found.bytes); // device memory from now on
    return found;
  } catch (const Error& error) {
    refuse(CUDA_ERROR_NOT_FOUND, error.what());
  }
}

} // namespace kg::emulate

using namespace kg::emulate;

// --- Modules

KG_DRIVER cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                             CUjit_option* options, void** values) {
  return driver("cuModuleLoadData", [&] {
    demand_pointer(module, "module");
    *module = load(image, Log(count, options, values));
  });
}
KG_DRIVER cuModuleLoadData(CUmodule* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
KG_DRIVER cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
KG_DRIVER cuModuleLoad(CUmodule* module, const char* path) {
  return driver("cuModuleLoad", [&] {
    demand_pointer(module, "module");
    *module = load_file(path, Log(0, nullptr, nullptr));
  });
}
KG_DRIVER cuModuleUnload(CUmodule module) {
  return driver("cuModuleUnload", [&] { unload_module(module); });
}
KG_DRIVER cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;
  return initialised();
}
KG_DRIVER cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return driver("cuModuleGetFunction", [&] {
    demand_pointer(function, "hfunc");
    demand_pointer(name, "name");
    *function = function_in(module, name);
  });
}
KG_DRIVER cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return driver("cuModuleGetFunctionCount", [&] {
    demand_pointer(count, "count");
    *count = static_cast<unsigned>(kernel_names(module_of(module).program).size());
  });
}
KG_DRIVER cuModuleEnumerateFunctions(CUfunction* functions, unsigned most, CUmodule module) {
  return driver("cuModuleEnumerateFunctions", [&] {
    demand_pointer(functions, "functions");
    const std::vector<std::string> names = kernel_names(module_of(module).program);
    for (unsigned i = 0; i < most && i < names.size(); ++i)
      functions[i] = function_in(module, names[i]);
  });
}
KG_DRIVER cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                            const char* name) {
  return driver("cuModuleGetGlobal", [&] {
    demand_pointer(name, "name");
    const Variable found = global_in(module, name);
    if (address) *address = reinterpret_cast<CUdeviceptr>(found.data);
    if (bytes) *bytes = found.bytes;
  });
}

// --- Libraries, which need no context

KG_DRIVER cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* options,
                            void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  return after_init("cuLibraryLoadData", [&] {
    demand_pointer(library, "library");
    *library = reinterpret_cast<CUlibrary>(load(image, Log(count, options, values)));
  });
}
KG_DRIVER cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options,
                                void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  return after_init("cuLibraryLoadFromFile", [&] {
    demand_pointer(library, "library");
    *library = reinterpret_cast<CUlibrary>(load_file(path, Log(count, options, values)));
  });
}
KG_DRIVER cuLibraryUnload(CUlibrary library) {
  return after_init("cuLibraryUnload", [&] { unload_module(of(library)); });
}
KG_DRIVER cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return after_init("cuLibraryGetModule", [&] {
    demand_pointer(module, "pMod");
    *module = &module_of(of(library));
  });
}
KG_DRIVER cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return after_init("cuLibraryGetKernel", [&] {
    demand_pointer(kernel, "pKernel");
    demand_pointer(name, "name");
    *kernel = reinterpret_cast<CUkernel>(function_in(of(library), name));
  });
}
KG_DRIVER cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return after_init("cuLibraryGetKernelCount", [&] {
    demand_pointer(count, "count");
    *count = static_cast<unsigned>(kernel_names(module_of(of(library)).program).size());
  });
}
KG_DRIVER cuLibraryEnumerateKernels(CUkernel* kernels, unsigned most, CUlibrary library) {
  return cuModuleEnumerateFunctions(reinterpret_cast<CUfunction*>(kernels), most, of(library));
}
KG_DRIVER cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                             const char* name) {
  return cuModuleGetGlobal(address, bytes, of(library), name);
}
KG_DRIVER cuLibraryGetManaged(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                              const char* name) {
  return cuModuleGetGlobal(address, bytes, of(library), name);
}
