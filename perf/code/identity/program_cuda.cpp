// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/identity/row_identity.h"
#include "perf/measure/child_process.h"
#include "runtime/atomic_file.h"
#include "runtime/device.h"

namespace kg::identity {
namespace {

std::map<std::string, std::string> read_this_program() {
  const std::filesystem::path path = perf::this_executable();
  const DeviceProperties& device = device_properties();
  return device_code(read_file(path).value_or(""), path.string(), device.compute_major,
                     device.compute_minor);
}

} // namespace

std::string this_programs_identity(const std::string&, const std::vector<LaunchRecord>& launches) {
  static const std::map<std::string, std::string> code = read_this_program();
  return row_identity(launches, [](const std::string& kernel) {
    const auto at = code.find(kernel);
    return at == code.end() ? std::string() : at->second;
  });
}

} // namespace kg::identity
