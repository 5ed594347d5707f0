// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a measurement was made on and with: without it a number cannot be compared with another.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace kg::perf {

using Environment = std::map<std::string, std::string>;

// Everything that is known: device, system, compiler, libraries, and the source (see source_id).
// Asks the device, so there must be one.
Environment environment(const std::string& source);

// The part that says whether two machines are of one kind, for device.json.
Environment fingerprint(const Environment& environment);

// "2026-11-21T08:00:00Z"
std::string utc_now();

// The commit of the git work tree at `folder`, with "-dirty" where tracked files other than
// baselines/ differ from it; "unknown" where there is no git or no work tree.
std::string source_id(const std::filesystem::path& folder);

// Whether a source so called has uncommitted changes.
bool is_dirty(const std::string& source);

// Before anything is measured or counted to be blessed. Throws Error where the source is dirty.
void require_clean(const std::string& source);

} // namespace kg::perf
