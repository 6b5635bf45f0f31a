// SPDX-License-Identifier: Apache-2.0
//
// What people paste beside a log to show a machine: tables of nvidia-smi, tests of peer access, lspci, and
// the reports of network adapters. One class or function a report; topology_family.cc asks them in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/log/facts.h"
#include "formats/log/line.h"

namespace unhang::formats::log {

// A report is open while its next lines belong to it; each of them bounds how many that may be.
class DeviceReport {
 public:
  DeviceReport() = default;
  DeviceReport(const DeviceReport&) = delete;
  DeviceReport& operator=(const DeviceReport&) = delete;
  virtual ~DeviceReport() = default;
  virtual bool take(const Line& line, Facts& facts) = 0;
  virtual bool open() const { return false; }
  virtual void finish(Facts& facts) { (void)facts; }
};

// `nvidia-smi topo -m` and `topo -p2p`: at most 1024 rows and columns.
class TopologyMatrix : public DeviceReport {
 public:
  bool take(const Line& line, Facts& facts) override;
  bool open() const override { return x_table.has_value() || x_legend_lines > 0; }
  void finish(Facts& facts) override { close(facts); }

 private:
  struct Table {
    model::TopologyTable read;
    bool affinity = false, numa = false;  // columns behind the devices
    bool headed = true;
    Line line;  // its views are not used
    int misses = 0;
  };
  bool take_header(std::string_view text, const Line& line, Facts& facts);
  bool take_row(std::string_view text, const Line& line);
  bool take_legend(std::string_view text, Facts& facts);
  void close(Facts& facts);
  void close_peers(Facts& facts);

  std::optional<Table> x_table;
  std::string x_property;  // of the next matrix of -p2p
  std::optional<std::size_t> x_last;
  int x_legend_lines = 0;
};

// CUDA's p2pBandwidthLatencyTest and simpleP2P.
class PeerAccessTest : public DeviceReport {
 public:
  bool take(const Line& line, Facts& facts) override;
  bool open() const override { return x_lines_left > 0; }
  void finish(Facts& facts) override { close(facts); }

 private:
  bool take_matrix(const Line& line, Facts& facts);
  void close(Facts& facts);

  int x_lines_left = 0;
  std::size_t x_columns = 0;
  model::PeerTable x_table;
};

// `nvidia-smi -q`: the fields that tell machines apart, and what is wrong with a GPU.
class GpuReport : public DeviceReport {
 public:
  bool take(const Line& line, Facts& facts) override;
  bool open() const override { return x_lines_left > 0; }
  void finish(Facts& facts) override { close(facts); }

 private:
  bool take_field(std::string_view key, std::string_view value, const Line& line, Facts& facts);
  void close(Facts& facts);
  std::string subject() const;

  int x_lines_left = 0;
  bool x_fragment = false;                                      // of a report, without its GPU
  std::vector<std::pair<std::size_t, std::string>> x_sections;  // indentation and name, outermost first
  std::optional<model::GpuTable> x_gpu;
  std::string x_driver;
  Line x_line;  // of the GPU; its views are not used
};

// `nvidia-smi --query-gpu=… --format=csv`, with and without its head.
class GpuCsv : public DeviceReport {
 public:
  bool take(const Line& line, Facts& facts) override;
  bool open() const override { return x_rows_left > 0; }

 private:
  bool take_row(const Line& line, Facts& facts);

  int x_rows_left = 0;
  std::vector<std::string> x_names;
};

// The table of plain `nvidia-smi`.
class GpuScreen : public DeviceReport {
 public:
  bool take(const Line& line, Facts& facts) override;
  bool open() const override { return x_lines_left > 0; }

 private:
  int x_lines_left = 0;
  std::string x_driver, x_index, x_name, x_address;
};

// `nvidia-smi nvlink -s`.
class NvlinkStatus : public DeviceReport {
 public:
  bool take(const Line& line, Facts& facts) override;

 private:
  std::string x_gpu;
};

// `lspci -vvv`: access control on bridges.
class AccessControl : public DeviceReport {
 public:
  bool take(const Line& line, Facts& facts) override;
  bool open() const override { return x_lines_left > 0; }

 private:
  int x_lines_left = 0;
  std::string x_bridge;
  bool x_endpoint = false;
};

// `ibv_devinfo`, `show_gids`, `ibstat`, `ibstatus`, `ibdev2netdev`, `rdma link`, `ip link`.
class AdapterReport : public DeviceReport {
 public:
  bool take(const Line& line, Facts& facts) override;
  bool open() const override { return x_gid_rows > 0 || x_port_lines > 0; }

 private:
  bool take_gid(const Line& line, Facts& facts);
  bool take_port(const Line& line, Facts& facts);

  int x_gid_rows = 0;
  int x_port_lines = 0;
  std::string x_device;
};

// `df -h /dev/shm` and `ulimit -l`.
bool take_limit(const Line& line, Facts& facts);

// Adds the table to the log, and an event where the GPU spins: 100 % utilisation at idle power.
void add_gpu(model::GpuTable gpu, const Line& line, Facts& facts);

}  // namespace unhang::formats::log
