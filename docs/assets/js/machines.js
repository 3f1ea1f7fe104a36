/**
 * Machines to choose from: the time of a round without its bytes, and the bytes per second of a
 * port, each with where the numbers are from. The list is JSON, because the pages read it as well;
 * see race_macros.py.
 *
 * @typedef {object} MachineClass
 * @property {string} slug
 * @property {string} title
 * @property {number} microseconds  α
 * @property {number} gigabytes  per second and direction, 1/β
 * @property {string} about  what is meant, and what the numbers are
 * @property {{text: string, url: string}[]} sources
 */

/** @type {MachineClass[]} */
export const MACHINES = [
  {
    "slug": "ledger",
    "title": "好心算的整数",
    "microseconds": 5,
    "gigabytes": 50,
    "about": "播放器下面的用时按它算。方便心算，不代表哪一种硬件。",
    "sources": []
  },
  {
    "slug": "nvlink",
    "title": "NVLink 类",
    "microseconds": 3.4,
    "gigabytes": 370.8,
    "about": "H100，NVLink 4，每个方向 18 条链路。α 是 NCCL 调优模型里环形 Simple 协议在 NVLink 上走一步的时间；带宽是 NCCL 给每条链路的 20.6 GB/s 乘 18，铭牌值是 450 GB/s。",
    "sources": [
      {
        "text": "NCCL 2.30 src/graph/tuning.cc（hwLatencies）",
        "url": "https://github.com/NVIDIA/nccl/blob/master/src/graph/tuning.cc"
      },
      {
        "text": "NCCL 2.30 src/graph/topo.h（SM90_NVLINK_BW）",
        "url": "https://github.com/NVIDIA/nccl/blob/master/src/graph/topo.h"
      },
      {
        "text": "NVIDIA/nccl #1264，H100 实测单向约 380 GB/s",
        "url": "https://github.com/NVIDIA/nccl/issues/1264"
      }
    ]
  },
  {
    "slug": "pcie",
    "title": "PCIe 类",
    "microseconds": 5.7,
    "gigabytes": 54.3,
    "about": "PCIe 5.0 x16，GPU 之间直接读写。α 是 NCCL 调优模型里环形 Simple 协议在 PCIe 上走一步的时间；带宽是 GPU 之间的实测值，理论值是 63 GB/s。",
    "sources": [
      {
        "text": "NCCL 2.30 src/graph/tuning.cc（hwLatencies）",
        "url": "https://github.com/NVIDIA/nccl/blob/master/src/graph/tuning.cc"
      },
      {
        "text": "p2pmark，PCIe 5.0 x16 实测",
        "url": "https://github.com/lukealonso/p2pmark"
      }
    ]
  },
  {
    "slug": "infiniband",
    "title": "InfiniBand 类",
    "microseconds": 14,
    "gigabytes": 50,
    "about": "每张 GPU 一个 NDR 端口。α 是 NCCL 调优模型里环形 Simple 协议跨机走一步的时间；带宽是 400 Gb/s 的线速，实测会略低。",
    "sources": [
      {
        "text": "NCCL 2.30 src/graph/tuning.cc（hwLatencies）",
        "url": "https://github.com/NVIDIA/nccl/blob/master/src/graph/tuning.cc"
      },
      {
        "text": "NVIDIA 400 Gb/s 光模块规格，用于 ConnectX-7 与 Quantum-2",
        "url": "https://docs.nvidia.com/networking/display/mms4x00ns400/overview"
      }
    ]
  },
  {
    "slug": "ethernet",
    "title": "以太网类",
    "microseconds": 54.4,
    "gigabytes": 3.125,
    "about": "25 Gb/s 网卡，Linux 内核里的 TCP。α 取高负载下短消息往返 108.8 µs（中位数）的一半，机器空闲时约 10 µs；带宽是线速。",
    "sources": [
      {
        "text": "PlatformLab/HomaModule perf.txt，2021 年 1 月，xl170 集群上的 TCP",
        "url": "https://github.com/PlatformLab/HomaModule/blob/master/perf.txt"
      }
    ]
  }
];
