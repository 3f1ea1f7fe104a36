# 运行方式: python hang.py
# rank 1 停在读数据，rank 0 停在 all_reduce，什么也不打印。10 秒后各自说出停在哪一行。

import faulthandler
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def load_batch():
    while True:
        time.sleep(1)  # 假装在等一个读不完的文件


def train_step(rank):
    if rank == 1:
        load_batch()
    dist.all_reduce(torch.ones(2))


def worker(rank, port):
    faulthandler.dump_traceback_later(10)
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    print(f"[rank {rank}] pid {os.getpid()}", flush=True)
    train_step(rank)


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    ranks = mp.spawn(worker, args=(store.port,), nprocs=2, join=False)
    ranks.join(timeout=25)
    [process.kill() for process in ranks.processes]  # 示例总要结束
