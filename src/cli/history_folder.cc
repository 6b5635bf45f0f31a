// SPDX-License-Identifier: Apache-2.0
#include "cli/history_folder.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "formats/verdict_document/verdict_document.h"
#include "os/evidence_reader.h"
#include "os/expand_paths.h"

namespace unhang::cli {
namespace {

constexpr std::size_t kMostFiles = 10'000;
constexpr std::uint64_t kMostBytes = 1ull << 30;
constexpr std::size_t kMostNamed = 3;

// What is large and no verdict is not brought into memory.
class Discard final : public os::BlobStream {
 public:
  Discard(std::string path, HistoryFolder& history) : x_path(std::move(path)), x_history(history) {}
  void feed(std::string_view) override {}
  void finish() override {
    x_history.skipped.push_back(x_path + ": it is no verdict that unhang wrote as JSON");
  }

 private:
  std::string x_path;
  HistoryFolder& x_history;
};

}  // namespace

base::Result<HistoryFolder> read_history(const std::string& folder) {
  auto expanded = os::expand_paths({folder});
  if (!expanded) return base::fail(std::move(expanded.error()).with("--history"));
  HistoryFolder out;
  for (const os::PathNote& note : expanded->notes) out.skipped.push_back(note.path + ": " + note.text);
  std::vector<std::string>& files = expanded->files;
  if (files.size() > kMostFiles) {
    out.skipped.push_back(std::to_string(files.size() - kMostFiles) +
                          " files whose names come first: more than 10,000 are not read");
    files.erase(files.begin(), files.end() - kMostFiles);
  }
  std::string scratch;
  std::uint64_t bytes_read = 0;
  for (const std::string& file : files) {
    if (bytes_read > kMostBytes) {
      out.skipped.push_back(file + " and those after it: more than 1 GiB is not read");
      break;
    }
    const os::ReadHooks hooks{
        .ask_for_stream = [&](const std::string& path,
                              std::string_view first) -> std::unique_ptr<os::BlobStream> {
          if (formats::verdict_document::sniff(first)) return nullptr;
          return std::make_unique<Discard>(path, out);
        }};
    const auto verdicts_before = static_cast<std::ptrdiff_t>(out.verdicts.size()),
               skipped_before = static_cast<std::ptrdiff_t>(out.skipped.size());
    os::read_evidence(
        file, {}, scratch,
        [&](const std::string& path, std::string_view bytes) {
          bytes_read += bytes.size();
          auto verdict = formats::verdict_document::read_verdict(path, bytes);
          if (verdict) {
            out.verdicts.push_back(std::move(*verdict));
          } else {
            out.skipped.push_back(path + ": " + verdict.error().message);
          }
        },
        [&](os::ReadTrouble trouble) { out.skipped.push_back(trouble.path + ": " + trouble.text); }, hooks);
    // How an archive was packed tells nothing.
    std::stable_sort(out.verdicts.begin() + verdicts_before, out.verdicts.end(),
                     [](const auto& a, const auto& b) { return a.file < b.file; });
    std::stable_sort(out.skipped.begin() + skipped_before, out.skipped.end());
  }
  return out;
}

std::string skipped_words(const HistoryFolder& history) {
  if (history.skipped.empty()) return {};
  std::string out = "--history: not compared with ";
  for (std::size_t i = 0; i < std::min(history.skipped.size(), kMostNamed); ++i)
    out += (i == 0 ? "" : "; ") + history.skipped[i];
  if (history.skipped.size() > kMostNamed)
    out += "; and " + std::to_string(history.skipped.size() - kMostNamed) + " more";
  return out;
}

}  // namespace unhang::cli
