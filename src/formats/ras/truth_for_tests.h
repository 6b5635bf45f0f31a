// SPDX-License-Identifier: Apache-2.0
//
// What a capture of the corpus must hold, worked out from the truth beside it: the commands that the fleet of
// processes was given before it was asked.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "model/ras.h"

namespace unhang::formats::ras {

struct TrueRank {
  std::size_t process = 0;
  std::int64_t pid = -1;
  std::array<std::optional<std::uint64_t>, 5> counts{};
  int init = 0, async = 0;
  bool finalize = false, destroy = false, abort = false, gone = false;
};

struct TrueCommunicator {
  std::string name;
  std::vector<TrueRank> ranks;
};

// "0-3", "0,2,4", "*" and "all" (all `size` of them).
inline std::vector<std::size_t> numbers(const std::string& text, std::size_t size) {
  std::vector<std::size_t> out;
  if (text == "*" || text == "all") {
    for (std::size_t i = 0; i < size; ++i) out.push_back(i);
    return out;
  }
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    const std::size_t first = std::stoul(part);
    const std::size_t last = dash == std::string::npos ? first : std::stoul(part.substr(dash + 1));
    for (std::size_t i = first; i <= last; ++i) out.push_back(i);
  }
  return out;
}

class Truth {
 public:
  explicit Truth(const nlohmann::json& truth) : x_truth(truth) {
    make_communicators();
    for (const std::string command : truth["commands"]) apply(command);
    const auto scenario = truth["scenario"].get<std::string>();
    // A process that was frozen too long stays dead for the others, and they for it.
    if (scenario == "dead-then-continued-4-asked-0") x_lost = {2};
    if (scenario == "dead-then-continued-4-asked-2") x_lost = {0, 1, 3};
  }

  const std::map<std::uint64_t, TrueCommunicator>& communicators() const { return x_communicators; }
  bool lost(const TrueRank& rank) const { return x_lost.contains(rank.process); }
  bool moving() const { return x_moving; }
  bool damaged() const { return x_damaged; }
  std::size_t lost_count() const { return x_lost.size(); }

  model::RasStatus status(const TrueRank& rank) const {
    if (lost(rank)) return model::RasStatus::kUnknown;
    if (rank.gone) return model::RasStatus::kNoCommunicator;
    if (rank.abort) return model::RasStatus::kAbort;
    if (rank.finalize || rank.destroy) return model::RasStatus::kFinalize;
    return rank.init == 0 ? model::RasStatus::kRunning : model::RasStatus::kInit;
  }

 private:
  void make_communicators() {
    std::size_t gpus_per_process = 1;
    std::map<std::string, std::string> members;
    const auto& arguments = x_truth["fleet_args"];
    for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
      if (arguments[i] == "--gpus-per-proc") gpus_per_process = arguments[i + 1];
      if (arguments[i] != "--comm") continue;
      const auto text = arguments[i + 1].get<std::string>();
      const std::size_t colon = text.find(':');
      members[text.substr(0, text.find_first_of("!:"))] = text.substr(colon + 1);
    }
    for (const auto& [name, value] : x_truth["communicators"].items()) {
      TrueCommunicator out;
      out.name = name;
      const std::size_t size = value["size"];
      const std::string global =
          value["global_gpus"].is_string() ? value["global_gpus"].get<std::string>() : members.at(name);
      for (const std::size_t gpu : numbers(global, size)) {
        TrueRank rank;
        rank.process = gpu / gpus_per_process;
        rank.pid = x_truth["pids_by_process"][rank.process];
        rank.counts.fill(0);
        out.ranks.push_back(rank);
      }
      x_communicators[std::stoull(value["hash"].get<std::string>(), nullptr, 16)] = std::move(out);
    }
  }

  void apply(const std::string& command) {
    std::stringstream words(command);
    std::string verb, first, ranks, third, fourth;
    words >> verb >> first >> ranks >> third >> fourth;
    if (verb == "stop" || verb == "kill" || verb == "exit") {
      for (const std::size_t process : numbers(first, 0)) x_lost.insert(process);
    } else if (verb == "cont") {
      for (const std::size_t process : numbers(first, 0)) x_lost.erase(process);
    } else if (verb == "valid") {
      x_damaged = true;
    } else if (verb != "sleep" && verb != "pids") {
      for (auto& [hash, communicator] : x_communicators) {
        if (communicator.name != first) continue;
        for (const std::size_t rank : numbers(ranks, communicator.ranks.size())) {
          set(verb, third, fourth, communicator.ranks.at(rank));
        }
      }
    }
  }

  void set(const std::string& verb, const std::string& value, const std::string& count, TrueRank& rank) {
    static const std::vector<std::string> kNames{"Broadcast", "Reduce", "AllGather", "ReduceScatter",
                                                 "AllReduce"};
    if (verb == "count" || verb == "pace") {
      for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (kNames[i] != value) continue;
        rank.counts[i] = std::stoull(count);
        if (verb == "pace" && count != "0") rank.counts[i] = std::nullopt;
      }
      x_moving = x_moving || verb == "pace";
    }
    if (verb == "finalize") rank.finalize = value == "1";
    if (verb == "destroy") rank.destroy = value == "1";
    if (verb == "abort") rank.abort = value == "1";
    if (verb == "fini") rank.gone = value == "1";
    if (verb == "init") rank.init = std::stoi(value);
    if (verb == "async") rank.async = std::stoi(value);
  }

  const nlohmann::json& x_truth;
  std::map<std::uint64_t, TrueCommunicator> x_communicators;
  std::set<std::size_t> x_lost;
  bool x_moving = false, x_damaged = false;
};

}  // namespace unhang::formats::ras
