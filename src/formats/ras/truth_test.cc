// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "formats/ras/truth_for_tests.h"

namespace unhang::formats::ras {
namespace {

// "0-3", "0,2,4", "*" and "all" (all `size` of them).
std::vector<std::size_t> numbers(const std::string& text, std::size_t size) {
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

class TruthReader {
 public:
  explicit TruthReader(const nlohmann::json& truth) : x_truth(truth) {}

  Truth read() {
    make_communicators();
    for (const std::string command : x_truth["commands"]) apply(command);
    const auto scenario = x_truth["scenario"].get<std::string>();
    // A process that was frozen too long stays dead for the others, and they for it.
    if (scenario == "dead-then-continued-4-asked-0") x_out.lost = {2};
    if (scenario == "dead-then-continued-4-asked-2") x_out.lost = {0, 1, 3};
    return std::move(x_out);
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
      x_out.communicators[std::stoull(value["hash"].get<std::string>(), nullptr, 16)] = std::move(out);
    }
  }

  void apply(const std::string& command) {
    std::stringstream words(command);
    std::string verb, first, ranks, third, fourth;
    words >> verb >> first >> ranks >> third >> fourth;
    if (verb == "stop" || verb == "kill" || verb == "exit") {
      for (const std::size_t process : numbers(first, 0)) x_out.lost.insert(process);
    } else if (verb == "cont") {
      for (const std::size_t process : numbers(first, 0)) x_out.lost.erase(process);
    } else if (verb == "valid") {
      x_out.damaged = true;
    } else if (verb != "sleep" && verb != "pids") {
      for (auto& [hash, communicator] : x_out.communicators) {
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
      x_out.moving = x_out.moving || verb == "pace";
    }
    if (verb == "finalize") rank.finalize = value == "1";
    if (verb == "destroy") rank.destroy = value == "1";
    if (verb == "abort") rank.abort = value == "1";
    if (verb == "fini") rank.gone = value == "1";
    if (verb == "init") rank.init = std::stoi(value);
    if (verb == "async") rank.async = std::stoi(value);
  }

  const nlohmann::json& x_truth;
  Truth x_out;
};

}  // namespace

model::RasStatus Truth::status(const TrueRank& rank) const {
  if (is_lost(rank)) return model::RasStatus::kUnknown;
  if (rank.gone) return model::RasStatus::kNoCommunicator;
  if (rank.abort) return model::RasStatus::kAbort;
  if (rank.finalize || rank.destroy) return model::RasStatus::kFinalize;
  return rank.init == 0 ? model::RasStatus::kRunning : model::RasStatus::kInit;
}

Truth read_truth(const std::filesystem::path& path) {
  std::ifstream in(path);
  return TruthReader(nlohmann::json::parse(in)).read();
}

}  // namespace unhang::formats::ras
