// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/exit_codes.h"

#ifndef UNHANG_BUILD_TYPE
#define UNHANG_BUILD_TYPE "unknown"
#endif

namespace unhang::cli {
namespace {

#if defined(__clang__)
constexpr std::string_view kCompiler = "clang " __clang_version__;
#else
constexpr std::string_view kCompiler = "gcc " __VERSION__;
#endif

#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "x86_64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "aarch64";
#else
constexpr std::string_view kArchitecture = "other";
#endif

// What programs may rely on in our output.
constexpr std::string_view kSchemas[] = {
    "unhang.bundle/1",    "unhang.collectives/1",   "unhang.doctor/1",    "unhang.env_check/1",
    "unhang.env_plan/1",  "unhang.log_warnings/1",  "unhang.logs_init/1", "unhang.nic_counters/1",
    "unhang.probe/1",     "unhang.process_state/1", "unhang.ranks/1",     "unhang.ras/1",
    "unhang.ras_event/1", "unhang.slow/1",          "unhang.sockets/1",   "unhang.stacks/1",
    "unhang.system/1",    "unhang.verdict/1",       "unhang.watch/1"};

std::string_view trimmed(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

class VersionCommand final : public CommandBase {
 public:
  Command describe() override {
    return {.name = "version",
            .group = "This program",
            .summary = "print the version, how it was built and its output schemas",
            .flags = {{.name = "--json", .help = "as JSON", .target = &x_json}},
            .examples = {{"unhang version", "What to put into a bug report."},
                         {"unhang version --json", "For scripts that need a certain schema."}}};
  }

  int run(const std::vector<std::string>&, Streams& streams) override {
    streams.out.write(x_json ? json() : text());
    return kExitOk;
  }

 private:
  static std::string text() {
    std::string out = fmt::format("unhang {}\nbuild     {}, {}, {}\n", UNHANG_VERSION, UNHANG_BUILD_TYPE,
                                  trimmed(kCompiler), kArchitecture);
    for (const std::string_view schema : kSchemas) out += fmt::format("schema    {}\n", schema);
    return out;
  }

  static std::string json() {
    // Known words only: nothing needs escaping.
    return fmt::format(
        "{{\n"
        "  \"name\": \"unhang\",\n"
        "  \"version\": \"{}\",\n"
        "  \"build_type\": \"{}\",\n"
        "  \"compiler\": \"{}\",\n"
        "  \"architecture\": \"{}\",\n"
        "  \"schemas\": [\"{}\"]\n"
        "}}\n",
        UNHANG_VERSION, UNHANG_BUILD_TYPE, trimmed(kCompiler), kArchitecture, fmt::join(kSchemas, "\", \""));
  }

  bool x_json = false;
};

}  // namespace

std::unique_ptr<CommandBase> make_version_command() {
  return std::make_unique<VersionCommand>();
}

}  // namespace unhang::cli
