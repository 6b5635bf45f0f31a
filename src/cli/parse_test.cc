// SPDX-License-Identifier: Apache-2.0
#include "cli/parse.h"

#include <gtest/gtest.h>

namespace unhang::cli {
namespace {

using Words = std::vector<std::string>;

// One flag of each kind.
struct Values {
  bool json = false;
  int verbose = 0;
  int threads = 4;
  std::string output;
  std::string mode = "fast";
  Words labels;
  std::optional<int> world_size;
  std::optional<std::string> group;
  std::chrono::nanoseconds deadline{0};

  std::vector<Flag> flags() {
    return {{.name = "--json", .target = &json},
            {.name = "--verbose", .short_name = "-v", .target = &verbose},
            {.name = "--threads",
             .short_name = "-j",
             .value = "N",
             .target = &threads,
             .minimum = 1,
             .maximum = 64},
            {.name = "--output", .short_name = "-o", .value = "FILE", .target = &output, .is_path = true},
            {.name = "--mode", .value = "MODE", .target = &mode, .choices = {"fast", "thorough"}},
            {.name = "--label", .value = "K=V", .target = &labels},
            {.name = "--world-size", .value = "N", .target = &world_size, .minimum = 1},
            {.name = "--group", .value = "NAME", .target = &group},
            {.name = "--deadline", .value = "TIME", .target = &deadline}};
  }
};

struct Outcome {
  Values values;
  Words positionals;
  std::string error;
  bool help = false;
};

Outcome parse(const Words& words) {
  Outcome outcome;
  auto parsed = parse_arguments(outcome.values.flags(), words);
  if (parsed) {
    outcome.positionals = parsed->positionals;
    outcome.help = parsed->help;
  } else {
    EXPECT_EQ(parsed.error().code, base::ErrorCode::kUsage);
    outcome.error = parsed.error().message;
  }
  return outcome;
}

TEST(Parse, NothingGivenKeepsTheDefaults) {
  const Outcome o = parse({});
  EXPECT_EQ(o.error, "");
  EXPECT_EQ(o.values.threads, 4);
  EXPECT_EQ(o.values.mode, "fast");
  EXPECT_FALSE(o.values.json);
  EXPECT_EQ(o.values.world_size, std::nullopt);
  EXPECT_TRUE(o.positionals.empty());
}

TEST(Parse, EachKindOfFlag) {
  const Outcome o = parse({"--json", "--threads", "8", "-o", "x.html", "--mode=thorough", "--label", "a=b",
                           "--label=c=d=e", "--world-size", "16", "--group=tp", "--deadline", "1m30s"});
  EXPECT_EQ(o.error, "");
  EXPECT_TRUE(o.values.json);
  EXPECT_EQ(o.values.threads, 8);
  EXPECT_EQ(o.values.output, "x.html");
  EXPECT_EQ(o.values.mode, "thorough");
  EXPECT_EQ(o.values.labels, (Words{"a=b", "c=d=e"}));
  EXPECT_EQ(o.values.world_size, 16);
  EXPECT_EQ(o.values.group, "tp");
  EXPECT_EQ(o.values.deadline, std::chrono::seconds(90));
}

TEST(Parse, ShortFlagsJoinAndCount) {
  const Outcome o = parse({"-vv", "-j8", "-v", "-ofile"});
  EXPECT_EQ(o.error, "");
  EXPECT_EQ(o.values.verbose, 3);
  EXPECT_EQ(o.values.threads, 8);
  EXPECT_EQ(o.values.output, "file");
}

TEST(Parse, FlagsMayFollowPositionals) {
  const Outcome o = parse({"node1", "--json", "node2", "-j", "2", "-"});
  EXPECT_EQ(o.error, "");
  EXPECT_EQ(o.positionals, (Words{"node1", "node2", "-"}));
  EXPECT_TRUE(o.values.json);
  EXPECT_EQ(o.values.threads, 2);
}

TEST(Parse, TheMarkEndsFlags) {
  const Outcome o = parse({"--json", "a", "--", "--verbose", "--help", "--", "-x"});
  EXPECT_EQ(o.error, "");
  EXPECT_EQ(o.positionals, (Words{"a", "--verbose", "--help", "--", "-x"}));
  EXPECT_EQ(o.values.verbose, 0);
}

TEST(Parse, OddPositionalsArriveUnchanged) {
  const Words odd = {"[a,b]", "{}", "", "%%", "a=b", "/x:y", "++", "ümlaut", "a\nb", "version"};
  EXPECT_EQ(parse(odd).positionals, odd);
}

TEST(Parse, OddValuesArriveUnchanged) {
  for (const std::string value : {"[a,b]", "{}", "%%", "-", "a=b", "--", "-5", "a b"}) {
    EXPECT_EQ(parse({"--output", value}).values.output, value);
    EXPECT_EQ(parse({"--label=" + value}).values.labels, Words{value});
  }
  EXPECT_EQ(parse({"--group", ""}).values.group, "");
}

TEST(Parse, TheLastOneCounts) {
  EXPECT_EQ(parse({"-j", "2", "-j", "3"}).values.threads, 3);
  EXPECT_TRUE(parse({"--json", "--json"}).values.json);
}

TEST(Parse, HelpWinsOverEverythingElse) {
  EXPECT_TRUE(parse({"--nonsense", "--help"}).help);
  EXPECT_TRUE(parse({"a", "-h", "-j", "x"}).help);
  EXPECT_FALSE(parse({"--", "--help"}).help);
}

TEST(Parse, MistakesAreNamed) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"--jsn"}, "there is no flag '--jsn'; did you mean '--json'?"},
      {{"--world_size=4"}, "there is no flag '--world_size'; did you mean '--world-size'?"},
      {{"--frobnicate"}, "there is no flag '--frobnicate'"},
      {{"--js\x1b[1mon"}, "there is no flag '--js\\x1b[1mon'"},
      {{"-x"}, "there is no flag '-x' (for a file of that name write ./-x)"},
      {{"-vx"}, "there is no flag '-x' (for a file of that name write ./-x)"},
      {{"-5"}, "there is no flag '-5' (for a file of that name write ./-5)"},
      {{"---"}, "there is no flag '---'"},
      {{"--threads"}, "flag --threads needs a value: N"},
      {{"-j"}, "flag --threads needs a value: N"},
      {{"--threads="}, "flag --threads needs a value: N"},
      {{"--mode"}, "flag --mode needs a value: fast, thorough"},
      {{"-o", "--json"}, "flag --output needs a value: FILE, and --json follows it"},
      {{"--json=1"}, "flag --json takes no value"},
      {{"-j", "four"}, "flag --threads: 'four' is not a whole number"},
      {{"-j", "4x"}, "flag --threads: '4x' is not a whole number"},
      {{"-j", "4.0"}, "flag --threads: '4.0' is not a whole number"},
      {{"-j", "0"}, "flag --threads: 0 is out of range; it must be from 1 to 64"},
      {{"-j", "99999999999999999999"},
       "flag --threads: 99999999999999999999 is out of range; it must be from 1 to 64"},
      {{"--mode", "fats"}, "flag --mode: 'fats' is not one of its values; did you mean 'fast'?"},
      {{"--mode", "x"}, "flag --mode: 'x' is not one of fast, thorough"},
      {{"--deadline", "25"}, "flag --deadline: '25' is not a duration: add a unit, as in 25s or 25m"},
  };
  for (const auto& [words, message] : cases) EXPECT_EQ(parse(words).error, message);
}

