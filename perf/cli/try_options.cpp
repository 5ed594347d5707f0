// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/try_options.h"

#include "perf/cli/row_options.h"

#include <CLI/CLI.hpp>

namespace kg::cli {

void add_try(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* attempt = app.add_subcommand(
      "try", "judge a kernel of your own by the card of an operation: right, and safe? And what "
             "does it cost?");
  attempt->add_option("op", options.attempt.op, "the operation")->required();
  attempt->add_option("source", options.attempt.candidate,
                      "the CUDA source (.cu), or a kernel's PTX (.ptx)");
  attempt->add_flag("--signature", options.attempt.signature,
                    "print the C functions that it must define, as a source that compiles");
  add_word_list(*attempt, "--dtype", options.attempt.dtypes, "judge these types alone");
  add_word_list(*attempt, "--shape", options.attempt.shapes,
                "try these shapes, too, as rows2_cols1234: right, and what they cost");
  add_word_list(*attempt, "--without", options.attempt.without,
                "tests of the contract that it does not claim to pass, as InPlace");
  attempt
      ->add_option("--max-cost", options.attempt.max_cost,
                   "fail where a counted cost is more than this many times the least")
      ->check(CLI::Range(1.0, 1e9));
  attempt->add_option("--arch", options.arch,
                      "the GPU architecture whose registers and spills are shown (nvcc)");
  attempt
      ->add_option("--compile", options.attempt.compile_options,
                   "an option of the compiler, as -DX=1")
      ->allow_extra_args(false);
  attempt->add_option("--entry", options.attempt.launch.entry,
                      "of PTX: the kernel, where the file has several");
  attempt->add_option(
      "--function", options.attempt.launch.function,
      "of PTX: the function of the operation that the kernel is for, as softmax_f32");
  attempt->add_option("--grid", options.attempt.launch.grid,
                      "of PTX: the blocks, as 'rows' or '(cols + 127) / 128, rows'");
  attempt->add_option("--block", options.attempt.launch.block, "of PTX: the threads of a block");
  attempt->add_option("--shared", options.attempt.launch.shared_bytes,
                      "of PTX: bytes of dynamic shared memory");
  attempt->add_option("--arguments", options.attempt.launch.arguments,
                      "of PTX: what each parameter of the kernel gets, as 'x, y, cols'");
  attempt->add_option("--json", options.json, "write the verdict to this file");
  attempt->add_option("--html", options.attempt.html, "write the verdict to this file as a page");
}

} // namespace kg::cli
