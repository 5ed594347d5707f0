// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The environment of a measurement: device, system and software. Times from different environments
// cannot be compared.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace kg::perf {

using Environment = std::map<std::string, std::string>;

// All that is known: device, system, compiler, libraries, and the source (source_id). Requires a
// device.
Environment environment(const std::string& source);

// The entries that identify the kind of machine, for device.json.
Environment fingerprint(const Environment& environment);

// "2026-11-21T08:00:00Z"
std::string utc_now();

// The commit of the git work tree at `folder`. "-dirty" is appended if tracked files outside
// baselines/ have uncommitted changes. "unknown" without git or a work tree.
std::string source_id(const std::filesystem::path& folder);

// Whether this result of source_id() has uncommitted changes.
bool is_dirty(const std::string& source);

// Throws Error if the source is dirty. Called before measuring or counting for a new baseline.
void require_clean(const std::string& source);

} // namespace kg::perf
