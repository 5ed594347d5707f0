// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Admits one timing process per device at a time, across build trees, test runners and users.
// CTest's RESOURCE_LOCK is limited to one run of ctest.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>

namespace kg::perf {

// <temporary folder>/kernelgrade-<device>.lock
std::filesystem::path device_lock_path(const std::string& device);

// Holds the lock for its lifetime. The system releases the lock if the process is killed.
class DeviceLock {
 public:
  // Waits for the lock. Calls `waiting` once if another process holds it.
  DeviceLock(const std::filesystem::path& path, const std::function<void()>& waiting);
  ~DeviceLock();
  DeviceLock(DeviceLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  DeviceLock& operator=(DeviceLock&&) = delete;

 private:
  int file_ = -1;
};

} // namespace kg::perf
