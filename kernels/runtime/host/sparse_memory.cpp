// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/sparse_memory.h"

#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace kg::host {
namespace {

constexpr std::size_t kPage = 4096;
// File size for each byte value. The operating system allows 65530 mappings, many of them needed
// for stacks. 2^40 bytes need 2^13 mappings.
constexpr std::size_t kPattern = std::size_t{1} << 27;

struct Array {
  std::uintptr_t end; // page-aligned
  unsigned char fill;
};

struct Arrays {
  std::mutex mutex;
  std::map<std::uintptr_t, Array> by_begin;
  std::array<int, 256> patterns = [] {
    std::array<int, 256> none;
    none.fill(-1);
    return none;
  }();

  // The array that contains the whole range, or null.
  Array* find(std::uintptr_t begin, std::size_t bytes) {
    auto next = by_begin.upper_bound(begin);
    if (next == by_begin.begin()) return nullptr;
    Array& array = (--next)->second;
    return begin + bytes <= array.end ? &array : nullptr;
  }
};

Arrays& arrays() {
  static Arrays instance;
  return instance;
}

std::uintptr_t address(const void* of) { return reinterpret_cast<std::uintptr_t>(of); }
void* pointer(std::uintptr_t to) { return reinterpret_cast<void*>(to); }
std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

[[noreturn]] void fail_of_system(const std::string& what) {
  fail("sparse memory: " + what + " (" + std::strerror(errno) + ")");
}

int pattern(unsigned char value) {
  int& file = arrays().patterns[value];
  if (file >= 0) return file;
  const int made = memfd_create("kernelgrade pattern", MFD_CLOEXEC);
  if (made < 0 || ftruncate(made, kPattern) != 0) fail_of_system("no file for a pattern");
  void* const bytes = mmap(nullptr, kPattern, PROT_WRITE, MAP_SHARED, made, 0);
  if (bytes == MAP_FAILED) fail_of_system("no memory for a pattern");
  std::memset(bytes, value, kPattern);
  munmap(bytes, kPattern);
  return file = made;
}

// Whole pages only.
void map_pattern(std::uintptr_t begin, std::uintptr_t end, unsigned char value) {
  const int file = pattern(value);
  for (; begin < end; begin += std::min<std::uintptr_t>(kPattern, end - begin))
    if (mmap(pointer(begin), std::min<std::uintptr_t>(kPattern, end - begin),
             PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file,
             0) == MAP_FAILED)
      fail_of_system("no mapping for " + std::to_string(end - begin) + " bytes");
}

} // namespace

void* map_sparse(std::size_t bytes, unsigned char fill) {
  const std::size_t whole = whole_pages(bytes);
  void* const margin = mmap(nullptr, whole + 2 * kSparseMargin, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (margin == MAP_FAILED) fail_of_system("no addresses for " + std::to_string(bytes) + " bytes");
  const std::uintptr_t begin = address(margin) + kSparseMargin;
  std::lock_guard lock(arrays().mutex);
  try {
    map_pattern(begin, begin + whole, fill);
  } catch (...) {
    munmap(margin, whole + 2 * kSparseMargin);
    throw;
  }
  arrays().by_begin[begin] = {begin + whole, fill};
  return pointer(begin);
}

void free_block(void* block) {
  std::lock_guard lock(arrays().mutex);
  const auto array = arrays().by_begin.find(address(block));
  if (array == arrays().by_begin.end()) return std::free(block);
  munmap(pointer(array->first - kSparseMargin),
         array->second.end - array->first + 2 * kSparseMargin);
  arrays().by_begin.erase(array);
}

bool fill_sparse(void* begin, unsigned char value, std::size_t bytes) {
  std::lock_guard lock(arrays().mutex);
  Array* const array = arrays().find(address(begin), bytes);
  if (!array) return false;
  const std::uintptr_t end = address(begin) + bytes;
  const std::uintptr_t first = whole_pages(address(begin)), last = end / kPage * kPage;
  std::memset(begin, value, std::min(first, end) - address(begin));
  if (first >= last) {
    if (first < end) std::memset(pointer(first), value, end - first);
    return true;
  }
  map_pattern(first, last, value);
  std::memset(pointer(last), value, end - last);
  array->fill = value;
  return true;
}

WrittenPages written_pages(const void* begin, std::size_t bytes) {
  std::lock_guard lock(arrays().mutex);
  const Array* const array = arrays().find(address(begin), bytes);
  require(array != nullptr, "written_pages: the bytes are not of one sparse array");
  const int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (map < 0) fail_of_system("/proc/self/pagemap, which tells what was written, does not open");
  WrittenPages result{{}, array->fill};
  const std::uintptr_t end = address(begin) + bytes;
  std::vector<std::uint64_t> entries(std::size_t{1} << 16);
  std::uintptr_t run = 0; // start of the run
  const auto end_run = [&](std::uintptr_t at) {
    if (run == 0) return;
    const std::uintptr_t from = std::max(run, address(begin)), to = std::min(at, end);
    result.runs.push_back({static_cast<const std::byte*>(pointer(from)), to - from});
    run = 0;
  };
  for (std::uintptr_t page = address(begin) / kPage * kPage; page < end;) {
    const std::size_t count = std::min(entries.size(), (end - page + kPage - 1) / kPage);
    const auto wanted = static_cast<ssize_t>(count * sizeof entries[0]);
    if (pread(map, entries.data(), static_cast<std::size_t>(wanted),
              static_cast<off_t>(page / kPage * sizeof entries[0])) != wanted) {
      close(map);
      fail_of_system("/proc/self/pagemap ends early");
    }
    for (std::size_t i = 0; i < count; ++i, page += kPage) {
      // In memory or swapped out, and not a file page: a private copy, which only a write creates.
      const bool written = (entries[i] >> 62) != 0 && !(entries[i] >> 61 & 1);
      if (!written)
        end_run(page);
      else if (run == 0)
        run = page;
    }
  }
  end_run(end);
  close(map);
  return result;
}

} // namespace kg::host
