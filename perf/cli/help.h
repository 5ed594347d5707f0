// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What --help shows: lines of at most 100 characters, the commands in groups, examples.
#pragma once

namespace CLI {
class App;
}

namespace kg::cli {

// Of an app with all its commands. The options that choose rows are described once, in the app's
// own help; a command's names them.
void describe(CLI::App& app);

} // namespace kg::cli
