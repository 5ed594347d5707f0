// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the ELF files of the loaded modules: System V ABI, "Object Files"; thread-local symbols as
// in "ELF Handling For Thread-Local Storage" (Drepper 2005).
#include "runtime/host/check/shared_variables.h"

#include "runtime/host/check/source_line.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <link.h>
#include <map>
#include <string_view>

// Returns this thread's variables of a module; for a module loaded by dlopen, the first use creates
// them. Part of the C library's ABI for compilers, not declared in any header.
extern "C" void* __tls_get_addr(std::size_t* module_and_offset);

namespace kg::check {
namespace {

std::vector<char> file_contents(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate); // opened at its end
  if (!file) return {};
  std::vector<char> contents(static_cast<std::size_t>(file.tellg()));
  file.seekg(0);
  file.read(contents.data(), static_cast<std::streamsize>(contents.size()));
  return file ? contents : std::vector<char>{};
}

// Kernels declare __shared__ variables in functions, so their symbols are local names; the runtime
// and the standard library have local names too.
bool is_shared_variable(std::string_view symbol) {
  const bool in_function = symbol.starts_with("_ZZ") || symbol.find('.') != std::string_view::npos;
  return in_function && !symbol.starts_with("_ZZN2kg4host") &&
         !symbol.starts_with("_ZZN2kg5check") && !symbol.starts_with("_ZZNSt") &&
         !symbol.starts_with("_ZZN3tbb") && !symbol.starts_with("_ZGV");
}

template <class T>
const T* at(const std::vector<char>& file, std::size_t offset, std::size_t count = 1) {
  if (offset > file.size() || count > (file.size() - offset) / sizeof(T)) return nullptr;
  return reinterpret_cast<const T*>(file.data() + offset);
}

std::vector<SharedVariable> read_thread_local_symbols(const char* path) {
  std::vector<SharedVariable> variables;
  const std::vector<char> file = file_contents(path);
  const auto* header = at<ElfW(Ehdr)>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return variables;
  const auto* sections = at<ElfW(Shdr)>(file, header->e_shoff, header->e_shnum);
  if (!sections) return variables;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header->e_shnum) continue;
    const std::size_t count = sections[i].sh_size / sizeof(ElfW(Sym));
    const auto* symbols = at<ElfW(Sym)>(file, sections[i].sh_offset, count);
    const ElfW(Shdr)& names = sections[sections[i].sh_link];
    const auto* text = at<char>(file, names.sh_offset, names.sh_size);
    if (!symbols || !text) continue;
    for (std::size_t s = 0; s < count; ++s) {
      if (ELF64_ST_TYPE(symbols[s].st_info) != STT_TLS || symbols[s].st_shndx == SHN_UNDEF ||
          symbols[s].st_name >= names.sh_size)
        continue;
      const char* name = text + symbols[s].st_name;
      if (!is_shared_variable(name)) continue;
      variables.push_back({symbols[s].st_value, symbols[s].st_size, demangled(name),
                           std::strstr(name, "kg_shared_guard") != nullptr});
    }
  }
  std::sort(variables.begin(), variables.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return variables;
}

// Caches the symbols per file: each OS thread has its own variables, but with the same symbols.
const std::vector<SharedVariable>& thread_local_symbols(const char* path) {
  static std::map<std::string, std::vector<SharedVariable>> known;
  const auto [at, is_new] = known.try_emplace(path);
  if (is_new) at->second = read_thread_local_symbols(path);
  return at->second;
}

} // namespace

std::vector<SharedModule> shared_modules() {
  std::vector<SharedModule> modules;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_TLS || info->dlpi_tls_modid == 0) continue;
          std::size_t begin[] = {info->dlpi_tls_modid, 0};
          void* const variables = info->dlpi_tls_data ? info->dlpi_tls_data : __tls_get_addr(begin);
          const char* path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
          static_cast<std::vector<SharedModule>*>(data)->push_back(
              {reinterpret_cast<std::uintptr_t>(variables), info->dlpi_phdr[i].p_memsz,
               thread_local_symbols(path)});
        }
        return 0;
      },
      &modules);
  return modules;
}

std::vector<DataSegment> data_segments() {
  std::vector<DataSegment> segments;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD) continue;
          static_cast<std::vector<DataSegment>*>(data)->push_back(
              {info->dlpi_addr + part.p_vaddr, part.p_memsz, (part.p_flags & PF_W) != 0});
        }
        return 0;
      },
      &segments);
  return segments;
}

} // namespace kg::check
