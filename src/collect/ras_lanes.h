// SPDX-License-Identifier: Apache-2.0
//
// The connections of one poll. A lane is one IP address that is asked: its connections come one after the
// other, each decided on by what the ones before it brought. All lanes run at once.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collect/ras_client.h"
#include "collect/ras_conversation.h"
#include "net/conversations.h"

namespace unhang::collect {

class RasLanes {
 public:
  // Both must outlive this.
  RasLanes(const RasClientOptions& options, const net::Deadline& deadline);
  ~RasLanes();
  RasLanes(const RasLanes&) = delete;
  RasLanes& operator=(const RasLanes&) = delete;

  void add(RasClient::Target& target);
  void refuse(const RasClient::Target& target, std::string why);
  RasPoll run(int wake_fd);

 private:
  struct Lane;
  struct Group;  // the lanes of one target

  RasAsk ask_for(const Lane& lane) const;
  void begin_report(Lane& lane, bool verbose);
  void connect(Lane& lane);
  void on_end(Lane& lane, RasReport& report);
  void on_report(Lane& lane, RasReport& report);
  void on_failure(Lane& lane, const RasReport& report);
  RasReply reply_of(const Lane& lane) const;
  int most_attempts(const Lane& lane) const;
  bool wants_another(const Lane& lane) const;
  bool may_ask_again(const Lane& lane);
  void note(std::string text);
  void hand_over(Group& group, RasPoll& poll);

  const RasClientOptions& x_options;
  const net::Deadline& x_deadline;
  net::Deadline x_extra_deadline;  // until when more than one report is looked for
  net::Conversations x_conversations;
  std::vector<std::unique_ptr<Group>> x_groups;
  std::vector<std::string> x_notes;
  bool x_interrupted = false;
};

}  // namespace unhang::collect
