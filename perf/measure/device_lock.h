// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One timing process per device at a time, across build trees, test runners and users. CTest's
// RESOURCE_LOCK holds within one ctest run only.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>

namespace kg::perf {

// <temporary folder>/kernelgrade-<device>.lock
std::filesystem::path device_lock_path(const std::string& device);

// Holds the lock while it lives; the system releases it when the process ends, however it ends.
class DeviceLock {
 public:
  // Waits while another process holds it, after calling `waiting` once.
  DeviceLock(const std::filesystem::path& path, const std::function<void()>& waiting);
  ~DeviceLock();
  DeviceLock(DeviceLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  DeviceLock& operator=(DeviceLock&&) = delete;

 private:
  int file_ = -1;
};

} // namespace kg::perf
