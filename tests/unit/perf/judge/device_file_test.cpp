// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/device_file.h"

#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "tests/unit/perf/judge/folder.h"

#include <gtest/gtest.h>
#include <string>

namespace kg::judge {
namespace {

using test::Folder;

const DeviceFile kDevice = {{{"gpu_name", "NVIDIA H200"}, {"driver", "580.65"}},
                            {{"memory", 51234.5}, {"launch", 2100}},
                            {{"dram_bytes_per_s", 4.1e12}},
                            {{"false_alarm_upper", 0}},
                            {"concat", "copy"}};

std::string error_of(const std::string& contents) {
  const Folder folder;
  const auto path = folder.path() / "device.json";
  write_file(path, contents);
  try {
    load_device(path);
  } catch (const Error& error) {
    const std::string message = error.what();
    return message.substr(message.find("device.json"));
  }
  return "no error";
}

TEST(DeviceFile, RoundTrip) {
  const Folder folder;
  const auto path = folder.path() / "device.json";
  EXPECT_EQ(load_device(path), std::nullopt);
  save_device(path, kDevice);
  EXPECT_EQ(load_device(path), kDevice);
}

std::string device_with(const std::string& canaries, const std::string& more = "") {
  return R"({"schema": 1, "fingerprint": {}, "canaries_ns": )" + canaries +
         R"(, "ceilings": {}, "calibration": {})" + more + "}";
}

TEST(DeviceFile, ErrorsNameFileAndPointer) {
  EXPECT_EQ(error_of(device_with("{}")), "no error");
  EXPECT_EQ(error_of(device_with("{\"memory\": 0}")),
            "device.json: /canaries_ns/memory: expected a positive number, got 0");
  EXPECT_EQ(error_of(device_with("{\"memory\": \"1\"}")),
            "device.json: /canaries_ns/memory: expected a number from -1e+18 to 1e+18, got "
            "\"1\"");
  EXPECT_EQ(error_of(device_with("{\"a/b\": 1}")),
            "device.json: /canaries_ns/a~1b is unknown; use memory, compute, sync or launch");
  EXPECT_EQ(error_of(device_with("[]")), "device.json: /canaries_ns: expected an object, {...}");
  EXPECT_EQ(error_of(device_with("{}", ", \"colour\": 1")),
            "device.json: /colour is unknown; remove it");
  EXPECT_EQ(error_of(device_with("{}", R"(, "not_blessed": {})")),
            "device.json: /not_blessed: expected an array, got {}");
  EXPECT_EQ(error_of(device_with("{}", R"(, "not_blessed": ["copy", 1])")),
            "device.json: /not_blessed/1: expected a string, got 1");
  EXPECT_EQ(error_of(device_with("{}", R"(, "not_blessed": ["copy", "copy"])")),
            "device.json: /not_blessed has \"copy\" twice; remove one of them");
  EXPECT_EQ(error_of("{\"schema\": 1}"),
            "device.json: /fingerprint is missing; add it, or write the file anew");
  EXPECT_EQ(error_of("{\"schema\": 2}"),
            "device.json: /schema is 2, but this program reads 1; write the file anew with this "
            "program, or use the program that wrote it");
  EXPECT_EQ(error_of("[]"), "device.json: the whole file: expected an object, {...}");
  EXPECT_EQ(error_of(device_with("{\"memory\": 1, \"memory\": 2}")),
            "device.json: the member \"memory\" is given twice in one object; keep the correct "
            "one");
}

TEST(DeviceFile, SyntaxErrorsNameTheLine) {
  EXPECT_EQ(error_of("{\n\"schema\": 1,\n}").substr(0, 34), "device.json:3: this is not JSON ([");
  EXPECT_NE(error_of(device_with("{\"memory\": 1e999}")), "no error");
  EXPECT_NE(error_of(""), "no error");
}

TEST(DeviceFile, AFailingWriteLeavesTheOldFile) {
  const Folder folder;
  const auto path = folder.path() / "device.json";
  std::filesystem::create_directories(path / "in_the_way");
  EXPECT_THROW(save_device(path, kDevice), Error);
  EXPECT_EQ(folder.count_files(), 0);
}

TEST(DeviceFile, SaysHowAMachineDiffers) {
  DeviceFile device;
  device.fingerprint = {{"compiler", "g++ 12"}, {"cores", "2"}, {"cpu", "EPYC"}};
  EXPECT_EQ(difference(device, {{"compiler", "g++ 12"}, {"cores", "2"}, {"cpu", "EPYC"}}), "");
  EXPECT_EQ(difference(device, {{"compiler", "g++ 12"}, {"cores", "2"}, {"cpu", "Xeon"}}),
            "cpu: 'EPYC' blessed, 'Xeon' here");
  EXPECT_EQ(difference(device, {{"compiler", "g++ 12"}}),
            "cores: '2' blessed, 'unknown' here, and 1 more");
  EXPECT_EQ(difference({}, {{"cpu", "Xeon"}}), "") << "nothing is known of the blessed one";
}

TEST(DeviceFile, CeilingsKnowTheCache) {
  DeviceFile device;
  device.ceilings = {{"dram_bytes_per_s", 4.1e12}};
  EXPECT_EQ(ceilings_of(device), device.ceilings);
  device.fingerprint["l2_bytes"] = "62914560";
  EXPECT_EQ(ceilings_of(device).at("l2_bytes"), 62914560);
  EXPECT_EQ(ceilings_of(device).at("dram_bytes_per_s"), 4.1e12);
}

} // namespace
} // namespace kg::judge
