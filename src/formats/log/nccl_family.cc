// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include "formats/log/communicator_lives.h"
#include "formats/log/families.h"
#include "formats/log/nccl_texts.h"

namespace unhang::formats::log {
namespace {

class NcclFamily : public Family {
 public:
  NcclFamily() {
    x_keywords = {{"CCL version ", kNcclVersion}};
    for (const std::string_view arrow :
         {" -> 0", " -> 1", " -> 2", " -> 3", " -> 4", " -> 5", " -> 6", " -> 7", " -> 8", " -> 9"}) {
      x_keywords.push_back({arrow, kNcclUnwinding});
    }
    for (const std::string_view text : nccl_setup_keywords()) x_keywords.push_back({text, kNcclSetup});
    for (const std::string_view text : nccl_warning_keywords()) x_keywords.push_back({text, kNcclWarning});
    for (const OwnedKeyword& keyword : CommunicatorLives::keywords()) x_keywords.push_back(keyword);
  }

  std::span<const OwnedKeyword> keywords() const override { return x_keywords; }

  // Only for lines that have lost their prefix: those with one are handed over without a search.
  std::span<const std::string_view> triggers() const override {
    static constexpr std::array<std::string_view, 22> kTriggers{"NCCL version ",
                                                                "NCCL WARN ",
                                                                "NCCL INFO ",
                                                                "NET/IB : ",
                                                                "NET/Socket ",
                                                                "Init COMPLETE",
                                                                " set by environment to ",
                                                                "RCCL version",
                                                                "Got completion ",
                                                                "Bootstrap : no socket",
                                                                "Duplicate GPU detected",
                                                                "Multiple Ranks are using",
                                                                "socketStartConnect: ",
                                                                "socketProgress: ",
                                                                "Call to ibv_",
                                                                "Error while creating shared memory",
                                                                "failed to extend /dev/shm",
                                                                "Failed to bind NVLink SHARP",
                                                                "Mismatched NCCL version",
                                                                "has already checked in",
                                                                "async fatal event",
                                                                "Got async event"};
    return kTriggers;
  }

  bool take(const Line& line, Facts& facts) override {
    if (line.nccl == NcclLevel::kNone) return bare(line, facts);
    if (line.nccl == NcclLevel::kInfo || line.nccl == NcclLevel::kTrace) return info(line, facts);
    if (line.nccl == NcclLevel::kCall) return true;
    // Every warning is known as NCCL's, whether or not its text is.
    warning(line, facts);
    return true;
  }

  void finish(Facts& facts) override { x_lives.finish(facts); }

 private:
  static void keep_version(std::string_view text, Facts& facts) {
    const auto version = behind(text, "CCL version ");
    if (!version || !facts.log().nccl_version.empty()) return;
    std::string_view word = plain_word(*version);
    if (word == ":") word = plain_word(trimmed(version->substr(1)));
    if (!word.empty() && is_digit(word.front())) facts.log().nccl_version = std::string(word.substr(0, 48));
  }

  // A warning of unknown words is one all the same: its words are kept, and nothing is made of them.
  static bool warning(const Line& line, Facts& facts) {
    if (take_nccl_warning(line.message, line, facts) || take_nccl_setup(line.message, line, facts))
      return true;
    const std::string_view text = trimmed(line.message);
    // Said on healthy machines of one kind or another: no plugin, no verbs library, no ideal path.
    for (const std::string_view ordinary :
         {"Failed to open libibverbs", "dlvsym failed", "Could not find a path for pattern", "libnccl-net"}) {
      if (has(text, ordinary)) return true;
    }
    if (text.empty()) return true;
    model::LogEvent other;
    other.kind = model::LogEventKind::kOtherWarning;
    other.subject = std::string(line.source_file.substr(0, 64));
    other.detail = std::string(text.substr(0, 120));
    facts.add(std::move(other), line);
    return true;
  }

  bool info(const Line& line, Facts& facts) {
    // Most lines say nothing that is worth a look, and there are millions of them.
    const std::string_view text = line.message;
    if (x_lives.take(line, facts)) return true;
    if (line.may_hold(kNcclVersion) && has(text, "CCL version ")) {
      keep_version(text, facts);
      x_lives.version_printed(line, facts);
      return true;
    }
    if (line.may_hold(kNcclUnwinding) && take_unwinding(text, line, facts)) return true;
    if (line.may_hold(kNcclSetup) && take_nccl_setup(text, line, facts)) {
      if (const auto name = behind(text, "Using network "))
        x_lives.network_chosen(trimmed(*name), line, facts);
      return true;
    }
    if (line.may_hold(kNcclWarning)) take_nccl_warning(text, line, facts);
    return true;
  }

  // "NCCL version 2.20.5+cuda12.4" is printed bare; fragments have lost their prefix.
  bool bare(const Line& line, Facts& facts) {
    const std::string_view text = line.message;
    if (text.starts_with("NCCL version ") || text.starts_with("RCCL version")) {
      if (has(text, "compiled with")) return false;  // RAS
      keep_version(text, facts);
      return true;
    }
    if (take_unwinding(text, line, facts)) return true;
    if (has(text, "NCCL WARN ")) {
      Line warning = line;
      warning.message = text_behind(text, "NCCL WARN ");
      warning.nccl = NcclLevel::kWarn;
      // "transport/nvls.cc:165 NCCL WARN …": the place in the source is left of what was cut off.
      const std::string_view place = last_word(trimmed(before(text, "NCCL WARN ")));
      if (has(place, ".c") || has(place, ".h")) warning.source_file = place.substr(0, place.find(':'));
      return this->warning(warning, facts);
    }
    if (has(text, "NCCL INFO ")) {
      Line told = line;
      told.message = text_behind(text, "NCCL INFO ");
      told.nccl = NcclLevel::kInfo;
      return info(told, facts);
    }
    if (x_lives.take(line, facts) || take_nccl_setup(text, line, facts)) return true;
    return take_nccl_warning(text, line, facts);
  }

  CommunicatorLives x_lives;
  std::vector<OwnedKeyword> x_keywords;
};

}  // namespace

std::unique_ptr<Family> nccl_family() {
  return std::make_unique<NcclFamily>();
}

}  // namespace unhang::formats::log
