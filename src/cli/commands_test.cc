// SPDX-License-Identifier: Apache-2.0
//
// What every command must keep, so that help, man pages and completion come out right.
#include "cli/commands.h"

#include <set>

#include <gtest/gtest.h>

#include "cli/flag_value.h"
#include "cli/frame_flags.h"
#include "cli/help.h"
#include "report/text_layout.h"

namespace unhang::cli {
namespace {

class Commands : public ::testing::Test {
 protected:
  CommandList x_list = make_commands();
  std::vector<Command> x_commands = describe_all(x_list);
};

TEST_F(Commands, NamesAreUniqueAndGroupsStandTogether) {
  std::set<std::string> names, groups;
  std::string last_group;
  for (const Command& command : x_commands) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    if (command.group != last_group) {
      EXPECT_TRUE(groups.insert(command.group).second) << command.group;
    }
    last_group = command.group;
  }
  EXPECT_TRUE(names.contains("version"));
}

TEST_F(Commands, EachIsDescribed) {
  for (const Command& command : x_commands) {
    SCOPED_TRACE(command.name);
    EXPECT_FALSE(command.group.empty());
    EXPECT_FALSE(command.summary.empty());
    EXPECT_LE(report::columns(command.summary), 60);
    EXPECT_NE(command.summary.back(), '.');
    EXPECT_FALSE(command.examples.empty());
    EXPECT_EQ(command.positional.placeholder.empty(), command.positional.help.empty());
    for (const Example& example : command.examples) {
      EXPECT_NE(example.command.find("unhang " + command.name), std::string::npos) << example.command;
      EXPECT_LE(report::columns(example.command), 76) << example.command;
      EXPECT_EQ(example.text.back(), '.') << example.text;
    }
  }
}

TEST_F(Commands, FlagsAreWellFormed) {
  for (const Command& command : x_commands) {
    FrameOptions options;
    std::set<std::string> names;
    for (const Flag& flag : command_flags(command, options)) {
      SCOPED_TRACE(command.name + " " + flag.name);
      EXPECT_EQ(flag.name.substr(0, 2), "--");
      EXPECT_GT(flag.name.size(), 3u);
      EXPECT_TRUE(names.insert(flag.name).second);
      if (!flag.short_name.empty()) {
        EXPECT_EQ(flag.short_name.size(), 2u);
        EXPECT_TRUE(names.insert(flag.short_name).second);
      }
      EXPECT_FALSE(flag.help.empty());
      EXPECT_NE(flag.help.back(), '.');
      // A switch is a bool or a counter; everything else needs a placeholder.
      const bool is_switch = std::holds_alternative<bool*>(flag.target);
      const bool is_counter = std::holds_alternative<int*>(flag.target);
      EXPECT_TRUE(takes_value(flag) ? !is_switch : is_switch || is_counter);
    }
  }
}

TEST_F(Commands, HelpFitsEightyColumns) {
  for (const Command& command : x_commands) {
    FrameOptions options;
    const std::string help = render_help(command, command_flags(command, options), kHelpWidth);
    for (std::string_view rest = help; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      EXPECT_LE(report::columns(rest.substr(0, end)), kHelpWidth) << rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }
}

}  // namespace
}  // namespace unhang::cli
