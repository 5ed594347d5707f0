// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/try_options.h"

#include "perf/cli/row_options.h"

#include <CLI/CLI.hpp>

namespace kg::cli {

void add_try(CLI::App& app, Words& words) {
  Options& options = words.options;
  CLI::App* attempt = app.add_subcommand(
      "try", "test your own kernel with an operation's full test suite, and show its costs");
  attempt->add_option("op", options.attempt.op, "the operation")->required();
  attempt->add_option("source", options.attempt.candidate,
                      "the CUDA source (.cu), or a kernel's PTX (.ptx)");
  attempt->add_flag("--signature", options.attempt.signature,
                    "print the C functions that it must define, as a source file that compiles");
  add_word_list(*attempt, "--dtype", options.attempt.dtypes, "test only these data types");
  add_word_list(*attempt, "--shape", options.attempt.shapes,
                "also test these shapes, such as rows2_cols1234, and show their costs");
  add_word_list(*attempt, "--without", options.attempt.without,
                "leave out these conformance tests, such as InPlace");
  attempt->add_flag("--huge", options.attempt.huge,
                    "also test a batch of more than 2^32 elements, of which a part is computed");
  attempt
      ->add_option("--max-cost", options.attempt.max_cost,
                   "fail if a counted cost exceeds N times its theoretical minimum")
      ->check(CLI::Range(1.0, 1e9));
  attempt
      ->add_option("--arch", options.arch,
                   "GPU architecture whose registers and spills are shown; needs nvcc")
      ->type_name("ARCH")
      ->capture_default_str();
  attempt
      ->add_option("--compile", options.attempt.compile_options,
                   "an option for the compiler, such as -DX=1")
      ->allow_extra_args(false);
  attempt->add_option("--entry", options.attempt.launch.entry,
                      "PTX: the kernel, if the file has several");
  attempt->add_option("--function", options.attempt.launch.function,
                      "PTX: the function that the kernel implements, such as softmax_f32");
  attempt->add_option("--grid", options.attempt.launch.grid,
                      "PTX: number of blocks, such as 'rows' or '(cols + 127) / 128, rows'");
  attempt->add_option("--block", options.attempt.launch.block, "PTX: threads of a block");
  attempt->add_option("--shared", options.attempt.launch.shared_bytes,
                      "PTX: bytes of dynamic shared memory");
  attempt->add_option("--arguments", options.attempt.launch.arguments,
                      "PTX: arguments of the kernel, such as 'x, y, cols'");
  attempt->add_option("--json", options.json, "write the verdict to this file")->type_name("FILE");
  attempt->add_option("--html", options.attempt.html, "write the verdict to this file as a page")
      ->type_name("FILE");
}

} // namespace kg::cli
