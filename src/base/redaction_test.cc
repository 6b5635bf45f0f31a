// SPDX-License-Identifier: Apache-2.0
#include "base/redaction.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace unhang::base {
namespace {

struct Case {
  std::string_view line, expected;
};

void expect(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(redact_line(c.line), c.expected);
    EXPECT_EQ(redact_line(c.expected), c.expected);
    EXPECT_TRUE(may_hold_secret(c.line)) << c.line;
  }
}

void expect_stays(std::initializer_list<std::string_view> lines) {
  for (const std::string_view line : lines) EXPECT_EQ(redact_line(line), line);
}

// None of these tokens was ever issued. They are put together here so that no scanner takes them for real.
const std::string kHf = std::string("hf") + "_abcdefghijABCDEFGHIJabcdefghij0123";
const std::string kSk = std::string("sk") + "-proj-abcdefghij0123456789";
const std::string kGh = std::string("gh") + "p_abcdefghijABCDEFGHIJabcdefghij012345";
const std::string kAws = std::string("AK") + "IAIOSFODNN7EXAMPLE";
const std::string kSlack = std::string("xo") + "xb-123456789012-abcdef";
const std::string kJwt = std::string("ey") + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def_ghi";

TEST(Redaction, TokensByTheirShape) {
  for (const std::string& token :
       {kHf, kSk, kGh, kAws, kSlack, kJwt, std::string("github") + "_pat_11ABCDEFG0abcdefghijkl_mnop"}) {
    for (const auto& [before, behind] :
         std::array<std::array<std::string, 2>, 5>{{{"", ""},
                                                    {"login with ", " failed"},
                                                    {"['", "']"},
                                                    {"https://", "@github.com/a"},
                                                    {"x=", ","}}}) {
      const std::string cleaned = redact_line(before + token + behind);
      EXPECT_EQ(cleaned, before + "(removed)" + behind);
      EXPECT_EQ(redact_line(cleaned), cleaned);
    }
  }
  expect({{"curl -H 'X: Bearer abc123def456' x", "curl -H 'X: Bearer (removed)' x"}});
  expect_stays({"task-123456789012345678901", "risk-12345678901234567890", "the bearer authentication",
                "hf_transfer is enabled", "sk-learn-without-numbers-here", "ASIA region", "eyJa.b",
                "a_ghp_abcdefghijABCDEFGHIJabcdefghij"});
}

TEST(Redaction, ValuesBehindNames) {
  expect({
      {"export HF_TOKEN=abc def", "export HF_TOKEN=(removed) def"},
      {"WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567", "WANDB_API_KEY=(removed)"},
      {"AWS_SECRET_ACCESS_KEY: wJalr/XUtn+FEMI", "AWS_SECRET_ACCESS_KEY: (removed)"},
      {"node1:1:1 [0] NCCL INFO NCCL_X_TOKEN set by environment to a b c.",
       "node1:1:1 [0] NCCL INFO NCCL_X_TOKEN set by environment to (removed)."},
      {"DB_PASSWD set to abc", "DB_PASSWD set to (removed)"},
      {R"~({"password": "a\"b", "user": "x"})~", R"~({"password": "(removed)", "user": "x"})~"},
      {R"~("{\"api_key\": \"abc\", \"n\": 1}")~", R"~("{\"api_key\": \"(removed)\", \"n\": 1}")~"},
      {"Namespace(api_key=['a', 'b'], port=8000)", "Namespace(api_key=(removed), port=8000)"},
      {"{'hf_token': 'abc', 'n': 1}", "{'hf_token': '(removed)', 'n': 1}"},
      {"{'api_key': ['a'], 'n': 1}", "{'api_key': '(removed)', 'n': 1}"},
      {R"~("credentials": {"user": "u", "x": ["}"]}, "n": 1)~", R"~("credentials": "(removed)", "n": 1)~"},
      {"serve --api-key abc --port 80", "serve --api-key (removed) --port 80"},
      {"['serve', '--api-key', 'abc', '80']", "['serve', '--api-key', '(removed)', '80']"},
      {"accessToken=abc)", "accessToken=(removed))"},
      {"password = 'hunter2", "password = '(removed)"},
      {"PASSWORD=(removed)x", "PASSWORD=(removed)"},
      {"Authorization: Basic dXNlcjpwdw==", "Authorization: Basic (removed)"},
      {"\"authorization\": \"Basic dXNl\"", "\"authorization\": \"(removed)\""},
  });
  expect_stays({"token=None, password='', api_key=null", "time per output token: 12.3 ms", "eos_token=2",
                "pad_token: '<|endoftext|>'", "max_tokens=4096", "Token::next", "if token == x",
                "PASSWORD=", "PASSWORD=***", "password: str, token: Optional[str]", "authorization: denied",
                "NCCL_IB_PKEY set by environment to 3.", "key=value", "PASSWORD=(removed),", "--token --x"});
}

