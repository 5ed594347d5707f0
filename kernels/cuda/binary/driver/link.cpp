// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The linker. It accepts one PTX text and returns it unchanged, as an image for cuModuleLoadData.
#include "cuda/binary/driver/call.h"
#include "cuda/source/handles.h"

#include <cstring>
#include <fstream>
#include <iterator>

struct CUlinkState_st {
  std::string text;
};

namespace kg::emulate {
namespace {

foreign::Handles<CUlinkState_st>& links() {
  static auto& only = *new foreign::Handles<CUlinkState_st>;
  return only;
}

void add(CUlinkState handle, CUjitInputType type, std::string text) {
  CUlinkState_st& link = links().get(handle, "linker");
  demand(type == CU_JIT_INPUT_PTX, CUDA_ERROR_NO_BINARY_FOR_GPU,
         "only PTX is linked, not machine code, objects or libraries");
  demand(link.text.empty(), CUDA_ERROR_NOT_SUPPORTED, "one text of PTX is linked at a time");
  link.text = std::move(text);
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
    const char* const text = static_cast<const char*>(data);
    add(link, type, {text, strnlen(text, bytes)});
  });
}
KG_DRIVER cuLinkAddFile(CUlinkState link, CUjitInputType type, const char* path, unsigned,
                        CUjit_option*, void**) {
  return driver("cuLinkAddFile", [&] {
    demand_pointer(path, "path");
    std::ifstream file(path, std::ios::binary);
    demand(file.good(), CUDA_ERROR_FILE_NOT_FOUND, std::string(path) + " cannot be read");
    add(link, type, {std::istreambuf_iterator<char>(file), {}});
  });
}
KG_DRIVER cuLinkComplete(CUlinkState handle, void** image, std::size_t* bytes) {
  return driver("cuLinkComplete", [&] {
    demand_pointer(image, "cubinOut");
    CUlinkState_st& link = links().get(handle, "linker");
    demand(!link.text.empty(), CUDA_ERROR_INVALID_VALUE, "nothing was added");
    *image = link.text.data();
    if (bytes) *bytes = link.text.size() + 1;
  });
}
KG_DRIVER cuLinkDestroy(CUlinkState link) {
  return driver("cuLinkDestroy", [&] { links().remove(link, "linker"); });
}
