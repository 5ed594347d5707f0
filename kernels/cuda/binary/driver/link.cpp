// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The linker. It accepts one PTX text and returns it as an image for cuModuleLoadData, after that
// of the device runtime if the program adds libcudadevrt.a.
#include "cuda/binary/driver/call.h"
#include "cuda/binary/driver/device_runtime.h"
#include "cuda/source/handles.h"

#include <fstream>
#include <iterator>
#include <string_view>

struct CUlinkState_st {
  std::string text;
  bool with_device_runtime = false;
};

namespace kg::emulate {
namespace {

foreign::Handles<CUlinkState_st>& links() {
  static auto& only = *new foreign::Handles<CUlinkState_st>;
  return only;
}

bool is_device_runtime(std::string_view library) {
  return library.starts_with("!<arch>\n") && library.find("cuda_device_runtime.o") != library.npos;
}

void add(CUlinkState handle, CUjitInputType type, std::string_view given) {
  CUlinkState_st& link = links().get(handle, "linker");
  if (type == CU_JIT_INPUT_LIBRARY && is_device_runtime(given)) {
    link.with_device_runtime = true;
    return;
  }
  demand(type == CU_JIT_INPUT_PTX, CUDA_ERROR_NO_BINARY_FOR_GPU,
         "only PTX is linked, not machine code, objects or libraries");
  demand(link.text.empty(), CUDA_ERROR_NOT_SUPPORTED, "one text of PTX is linked at a time");
  link.text = given.substr(0, given.find('\0'));
}

} // namespace
} // namespace kg::emulate

using namespace kg::emulate;

KG_DRIVER cuLinkCreate(unsigned, CUjit_option*, void**, CUlinkState* link) {
  return driver("cuLinkCreate", [&] {
    demand_pointer(link, "stateOut");
    *link = links().add(std::make_unique<CUlinkState_st>());
  });
}
KG_DRIVER cuLinkAddData(CUlinkState link, CUjitInputType type, void* data, std::size_t bytes,
                        const char*, unsigned, CUjit_option*, void**) {
  return driver("cuLinkAddData", [&] {
    demand_pointer(data, "data");
    add(link, type, {static_cast<const char*>(data), bytes});
  });
}
KG_DRIVER cuLinkAddFile(CUlinkState link, CUjitInputType type, const char* path, unsigned,
                        CUjit_option*, void**) {
  return driver("cuLinkAddFile", [&] {
    demand_pointer(path, "path");
    std::ifstream file(path, std::ios::binary);
    demand(file.good(), CUDA_ERROR_FILE_NOT_FOUND, std::string(path) + " cannot be read");
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    add(link, type, bytes);
  });
}
KG_DRIVER cuLinkComplete(CUlinkState handle, void** image, std::size_t* bytes) {
  return driver("cuLinkComplete", [&] {
    demand_pointer(image, "cubinOut");
    CUlinkState_st& link = links().get(handle, "linker");
    demand(!link.text.empty(), CUDA_ERROR_INVALID_VALUE, "nothing was added");
    if (link.with_device_runtime) link.text += kDeviceRuntime;
    link.with_device_runtime = false;
    *image = link.text.data();
    if (bytes) *bytes = link.text.size() + 1;
  });
}
KG_DRIVER cuLinkDestroy(CUlinkState link) {
  return driver("cuLinkDestroy", [&] { links().remove(link, "linker"); });
}
