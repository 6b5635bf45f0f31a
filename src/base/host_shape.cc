// SPDX-License-Identifier: Apache-2.0
#include "base/host_shape.h"

#include <algorithm>
#include <array>

#include "base/ascii_class.h"

namespace unhang::base {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return equals_any_case(text, word); });
}

// Words of logs and of verdicts. A host of such a name cannot be told from the word.
constexpr std::array<std::string_view, 105> kWords{
    "name",   "names",    "x86_64",    "amd64",   "aarch64",   "arm64",   "rank",   "ranks",    "node",
    "nodes",  "worker",   "workers",   "master",  "server",    "client",  "none",   "null",     "unknown",
    "host",   "hosts",    "hostname",  "local",   "localhost", "kernel",  "error",  "warn",     "warning",
    "info",   "debug",    "trace",     "gpu",     "gpus",      "cpu",     "nic",    "nccl",     "rccl",
    "gloo",   "mpi",      "ucc",       "cuda",    "rocm",      "hip",     "nvidia", "amd",      "mellanox",
    "torch",  "pytorch",  "python",    "python3", "ray",       "vllm",    "sglang", "tensorrt", "slurm",
    "srun",   "torchrun", "container", "docker",  "pod",       "process", "group",  "default",  "main",
    "root",   "user",     "home",      "tmp",     "dev",       "log",     "logs",   "input",    "output",
    "stderr", "stdout",   "file",      "line",    "time",      "the",     "and",    "not",      "for",
    "with",   "from",     "peer",      "remote",  "address",   "port",    "socket", "network",  "net",
    "test",   "train",    "training",  "model",   "data",      "tcp",     "ip",     "true",     "false",
    "yes",    "no",       "job",       "task",    "system",    "systemd"};

// Followed by a number, these are parts of every machine or of every job.
constexpr std::array<std::string_view, 57> kDevices{
    "mlx4_",   "mlx5_",  "bnxt_re", "hfi1_", "efa_",    "irdma",      "rocep",  "ibp",   "ibs",   "rdma",
    "erdma_",  "eth",    "ens",     "eno",   "enp",     "bond",       "ib",     "lo",    "br",    "veth",
    "wlan",    "docker", "tun",     "tap",   "vlan",    "nvme",       "nvidia", "cuda",  "sda",   "sdb",
    "renderd", "card",   "ttys",    "rank",  "default", "local_rank", "core",   "cpu",   "numa",  "tp",
    "dp",      "pp",     "ep",      "sp",    "cp",      "step",       "epoch",  "layer", "stage", "python",
    "sm_",     "sm",     "cu",      "cuda_", "hip",     "roce",       "xid"};

}  // namespace

bool is_name_character(char c) {
  return is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
}

bool is_device_name(std::string_view name) {
  if (name.starts_with("GPU") || name.starts_with("NIC") || name.starts_with("CPU")) {
    return name.size() > 3 && std::all_of(name.begin() + 3, name.end(), is_digit);
  }
  // nvme0n1, enp5s0f1, ibp152s0, rocep1s0: letters, numbers, letters, numbers …
  std::size_t letters = 0;
  while (letters < name.size() && !is_digit(name[letters])) ++letters;
  for (const std::string_view device : kDevices) {
    if (name.size() == letters || !equals_any_case(name.substr(0, letters), device)) continue;
    const std::string_view rest = name.substr(letters);
    constexpr std::string_view kParts = "0123456789npsfdv_";
    if (rest.find_first_not_of(kParts) == std::string_view::npos && rest.size() <= 12) return true;
  }
  // Of PCI addresses: "mlx5_bond_0", "mlx5_ib1".
  return name.size() <= 16 && (name.starts_with("mlx5_") || name.starts_with("mlx4_"));
}

bool can_name_host(std::string_view name) {
  if (name.size() < 2 || name.size() > 255 || is_one_of(name, kWords) || is_device_name(name)) return false;
  if (!std::all_of(name.begin(), name.end(), is_name_character)) return false;
  if (name.starts_with("localhost.") || name.starts_with("ip6-") || name.starts_with("torch.")) return false;
  // "192.168.xxx.xxx" is no name.
  const std::string_view first = name.substr(0, name.find('.'));
  return std::any_of(first.begin(), first.end(), is_letter);
}

bool can_number_hosts(std::string_view prefix) {
  if (std::count_if(prefix.begin(), prefix.end(), is_letter) < 2) return false;
  return !is_device_name(std::string(prefix) + "0");
}

bool is_public_site(std::string_view name) {
  constexpr std::array<std::string_view, 17> kSites{"github.com",      "githubusercontent.com",
                                                    "pytorch.org",     "huggingface.co",
                                                    "hf.co",           "nvidia.com",
                                                    "python.org",      "arxiv.org",
                                                    "wandb.ai",        "google.com",
                                                    "aka.ms",          "kernel.org",
                                                    "pydantic.dev",    "readthedocs.io",
                                                    "readthedocs.org", "stackoverflow.com",
                                                    "perfetto.dev"};
  constexpr std::array<std::string_view, 3> kDocs{"docs.vllm.ai", "docs.sglang.ai", "docs.ray.io"};
  return is_one_of(name, kDocs) || std::any_of(kSites.begin(), kSites.end(), [&](std::string_view site) {
           if (name.size() < site.size() || !equals_any_case(name.substr(name.size() - site.size()), site))
             return false;
           return name.size() == site.size() || name[name.size() - site.size() - 1] == '.';
         });
}

bool is_shared_domain(std::string_view domain) {
  constexpr std::array<std::string_view, 6> kDomains{"cluster.local", "svc.cluster.local",
                                                     "ec2.internal",  "compute.internal",
                                                     "localdomain",   "localhost.localdomain"};
  return is_one_of(domain, kDomains) || (domain.ends_with(".compute.internal") && domain.size() < 40);
}

bool is_shared_account(std::string_view user) {
  constexpr std::array<std::string_view, 14> kAccounts{"root",   "ubuntu",   "user",   "users", "git",
                                                       "runner", "ec2-user", "jovyan", "admin", "linux",
                                                       "debian", "centos",   "nobody", "slurm"};
  return is_one_of(user, kAccounts);
}

}  // namespace unhang::base
