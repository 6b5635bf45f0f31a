// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/json_stream.h"
#include "report/slow_screen.h"

namespace unhang::report {
namespace {

class Writer {
 public:
  Writer(const model::Case& joined, const model::SlowReport& report, std::size_t top, ByteSink sink)
      : x_case(joined), x_report(report), x_top(top), x_out(std::move(sink)) {}

  void write() {
    x_out.raw("{\n\"schema\": \"unhang.slow/1\",\n\"tool\": {\"name\": \"unhang\", \"version\": ");
    x_out.text(UNHANG_VERSION).raw("},\n\"outcome\": ").text(model::name_of(x_report.outcome));
    list("findings", x_report.findings, false, [&](const auto& one) { add(one); });
    list("ranks", x_report.ranks, true, [&](const auto& one) { add(one); });
    list("transfers", x_report.transfers, true, [&](const auto& one) { add(one); });
    list("steps", x_report.steps, true, [&](const auto& one) { add(one); });
    list("pairs", x_report.pairs, false, [&](const auto& one) { add(one); });
    list("engines", x_report.engines, true, [&](const auto& one) { add(one); });
    x_out.raw(",\n\"time_limit\": ");
    add_time_limit();
    x_out.raw(",\n\"not_judged\": ");
    texts(x_report.not_judged);
    x_out.raw("\n}\n");
    x_out.flush();
  }

 private:
  template <class Items, class Add>
  void list(std::string_view key, const Items& items, bool limited, Add&& add_one) {
    x_out.raw(",\n\"").raw(key).raw("\": [");
    const std::size_t count = limited && x_top != 0 ? std::min(items.size(), x_top) : items.size();
    for (std::size_t i = 0; i < count; ++i) {
      x_out.raw(i == 0 ? "\n  {" : ",\n  {");
      add_one(items[i]);
      x_out.raw("}");
    }
    x_out.raw(count == 0 ? "]" : "\n]");
  }

  void texts(const std::vector<std::string>& all) {
    x_out.raw("[");
    for (std::size_t i = 0; i < all.size(); ++i) x_out.raw(i > 0 ? ", " : "").text(all[i]);
    x_out.raw("]");
  }

  void ranks(const std::vector<model::RankIndex>& all) {
    x_out.raw("[");
    for (std::size_t i = 0; i < all.size(); ++i)
      x_out.raw(i > 0 ? ", " : "").number(x_case.ranks[all[i]].global_rank);
    x_out.raw("]");
  }

  JsonStream& real(double value) {
    return x_out.raw(std::isfinite(value) ? fmt::format("{:.6g}", value) : "null");
  }

  void add(const model::SlowFinding& one) {
    x_out.raw("\"kind\": ").text(model::name_of(one.kind)).raw(", \"side\": ").text(model::name_of(one.side));
    x_out.raw(", \"cause\": ").text(one.cause).raw(", \"confidence\": ").text(model::name_of(one.confidence));
    x_out.raw(", \"slow\": ").boolean(one.slow).raw(", \"persistent\": ").boolean(one.persistent);
    x_out.raw(", \"text\": ").text(one.text).raw(", \"why\": ");
    texts(one.why);
    x_out.raw(", \"culprits\": ");
    ranks(one.culprits);
    x_out.raw(", \"suspects\": ");
    ranks(one.suspects);
    x_out.raw(", \"group\": ");
    one.group ? x_out.text(x_case.group_label(*one.group)) : x_out.raw("null");
    x_out.raw(", \"since\": ").number_or_null(one.since_sequence).raw(", \"record\": ");
    if (one.at) {
      x_out.raw("{\"rank\": ").number(x_case.ranks[one.at->rank].global_rank).raw(", \"record_id\": ");
      x_out.number(x_case.ranks[one.at->rank].operations[one.at->operation].record_id).raw("}");
    } else {
      x_out.raw("null");
    }
  }

  void add(const model::LateRank& one) {
    const model::Rank& rank = x_case.ranks[one.rank];
    x_out.raw("\"rank\": ").number(rank.global_rank).raw(", \"host\": ").text_or_null(rank.host);
    x_out.raw(", \"group\": ").text(x_case.group_label(one.group));
    x_out.raw(", \"collectives\": ").number(static_cast<std::int64_t>(one.rows));
    x_out.raw(", \"last\": ").number(static_cast<std::int64_t>(one.last));
    x_out.raw(", \"median_lag_ns\": ").number(one.median_lag_ns).raw(", \"share_lost\": ");
    real(one.share_lost);
    x_out.raw(", \"basis\": ").text(one.by_durations ? "durations" : "calls");
  }