TEST(Redaction, ArgumentsOfPrograms) {
  expect({
      {"curl -u alice:hush https://h/x", "curl -u alice:(removed) https://h/x"},
      {"+ /usr/bin/curl -s --user 'alice:hu sh' h", "+ /usr/bin/curl -s --user 'alice:(removed)' h"},
      {"curl --proxy-user=a:hush -u\tb:hush h", "curl --proxy-user=a:(removed) -u\tb:(removed) h"},
      {"curl -ualice:hush h", "curl -ualice:(removed) h"},
      {"['curl', '-u', 'alice:hush', 'h']", "['curl', '-u', 'alice:(removed)', 'h']"},
      {"docker login -u alice -p hush reg.example", "docker login -u alice -p (removed) reg.example"},
      {"podman login -p \"hush\" r; ls", "podman login -p \"(removed)\" r; ls"},
      {"sshpass -p hush ssh -p 22 n2", "sshpass -p (removed) ssh -p 22 n2"},
      {"sshpass -phush ssh n2", "sshpass -p(removed) ssh n2"},
  });
  expect_stays({"sort -u file:name", "mkdir -p dir", "curl h | sort -u a:b", "curl -u alice h",
                "docker run -p 80:8080 -u 1000:1000 x", "docker login r; mkdir -p x", "ssh -p 22 n2",
                "login failed for -p", "curl -u alice:(removed) h", "date -u +%H:%M"});
}

TEST(Redaction, FlagsWithMoreThanOneBlank) {
  expect({{"serve --api-key  abc --port 80", "serve --api-key  (removed) --port 80"},
          {"serve --hf-token\tabc", "serve --hf-token\t(removed)"},
          {"serve --password \t 'a b'", "serve --password \t '(removed)'"}});
  expect_stays({"--token  --x", "--api-key  ", "--token\t", "max tokens  12"});
}

TEST(Redaction, Authorizations) {
  expect({{"Authorization: token abc123", "Authorization: token (removed)"},
          {"authorization: basic dXNlcjpwdw==", "authorization: basic (removed)"},
          {"Proxy-Authorization:Basic  dXNl", "Proxy-Authorization:Basic  (removed)"},
          {"curl -H 'Authorization: token abc123' h", "curl -H 'Authorization: token (removed)' h"},
          {"AUTHORIZATION: BASIC dXNl", "AUTHORIZATION: BASIC (removed)"},
          {"('Authorization', 'Basic dXNl')", "('Authorization', '(removed)')"},
          {"Authorization: Token abc", "Authorization: Token (removed)"}});
  expect_stays({"authorization: failed", "authorization: token expired.", "authorization: basic auth is off",
                "Authorization: token 401 (removed)", "('authorization', 'denied')", "authorization: token"});
}

TEST(Redaction, PasswordsInAddressesWithoutAScheme) {
  expect({{"NCCL_RAS_ADDR=u:hush@h", "NCCL_RAS_ADDR=u:(removed)@h"},
          {"NCCL_RAS_ADDR set by environment to u:hush@h:1",
           "NCCL_RAS_ADDR set by environment to u:(removed)@h:1"},
          {"http_proxy='u:hu@sh@proxy:3128'", "http_proxy='u:(removed)@proxy:3128'"},
          {"endpoint: u:hush@h", "endpoint: u:(removed)@h"}});
  expect_stays({"NCCL_RAS_ADDR=localhost:28028", "MASTER_ADDR=u@h", "addr=10.0.0.1<45678>",
                "url=http://h:80/a@b", "NCCL_RAS_ADDR=[::1]:28028", "addr: 12:30 @ n2", "a:b@c",
                "NCCL_RAS_ADDR=u:(removed)@h"});
}

TEST(Redaction, PasswordsInAddresses) {
  expect({{"redis://user:pa/ss@h:6379/0", "redis://user:(removed)@h:6379/0"},
          {"http://u:p@w@proxy:3128 (x)", "http://u:(removed)@proxy:3128 (x)"},
          {"redis://:pw@h", "redis://:(removed)@h"}});
  expect_stays({"tcp://10.0.0.1:29500", "http://h:8000/a@b", "tcp://[::1]:80", "http://user@h/a:b@c",
                "tcp://10.0.0.1:29500?x=a@b", "http://h/a:b@c"});
}

TEST(Redaction, PromptsWithTheirLength) {
  expect({
      {"Received request cmpl-1: prompt: 'Hi, it\\'s \xc3\xa9', params: SamplingParams(n=1), "
       "prompt_token_ids: [1, 2], lora_request: None.",
       "Received request cmpl-1: prompt: (removed, 11 characters), params: SamplingParams(n=1), "
       "prompt_token_ids: (removed, 6 characters), lora_request: None."},
      {"x(prompt=\"a 'b' c\", n=1)", "x(prompt=(removed, 7 characters), n=1)"},
      {R"~({"prompt": "abc", "n": 1})~", R"~({"prompt": "(removed, 3 characters)", "n": 1})~"},
      {R"~({"messages": [{"role": "user", "content": "]}"}], "n": 1})~",
       R"~({"messages": "(removed, 35 characters)", "n": 1})~"},
      {"GenerateReqInput(text='abc', input_ids=[1], n=1)",
       "GenerateReqInput(text=(removed, 3 characters), input_ids=(removed, 3 characters), n=1)"},
      {"Prompt: 'a', Generated text: ' b'",
       "Prompt: (removed, 1 characters), Generated text: (removed, 2 characters)"},
      {"prompt='cut off in the mid", "prompt=(removed, 18 characters)"},
      {"prompt='(removed, x characters) abc'", "prompt=(removed, 27 characters)"},
  });
  expect_stays({"prompt: None, n: 1", "Avg prompt throughput: 10.0 tokens/s", "context='a'",
                "{\"text\": \"NCCL WARN\"}", "prompt: 12 tokens", "messages: 3", "prompt=''", "messages=[]"});
}

