// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/peers/exchange/models.h"

#include "perf/format/named_path.h"
#include "perf/judge/peers.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace kg::exchange {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The protocol's bound for outputs of order 1 from the same weights in two frameworks, here
// relative to the expected magnitude. A mean alone hides a wrong element among thousands.
constexpr double kMean = 1e-5, kGreatest = 10 * kMean;

std::vector<std::byte> bytes_of(const fs::path& file) {
  const std::optional<std::string> text = read_file(file);
  require(text.has_value(), file.string() + ": it is missing");
  std::vector<std::byte> bytes(text->size());
  std::memcpy(bytes.data(), text->data(), text->size());
  return bytes;
}

std::vector<float> floats_of(const std::vector<std::byte>& bytes) {
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
  return floats;
}

std::string text_of(const std::vector<float>& values) {
  return fmt::format("{:.9g}", fmt::join(values, " "));
}

perf::ExchangedTensor tensor_of(const json& input) {
  const std::string dtype = input.at("dtype"); // a file's bytes are i8
  return {input.at("name"),
          dtype == "f32"   ? Dtype::f32
          : dtype == "i32" ? Dtype::i32
                           : Dtype::i8,
          input.at("extents"), false};
}

Given given_of(const json& about, const fs::path& root) {
  Given given;
  judge::Measured& row = given.row;
  row.op = row.category = "model";
  row.dtype = about.at("dtype");
  row.key = {about.at("case"), "", judge::Mode::real};
  row.kind = judge::Kind::vendor;
  row.bytes = about.at("bytes");
  row.flops = about.at("flops");
  const fs::path folder = judge::named_path(root, "case", row.key.case_id);
  perf::Exchange& exchange = given.exchange;
  for (const json& input : about.at("inputs")) exchange.inputs.push_back(tensor_of(input));
  const std::string output = about.at("output");
  exchange.outputs = {{output, Dtype::f32, {about.at("expected").get<std::int64_t>()}, false}};
  exchange.make_inputs = [folder] {
    return [folder](std::string_view input) {
      return bytes_of(judge::named_path(folder, "input", input));
    };
  };
  exchange.verify = [folder, output](const perf::ResultBytes& results) -> std::string {
    const auto found = results.find(output);
    if (found == results.end()) return output + ": it is missing";
    const std::vector<std::byte> expected = bytes_of(folder / "expected");
    if (found->second.size() != expected.size())
      return fmt::format("{}: {} bytes in place of {}", output, found->second.size(),
                         expected.size());
    const std::string fault = distance_fault(floats_of(found->second), floats_of(expected));
    return fault.empty() ? "" : output + ": " + fault;
  };
  if (output == "losses")
    exchange.shown = [folder](const perf::ResultBytes& results) {
      std::map<std::string, std::string> tags = {
          {judge::kOurLossesTag, text_of(floats_of(bytes_of(folder / "expected")))}};
      if (const auto found = results.find("losses"); found != results.end())
        tags[judge::kLossesTag] = text_of(floats_of(found->second));
      return tags;
    };
  return given;
}

} // namespace

std::vector<Given> exported_models(const fs::path& folder) {
  const json file = json::parse(read_file(folder / "models.json").value_or("{}"));
  std::vector<Given> models;
  for (const json& each : file.at("models")) models.push_back(given_of(each, folder));
  return models;
}

std::string distance_fault(const std::vector<float>& result, const std::vector<float>& expected) {
  double sum = 0, size = 0, greatest = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double apart = std::fabs(static_cast<double>(result[i]) - expected[i]);
    if (!std::isfinite(apart))
      return fmt::format("element {} is {}, and {} must come out", i, result[i], expected[i]);
    sum += apart;
    size += std::fabs(static_cast<double>(expected[i]));
    if (apart > greatest) {
      greatest = apart;
      at = i;
    }
  }
  const double count = static_cast<double>(expected.size());
  if (sum > kMean * size)
    return fmt::format("mean absolute error {:.2g}, of values of mean size {:.2g} at most {:.2g}",
                       sum / count, size / count, kMean * size / count);
  if (greatest > kGreatest * size / count)
    return fmt::format("element {} is {}, and {} must come out: {:.2g} apart, at most {:.2g}", at,
                       result[at], expected[at], greatest, kGreatest * size / count);
  return "";
}

} // namespace kg::exchange
