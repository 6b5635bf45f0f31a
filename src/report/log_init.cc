// SPDX-License-Identifier: Apache-2.0
#include "report/log_init.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/rank_set.h"
#include "report/json_stream.h"
#include "report/log_times.h"
#include "report/text_layout.h"

namespace unhang::report {
namespace {

using model::CommunicatorPhase;
using model::CommunicatorSet;
using model::LogCommunicator;

// Where a member stands, in the words of the table.
std::string phase_words(const LogCommunicator& c) {
  if (c.phase == CommunicatorPhase::kStarted) return "start";
  return std::string(model::name_of(c.phase));
}

std::string seconds_words(double seconds) {
  return seconds < 10 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

std::string rank_words(const CommunicatorSet& set) {
  return (set.missing_count == 1 ? "rank " : "ranks ") + model::missing_text(set);
}

// "start: 0-2,4; complete: 5": members by where they stand.
std::string phases_words(const CommunicatorSet& set, const model::Log& log, int width) {
  std::map<CommunicatorPhase, std::vector<std::int32_t>> by_phase;
  std::map<CommunicatorPhase, std::string> names;
  for (const std::uint32_t member : set.members) {
    const LogCommunicator& c = log.communicators[member];
    by_phase[c.phase].push_back(c.rank);
    names[c.phase] = phase_words(c);
  }
  std::string text;
  for (const auto& [phase, ranks] : by_phase) {
    if (!text.empty()) text += "; ";
    text += names[phase];
    if (by_phase.size() > 1 && ranks.front() >= 0) text += ": " + fold_within(ranks, width / 2);
  }
  return text;
}

std::string network_words(const CommunicatorSet& set, const model::Log& log) {
  std::set<std::string> names;
  for (const std::uint32_t member : set.members) {
    if (const std::string& network = log.communicators[member].network; !network.empty())
      names.insert(one_line(network));
  }
  return join_within({names.begin(), names.end()}, ", ", 40);
}

std::string channels_words(const CommunicatorSet& set, const model::Log& log) {
  std::uint32_t least = UINT32_MAX, most = 0;
  for (const std::uint32_t member : set.members) {
    least = std::min(least, log.communicators[member].channels);
    most = std::max(most, log.communicators[member].channels);
  }
  if (most == 0) return "";
  const std::string lines = most == 1 ? " channel line" : " channel lines";
  return (least == most ? std::to_string(most) : fmt::format("{}-{}", least, most)) + lines + " a rank";
}

void add_paragraph(std::string& out, const std::string& text, int width) {
  for (const std::string& line : wrap(text, width - 2)) out += "  " + line + "\n";
}

}  // namespace

std::string communicator_sentence(const CommunicatorSet& set, const model::Log& log) {
  const std::size_t seen = set.members.size();
  std::string text;
  if (set.all_complete) {
    text =
        set.size == 1 ? "its only rank completed" : fmt::format("all {} ranks completed", grouped(set.size));
    if (set.seconds >= 0) text += " in " + seconds_words(set.seconds);
    return text + ": making it was not the trouble; look at what came after";
  }
  if (set.missing_count > 0) {
    if (set.missing.empty()) {
      text = counted(static_cast<std::size_t>(set.missing_count), "rank", "ranks") + " never checked in";
    } else {
      text = fmt::format("{} of {} never checked in", rank_words(set), grouped(set.size));
    }
    if (!set.missing_with_log.empty()) {
      text += fmt::format(", though {} wrote to these logs", fold_within(set.missing_with_log, 40));
    } else {
      text += " (or their logs are not among the inputs)";
    }
  } else if (set.size < 0) {
    text = "how many ranks it has is not printed";
  } else {
    text = set.size == 1 ? "its only rank checked in"
                         : fmt::format("all {} ranks checked in", grouped(set.size));
  }
  if (set.stopped.empty()) {
    if (seen > 0 && set.size > 0)
      text += fmt::format("; the {} that did completed", grouped(static_cast<std::int64_t>(seen)));
    return text;
  }
  std::vector<std::int32_t> ranks;
  for (const std::uint32_t member : set.stopped) ranks.push_back(log.communicators[member].rank);
  LogCommunicator slowest;
  slowest.phase = set.slowest;
  const bool named = ranks.front() >= 0;
  text += fmt::format("; {}{} stopped at {}", named ? (ranks.size() == 1 ? "rank " : "ranks ") : "",
                      named ? fold_within(ranks, 40) : counted(ranks.size(), "rank", "ranks"),
                      phase_words(slowest));
  if (const std::string since = log_time_text(set.stopped_since); !since.empty())
    text += ", last seen " + since;
  return text;
}

std::string render_log_init(const std::vector<CommunicatorSet>& sets, const model::Log& log, int width) {
  if (sets.empty()) return "no line of these logs tells of a communicator (NCCL_DEBUG=INFO prints them)\n";
  std::string out;
  for (const CommunicatorSet& set : sets) {
    std::string head = one_line(set.label);
    if (set.size > 0)
      head += fmt::format("  {} of {}", grouped(static_cast<std::int64_t>(set.members.size())),
                          counted(static_cast<std::size_t>(set.size), "rank", "ranks"));
    if (set.by_order) head += "  (put together by order)";
    for (const std::string& line : wrap(head, width)) out += line + "\n";
    add_paragraph(out, communicator_sentence(set, log), width);
    std::vector<std::string> facts{phases_words(set, log, width)};
    if (const std::string start = log_time_text(set.first_start); !start.empty())
      facts.push_back("start " + start);
    if (const std::string network = network_words(set, log); !network.empty())
      facts.push_back("network " + network);
    if (const std::string channels = channels_words(set, log); !channels.empty()) facts.push_back(channels);
    add_paragraph(out, join_within(facts, " · ", width * 3), width);
  }
  return out;
}

std::string log_init_json(const std::vector<CommunicatorSet>& sets, const model::Log& log) {
  std::string out;
  JsonStream json([&](std::string_view bytes) { out += bytes; });
  json.raw(R"({"schema":"unhang.logs_init/1","communicators":[)");
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const CommunicatorSet& set = sets[i];
    json.raw(i == 0 ? "{" : ",{").raw("\"label\":").text(set.label);
    json.raw(",\"id\":").text_or_null(set.id ? fmt::format("{:#x}", *set.id) : "");
    json.raw(",\"by_order\":").boolean(set.by_order);
    json.raw(",\"ranks\":")
        .number_or_null(set.size > 0 ? std::optional<std::int64_t>(set.size) : std::nullopt);
    json.raw(",\"all_complete\":").boolean(set.all_complete);
    json.raw(",\"missing_count\":").number(set.missing_count).raw(",\"missing\":[");
    for (std::size_t m = 0; m < set.missing.size(); ++m) {
      json.raw(m == 0 ? "[" : ",[")
          .number(set.missing[m].first)
          .raw(",")
          .number(set.missing[m].second)
          .raw("]");
    }
    json.raw("],\"slowest\":").text(model::name_of(set.slowest));
    json.raw(",\"first_start\":").text_or_null(log_time_text(set.first_start));
    json.raw(",\"last_complete\":").text_or_null(log_time_text(set.last_complete));
    json.raw(",\"stopped_since\":").text_or_null(log_time_text(set.stopped_since));
    json.raw(",\"seconds\":").raw(set.seconds >= 0 ? fmt::format("{:.3f}", set.seconds) : "null");
    json.raw(",\"sentence\":").text(communicator_sentence(set, log)).raw(",\"members\":[");
    for (std::size_t m = 0; m < set.members.size(); ++m) {
      const LogCommunicator& c = log.communicators[set.members[m]];
      const model::LogOrigin& origin = log.origins[c.origin];
      json.raw(m == 0 ? "{" : ",{").raw("\"rank\":");
      json.number_or_null(c.rank >= 0 ? std::optional<std::int64_t>(c.rank) : std::nullopt);
      json.raw(",\"host\":").text_or_null(origin.host).raw(",\"pid\":");
      json.number_or_null(origin.pid >= 0 ? std::optional<std::int64_t>(origin.pid) : std::nullopt);
      json.raw(",\"phase\":").text(model::name_of(c.phase)).raw(",\"completed\":").boolean(c.completed);
      json.raw(",\"last\":").text_or_null(log_time_text(c.last_at)).raw(",\"line\":");
      json.number(static_cast<std::int64_t>(c.last_line)).raw(",\"network\":").text_or_null(c.network);
      json.raw(",\"channels\":").number(c.channels).raw("}");
    }
    json.raw("]}");
  }
  json.raw("]}\n").flush();
  return out;
}

}  // namespace unhang::report