TEST(Parse, TheNumberOfPositionals) {
  const Positional none;
  const Positional one = {.placeholder = "CODE", .minimum = 1, .maximum = 1};
  const Positional any = {.placeholder = "PATH…"};
  EXPECT_TRUE(check_positionals(none, {}));
  EXPECT_TRUE(check_positionals(one, {"a"}));
  EXPECT_TRUE(check_positionals(any, {}));
  EXPECT_TRUE(check_positionals(any, Words(1000, "a")));
  EXPECT_EQ(check_positionals(none, {"a"}).error().message, "there is no place for the argument 'a'");
  EXPECT_EQ(check_positionals(one, {"a", "b"}).error().message, "there is no place for the argument 'b'");
  EXPECT_EQ(check_positionals(one, {}).error().message, "CODE is missing");
}

TEST(Parse, PositionalsWithAChoice) {
  Positional shell = {.placeholder = "SHELL", .choices = {"bash", "zsh"}};
  EXPECT_TRUE(check_positionals(shell, {"zsh", "bash"}));
  EXPECT_EQ(check_positionals(shell, {"bsh"}).error().message,
            "'bsh' is not one of bash, zsh; did you mean 'bash'?");
  EXPECT_EQ(check_positionals(shell, {"x"}).error().message, "'x' is not one of bash, zsh");
  shell.other_allowed = true;
  EXPECT_TRUE(check_positionals(shell, {"x"}));
}

}  // namespace
}  // namespace unhang::cli