  void add(const model::SlowSeries& one) {
    x_out.raw("\"count\": ").number(static_cast<std::int64_t>(one.count));
    x_out.raw(", \"median_ns\": ").number(one.median_ns).raw(", \"p99_ns\": ").number(one.p99_ns);
    x_out.raw(", \"longest_ns\": ").number(one.longest_ns);
    x_out.raw(", \"tail\": ").number(static_cast<std::int64_t>(one.tail)).raw(", \"tail_share\": ");
    real(one.tail_share).raw(", \"change\": ");
    if (one.change) {
      x_out.raw("{\"at\": ").number(static_cast<std::int64_t>(one.change->at));
      x_out.raw(", \"since\": ").number(one.change->sequence).raw(", \"ratio\": ");
      real(one.change->ratio).raw(", \"persistent\": ").boolean(one.change->persistent).raw("}");
    } else {
      x_out.raw("null");
    }
    x_out.raw(", \"blocks_ns\": [");
    for (std::size_t i = 0; i < one.blocks.size(); ++i) x_out.raw(i > 0 ? ", " : "").number(one.blocks[i]);
    x_out.raw("]");
  }

  void add(const model::SlowTransfers& one) {
    x_out.raw("\"group\": ").text(x_case.group_label(one.group)).raw(", \"operation\": ").text(one.operation);
    x_out.raw(", \"op_kind\": ").text(model::op_kind_name(one.kind));
    x_out.raw(", \"bytes\": ").number_or_null(one.bytes).raw(", \"share_lost\": ");
    real(one.share_lost).raw(", ");
    add(one.time);
  }

  void add(const model::SlowSteps& one) {
    x_out.raw("\"group\": ")
        .text(x_case.group_label(one.group))
        .raw(", \"calls\": ")
        .number(one.length)
        .raw(", ");
    add(one.time);
  }

  void add(const model::SlowPair& one) {
    x_out.raw("\"source\": ").number(x_case.ranks[one.source].global_rank);
    x_out.raw(", \"destination\": ").number(x_case.ranks[one.destination].global_rank);
    x_out.raw(", \"count\": ").number(static_cast<std::int64_t>(one.count));
    x_out.raw(", \"median_ns\": ").number(one.median_ns).raw(", \"ratio\": ");
    real(one.ratio).raw(", \"robust_z\": ");
    real(one.robust_z).raw(", \"across_hosts\": ").boolean(one.across_hosts);
    x_out.raw(", \"hot\": ").boolean(one.hot);
  }

  void add(const model::SlowRate& one) {
    x_out.raw("\"engine\": ").text(one.engine);
    x_out.raw(", \"readings\": ").number(static_cast<std::int64_t>(one.readings)).raw(", \"tokens_per_s\": ");
    real(one.tokens_per_s).raw(", \"ratio\": ");
    one.ratio ? real(*one.ratio) : x_out.raw("null");
    x_out.raw(", \"blocks\": [");
    for (std::size_t i = 0; i < one.blocks.size(); ++i) {
      if (i > 0) x_out.raw(", ");
      real(one.blocks[i]);
    }
    x_out.raw("]");
  }

  void add_time_limit() {
    if (!x_report.time_limit) {
      x_out.raw("null");
      return;
    }
    const model::TimeLimit& limit = *x_report.time_limit;
    x_out.raw("{\"group\": ")
        .text(x_case.group_label(limit.group))
        .raw(", \"limit_ns\": ")
        .number(limit.limit_ns);
    x_out.raw(", \"advised_ns\": ").number(limit.advised_ns);
    x_out.raw(", \"operations\": ").number(static_cast<std::int64_t>(limit.count));
    x_out.raw(", \"p999_ns\": ")
        .number(limit.p999_ns)
        .raw(", \"longest_ns\": ")
        .number(limit.longest_ns)
        .raw("}");
  }

  const model::Case& x_case;
  const model::SlowReport& x_report;
  std::size_t x_top;
  JsonStream x_out;
};

}  // namespace

void slow_json(const model::Case& joined, const model::SlowReport& report, std::size_t top,
               const std::function<void(std::string_view)>& sink) {
  Writer(joined, report, top, sink).write();
}

}  // namespace unhang::report
