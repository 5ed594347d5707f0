// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/peers_options.h"

#include "perf/cli/common_options.h"
#include "perf/cli/row_options.h"

#include <CLI/CLI.hpp>

namespace kg::cli {

void add_peers(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* peers =
      app.add_subcommand("peers", "benchmark the same cases in PyTorch, JAX and other frameworks");
  add_rows(*peers, words);
  add_word_list(*peers, "--peer", options.peers.names,
                "frameworks: torch, torch_compile, jax, jittor, or your own modules")
      ->required();
  peers->add_option("--python", options.peers.python,
                    "Python interpreter that has them (default: KERNELGRADE_PYTHON, else python3)");
  peers
      ->add_option("--folder", options.peers.folder,
                   "keep inputs and results in this folder, which must not exist")
      ->type_name("FOLDER");
  peers->add_flag("--alone", options.peers.alone,
                  "measure only the frameworks, without this build's kernels and libraries");
  add_measuring(*peers, words);
  peers->remove_option(peers->get_option("--in-process"));
  peers->remove_option(peers->get_option("--journal"));
  add_strict(*peers, words);
}

} // namespace kg::cli
