// SPDX-License-Identifier: Apache-2.0
//
// For tests only: plays NCCL's RAS service over a socket, with reports made to order.
#pragma once

#include <algorithm>
#include <cctype>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "net/scripted_server_for_tests.h"

namespace unhang::collect {

// What the service was asked, over all connections.
class AskedLines {
 public:
  void add(std::string line) {
    const std::lock_guard<std::mutex> lock(x_mutex);
    x_lines.push_back(std::move(line));
  }
  std::vector<std::string> all() const {
    const std::lock_guard<std::mutex> lock(x_mutex);
    return x_lines;
  }
  int count(const std::string& line) const {
    const auto lines = all();
    return static_cast<int>(std::count(lines.begin(), lines.end(), line));
  }

 private:
  mutable std::mutex x_mutex;
  std::vector<std::string> x_lines;
};

struct PlayedRas {
  std::string text = {};
  std::string verbose_text = {};
  std::string json = {};  // none: a release before 2.28.7
  std::shared_ptr<AskedLines> asked = std::make_shared<AskedLines>();
  std::function<void(net::ServerTalk&, const std::string&)> report =
      [](net::ServerTalk& talk, const std::string& bytes) { talk.send(bytes); };
};

// One connection, as NCCL 2.24 to 2.30 has it.
inline net::ScriptedServer::Script play(PlayedRas ras) {
  return [ras = std::move(ras)](net::ServerTalk& talk) {
    bool as_json = false;
    while (const auto line = talk.read_line()) {
      ras.asked->add(*line);
      if (line->rfind("CLIENT PROTOCOL ", 0) == 0) {
        talk.send("SERVER PROTOCOL 2\n");
      } else if (line->rfind("TIMEOUT ", 0) == 0) {
        talk.send("OK\n");
      } else if (*line == "SET FORMAT json" && !ras.json.empty()) {
        as_json = true;
        talk.send("OK\n");
      } else if (*line == "STATUS" || *line == "VERBOSE STATUS") {
        ras.report(talk, as_json ? ras.json : *line == "STATUS" ? ras.text : ras.verbose_text);
        return;
      } else {
        talk.send("ERROR: Unknown command " + *line + "\n");
      }
    }
  };
}

// A report of NCCL 2.24 to 2.28.3 on one node; everything is well.
inline std::string text_report(const std::string& release, int processes) {
  return "NCCL version " + release +
         " compiled with CUDA 12.8\nCUDA runtime version 12080, driver version 12080\n\nJob "
         "summary\n===========\n\n"
         "  Nodes  Processes         GPUs  Processes     GPUs\n"
         "(total)   per node  per process    (total)  (total)\n"
         "      1          " +
         std::to_string(processes) + "            1          " + std::to_string(processes) + "        " +
         std::to_string(processes) +
         "\n\nCommunicators... (0.00s)\n=============\n\n"
         "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
         "    #  in group  per comm  per node  per comm  in group\n"
         "    0         1         1         " +
         std::to_string(processes) + "         " + std::to_string(processes) + "         " +
         std::to_string(processes) + "   RUNNING  OK\n\nErrors\n======\n\nWarnings\n========\n\n";
}

// A report of NCCL 2.28.7 and later: one communicator, a rank for each process.
inline std::string json_report(const std::string& release, const std::string& hash,
                               const std::vector<std::int64_t>& pids) {
  const std::string size = std::to_string(pids.size());
  std::string ranks;
  for (std::size_t i = 0; i < pids.size(); ++i) {
    ranks +=
        std::string(i == 0 ? "" : ",\n") + "        { \"rank\": " + std::to_string(i) +
        ", \"host\": \"10.0.0.1\", \"pid\": " + std::to_string(pids[i]) +
        ", \"cuda_dev\": " + std::to_string(i) + ", \"nvml_dev\": " + std::to_string(i) +
        ",\n          \"status\": { \"init_state\": 0, \"async_error\": 0, \"finalize_called\": false, "
        "\"destroy_flag\": false, \"abort_flag\": false },\n          \"collective_counts\": { "
        "\"Broadcast\": 0, \"Reduce\": 0, \"AllGather\": 0, \"ReduceScatter\": 0, \"AllReduce\": 100 } }";
  }
  return "{\n  \"nccl_version\": \"" + release +
         "\",\n  \"cuda_runtime_version\": 12080,\n  \"cuda_driver_version\": 12080,\n"
         "  \"timestamp\": \"2026-11-29 15:01:29\",\n  \"communicators_count\": 1,\n  \"communicators\": [\n"
         "    {\n      \"hash\": \"" +
         hash + "\",\n      \"secondary_hash\": \"0x1:0x2\",\n      \"size\": " + size +
         ",\n      \"ranks_count\": " + size + ",\n      \"missing_ranks_count\": 0,\n      \"ranks\": [\n" +
         ranks +
         "\n      ],\n      \"missing_ranks\": [\n\n      ]\n    }\n  ],\n"
         "  \"ras\": { \"collection_time_sec\": 0.001, \"timeouts_count\": 0 }\n}\n";
}

}  // namespace unhang::collect
