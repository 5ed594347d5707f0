// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a program on the emulator, for the process that started it (`kernelgrade check`).
#pragma once

#include <string_view>

namespace kg {

// Appends an event to the file that KERNELGRADE_EVENTS names: its kind, a newline, its text and a
// zero byte, written at once, so that processes may share the file. False, and nothing is done,
// where the variable is not set or the file cannot be written.
bool write_event(std::string_view kind, std::string_view text);

// The kinds.
inline constexpr std::string_view kFaultEvent = "fault"; // what a kernel did wrong
inline constexpr std::string_view kRefusedEvent =
    "refused";                                         // a launch whose error nobody asked for
inline constexpr std::string_view kLeakEvent = "leak"; // memory that is never freed
inline constexpr std::string_view kLaunchesEvent = "launches"; // how many there were, at the end

} // namespace kg
