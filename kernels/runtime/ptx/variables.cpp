// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx/variables.h"

#include "runtime/buffer.h"
#include "runtime/error.h"
#include "runtime/ptx/prelude.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace kg::ptx_run {
namespace {

class Variables {
 public:
  u8* find(const std::string& module, const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = made_.find({module, name});
    return found == made_.end() ? nullptr : found->second;
  }

  u8* make(const Module& module, const std::string& name) {
    if (u8* const made = find(module.id, name)) return made;
    const auto named = [&](const auto& one) { return one.name == name; };
    const auto found = std::find_if(module.variables.begin(), module.variables.end(), named);
    if (found == module.variables.end() &&
        std::any_of(module.functions.begin(), module.functions.end(), named)) {
      const std::lock_guard lock(mutex_);
      return made_[{module.id, name}] = &functions_.emplace_back();
    }
    require(found != module.variables.end(),
            fmt::format("{}: it has no variable {}", module.name, name));
    // A host build has the variable of the kernel that g++ compiled. In a program that nvcc
    // compiled, this name belongs to the host's shadow of the variable (kernels/cuda/binary).
    const bool emulated = dlsym(RTLD_DEFAULT, "kernelgrade_emulated_device") != nullptr;
    // Nor can a variable of the host hold functions of the module.
    const bool own = emulated || holds_functions(module, *found);
    u8* place = own ? nullptr : static_cast<u8*>(dlsym(RTLD_DEFAULT, name.c_str()));
    if (!place) {
      DeviceBuffer<u8> memory(found->bytes);
      place = memory.data();
      fill(place, initial(module, *found));
      const std::lock_guard lock(mutex_);
      memory_.emplace(place, std::move(memory));
    }
    const std::lock_guard lock(mutex_);
    return made_[{module.id, name}] = place;
  }

  void reset(const Module& module) {
    for (const Variable& variable : module.variables) {
      u8* const place = find(module.id, variable.name);
      if (place && has_memory(place)) fill(place, initial(module, variable));
    }
  }

 private:
  bool has_memory(u8* place) {
    const std::lock_guard lock(mutex_);
    return memory_.contains(place);
  }

  static void fill(u8* place, const std::vector<u8>& bytes) {
    Stream stream;
    copy_to_device(place, bytes.data(), bytes.size(), stream);
    stream.synchronize();
  }

  std::vector<u8> initial(const Module& module, const Variable& variable) {
    const std::size_t width = size_of(variable.type);
    std::vector<u8> bytes(variable.bytes);
    require(variable.values.size() * width <= bytes.size(),
            fmt::format("{}: {} has more values than elements", module.name, variable.name));
    for (std::size_t i = 0; i < variable.values.size(); ++i) {
      const u64 value = element(module, variable, variable.values[i]);
      std::memcpy(bytes.data() + i * width, &value, width);
    }
    return bytes;
  }

  static bool holds_functions(const Module& module, const Variable& variable) {
    return std::any_of(module.functions.begin(), module.functions.end(), [&](const Entry& one) {
      return std::count(variable.values.begin(), variable.values.end(), one.name) > 0;
    });
  }

  // A number, or the address of another variable or of a function: generic(counter), square.
  u64 element(const Module& module, const Variable& variable, const std::string& text) {
    if (text.starts_with("0f") || text.starts_with("0d") || text.starts_with("0F") ||
        text.starts_with("0D"))
      return std::strtoull(text.c_str() + 2, nullptr, 16);
    char* end = nullptr;
    const u64 number = text.starts_with("-") ? static_cast<u64>(std::strtoll(text.c_str(), &end, 0))
                                             : std::strtoull(text.c_str(), &end, 0);
    if (!text.empty() && (*end == '\0' || *end == 'U')) return number;
    constexpr std::string_view kGeneric = "generic(";
    if (text.starts_with(kGeneric) && text.ends_with(")"))
      return reinterpret_cast<u64>(
          make(module, text.substr(kGeneric.size(), text.size() - kGeneric.size() - 1)));
    for (const Entry& function : module.functions)
      if (function.name == text) return reinterpret_cast<u64>(make(module, text));
    fail(fmt::format("{}: {} begins as {}, which is not understood", module.name, variable.name,
                     text));
  }

  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, u8*> made_; // by module and name
  std::map<u8*, DeviceBuffer<u8>> memory_;
  std::deque<u8> functions_; // only addresses: never dereferenced, not in device memory
};

Variables& variables() {
  static Variables only;
  return only;
}

} // namespace

void make_variable(const Module& module, const std::string& name) {
  variables().make(module, name);
}

void reset_variables(const Module& module) { variables().reset(module); }

u8* variable(const char* module, const char* name) { return variables().find(module, name); }

} // namespace kg::ptx_run
