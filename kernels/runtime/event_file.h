// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Events that a program on the emulator reports to its parent process (`kernelgrade check`).
#pragma once

#include <string_view>
#include <vector>

namespace kg {

// Appends an event to the file that KERNELGRADE_EVENTS names: kind, newline, text, zero byte. A
// single write, so processes can share the file. Returns false and does nothing if the variable is
// not set or the file cannot be written.
bool write_event(std::string_view kind, std::string_view text);

// The same for notes, which only a summary shows. Without KERNELGRADE_EVENTS, notes go to the file
// that KERNELGRADE_NOTES names, and the program prints its findings itself.
bool write_note(std::string_view kind, std::string_view text);
bool wants_notes(); // whether there is a file for notes

struct ProgramEvent {
  std::string_view kind, text;
};
// Parses a file's contents, which must outlive the result. Throws Error if it is not an event file.
std::vector<ProgramEvent> events_in(std::string_view file);

// The kinds.
inline constexpr std::string_view kFaultEvent = "fault";     // a kernel's fault
inline constexpr std::string_view kRefusedEvent = "refused"; // a launch whose error went unchecked
inline constexpr std::string_view kLeakEvent = "leak";       // memory that is never freed
inline constexpr std::string_view kUnreadEvent = "unread";   // memory that is never read
inline constexpr std::string_view kLaunchesEvent = "launches"; // number of launches, at exit
// With KERNELGRADE_UNDEFINED_FILL (host/check/undefined_fill.h): a load of never-written memory,
// and at exit a hash of what left the device.
inline constexpr std::string_view kUndefinedEvent = "undefined", kResultsEvent = "results";

// The kinds of notes.
inline constexpr std::string_view kKernelEvent = "kernel"; // key, name, file and line, a line each
inline constexpr std::string_view kBegunEvent = "begun";   // the key of a launched kernel
inline constexpr std::string_view kInexactEvent = "inexact"; // a name, host/fidelity.h
inline constexpr std::string_view kLinesEvent = "lines"; // lines "1 17 k.cu": reached, line, file
inline constexpr std::string_view kPrintedEvent = "printed"; // a fault that the program printed
constexpr bool is_note(std::string_view kind) {
  return kind == kKernelEvent || kind == kBegunEvent || kind == kInexactEvent ||
         kind == kLinesEvent || kind == kPrintedEvent;
}

} // namespace kg