TEST(Redaction, OrdinaryLinesStay) {
  std::size_t lines = 0;
  const std::filesystem::path corpus = UNHANG_SOURCE_DIR "/tests/corpus/logs";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
    if (!entry.is_regular_file() || entry.path().extension() == ".json") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    for (std::string line; std::getline(in, line); ++lines) EXPECT_EQ(redact_line(line), line);
  }
  EXPECT_GT(lines, 1000u);
}

// Pieces that mean something to it, in any order.
TEST(Redaction, TwiceIsOnce) {
  const std::array<std::string, 52> pieces{"TOKEN",
                                           "=",
                                           ":",
                                           " ",
                                           "\"",
                                           "'",
                                           "\\",
                                           "[",
                                           "]",
                                           "{",
                                           "}",
                                           "prompt",
                                           "text",
                                           "messages",
                                           "abc",
                                           "1",
                                           kHf,
                                           kSk,
                                           kJwt,
                                           "://",
                                           "@",
                                           "/",
                                           "Bearer ",
                                           "bearer ",
                                           " set to ",
                                           " set by environment to ",
                                           "--",
                                           "api-key",
                                           ",",
                                           "(removed)",
                                           ")",
                                           "(removed, 3 characters)",
                                           "Authorization",
                                           "Basic ",
                                           "<",
                                           ">",
                                           "password",
                                           ".",
                                           "*",
                                           "None",
                                           "_ids",
                                           "credentials",
                                           kAws,
                                           "curl -u ",
                                           "docker login -p ",
                                           "sshpass -p ",
                                           "addr",
                                           "a:b",
                                           "token ",
                                           "\t",
                                           ";",
                                           "\xc3\xa9"};
  std::uint64_t state = 1;
  std::size_t changed = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string line;
    for (int j = 0; j < 12; ++j) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      line += pieces[(state >> 33) % pieces.size()];
    }
    const std::string once = redact_line(line);
    ASSERT_EQ(redact_line(once), once) << line;
    if (once == line) continue;
    ++changed;
    ASSERT_TRUE(may_hold_secret(line)) << line;
  }
  EXPECT_GT(changed, 10000u);
}

// Quadratic time would take longer than a test may.
TEST(Redaction, LongHostileLinesAreGoneThroughOnce) {
  for (const std::string_view piece : {"token=<",
                                       "eyJ-",
                                       "sk-",
                                       "xoxb-",
                                       "://a:",
                                       "prompt='",
                                       "prompt=[",
                                       "token=\"<",
                                       "token=\\\"<",
                                       "TOKEN set to <",
                                       "--token ",
                                       "bearer ",
                                       "token: ",
                                       "password=[{\"",
                                       "AKIA",
                                       "hf_",
                                       "token=1,",
                                       "'--token', ",
                                       "curl -u ",
                                       "-u a:b",
                                       "docker login -p ",
                                       "--token \t ",
                                       "addr=a:",
                                       "'-u',"}) {
    std::string line;
    while (line.size() < 2'000'000) line += piece;
    line += '>';
    EXPECT_LE(redact_line(line).size(), line.size() * 3) << piece;
  }
}

// The first and the last byte of a line count, and a trigger of one byte has no second.
TEST(Redaction, ATriggerIsSeenAtEachPlace) {
  for (const std::string word : {"token", "TOKEN", "api-key", "://", "@", "eyJ", "curl"}) {
    for (const std::string& line : {word, "a " + word, word + " b", "a " + word + " b"})
      EXPECT_TRUE(may_hold_secret(line)) << line;
  }
  for (const std::string line : {"", "t", "tok en", ":/", "to", "AllReduce: opCount 28c sendbuff"})
    EXPECT_FALSE(may_hold_secret(line)) << line;
}

TEST(Redaction, NamesThatSoundSecret) {
  for (const char* name : {"HF_TOKEN", "my_Password", "X_SECRET_NAME", "OPENAI_API_KEY", "credentials"})
    EXPECT_TRUE(sounds_secret(name)) << name;
  for (const char* name : {"NCCL_IB_PKEY", "NCCL_DEBUG", "PATH", ""})
    EXPECT_FALSE(sounds_secret(name)) << name;
}

}  // namespace
}  // namespace unhang::base
