// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a program on the emulator, for the process that started it (`kernelgrade check`).
#pragma once

#include <string_view>
#include <vector>

namespace kg {

// Appends an event to the file that KERNELGRADE_EVENTS names: its kind, a newline, its text and a
// zero byte, written at once, so that processes may share the file. False, and nothing is done,
// where the variable is not set or the file cannot be written.
bool write_event(std::string_view kind, std::string_view text);

// The same for what only a summary shows. It goes to the file that KERNELGRADE_NOTES names where
// there is no KERNELGRADE_EVENTS: findings are then the program's own to print.
bool write_note(std::string_view kind, std::string_view text);
bool wants_notes(); // whether there is such a file

struct ProgramEvent {
  std::string_view kind, text;
};
// Of a file's contents, which must outlive them. Throws Error where it is no file of events.
std::vector<ProgramEvent> events_in(std::string_view file);

// The kinds.
inline constexpr std::string_view kFaultEvent = "fault"; // what a kernel did wrong
inline constexpr std::string_view kRefusedEvent =
    "refused";                                         // a launch whose error nobody asked for
inline constexpr std::string_view kLeakEvent = "leak"; // memory that is never freed
inline constexpr std::string_view kLaunchesEvent = "launches"; // how many there were, at the end

// Those of notes.
inline constexpr std::string_view kKernelEvent = "kernel"; // key, name, file and line, a line each
inline constexpr std::string_view kBegunEvent = "begun";   // the key of a kernel that was launched
inline constexpr std::string_view kInexactEvent = "inexact"; // of host/fidelity.h, its name
inline constexpr std::string_view kLinesEvent = "lines"; // "1 17 k.cu" each: reached, line, file
inline constexpr std::string_view kPrintedEvent = "printed"; // a fault, which the program printed
constexpr bool is_note(std::string_view kind) {
  return kind == kKernelEvent || kind == kBegunEvent || kind == kInexactEvent ||
         kind == kLinesEvent || kind == kPrintedEvent;
}

} // namespace kg
