// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// hostile PTX FATBIN COUNT: images that are damaged, each at the very end of readable memory. Each
// is loaded or refused with one of CUDA's codes for that; says "right" and how many were refused.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <sys/mman.h>

namespace {

std::string contents(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Memory whose last byte is followed by a page that nobody may read.
class Edge {
 public:
  const char* put(const std::string& image) {
    char* const at = end_ - image.size();
    std::memcpy(at, image.data(), image.size());
    return at;
  }

 private:
  static constexpr std::size_t kBytes = 1 << 20, kPage = 4096;
  char* const end_ = [] {
    void* const all =
        mmap(nullptr, kBytes + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    mprotect(static_cast<char*>(all) + kBytes, kPage, PROT_NONE);
    return static_cast<char*>(all) + kBytes;
  }();
};

std::string damaged(std::string image, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return random() % limit; };
  switch (below(4)) {
  case 0: // truncated
    return image.substr(0, below(image.size()));
  case 1: // single bytes
    for (std::size_t i = 0; i <= below(8); ++i)
      image[below(image.size())] = static_cast<char>(random());
    break;
  case 2: { // a number in the headers
    const std::uint64_t values[] = {0, 1, 0x7fffffff, 0xffffffff, ~std::uint64_t{0} - 15, random()};
    const std::uint64_t value = values[below(6)];
    const std::size_t at = below(std::min<std::size_t>(image.size() - 8, 96));
    std::memcpy(image.data() + at, &value, below(2) == 0 ? 8 : 4);
    break;
  }
  default: { // a piece in another's place
    const std::size_t bytes = 1 + below(64), from = below(image.size() - bytes);
    image.replace(below(image.size() - bytes), bytes, image.substr(from, bytes));
  }
  }
  return image;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string images[] = {contents(argv[1]), contents(argv[2])};
  const int count = std::atoi(argv[3]);
  CUcontext context = nullptr;
  if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context)) return 2;
  std::mt19937 random(1); // the same images in each run
  Edge edge;
  std::map<CUresult, int> codes;
  for (int i = 0; i < count; ++i) {
    CUmodule module = nullptr;
    const CUresult code = cuModuleLoadData(&module, edge.put(damaged(images[i % 2], random)));
    ++codes[code];
    if (code != CUDA_SUCCESS) continue;
    CUfunction function = nullptr;
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    cuModuleGetFunction(&function, module, "scale");
    cuModuleGetGlobal(&address, &bytes, module, "offset");
    if (cuModuleUnload(module)) ++codes[CUDA_ERROR_UNKNOWN];
  }
  const int known = codes[CUDA_SUCCESS] + codes[CUDA_ERROR_INVALID_IMAGE] +
                    codes[CUDA_ERROR_NO_BINARY_FOR_GPU] + codes[CUDA_ERROR_INVALID_PTX];
  for (const auto& [code, times] : codes) std::printf("%d: %d times\n", code, times);
  const bool right = known == count && codes[CUDA_ERROR_INVALID_IMAGE] > 0 &&
                     codes[CUDA_ERROR_NO_BINARY_FOR_GPU] > 0 && codes[CUDA_ERROR_INVALID_PTX] > 0;
  std::printf("%s\n", right ? "right" : "wrong");
  return !right;
}
