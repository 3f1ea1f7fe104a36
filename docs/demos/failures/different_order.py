# 运行方式: python different_order.py
# 两个 rank 的调用次序相反。DETAIL 在通信之前先比一比，说出谁在调什么。

import faulthandler
import os

os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"  # 要写在 import torch 之前

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def tell(rank, call):
    try:
        call()
    except Exception as error:
        print(f"[rank {rank}] {type(error).__name__}: {error}")


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    calls = [lambda: dist.all_reduce(torch.ones(2)), lambda: dist.broadcast(torch.ones(2), src=0)]
    if rank == 1:
        calls.reverse()
    tell(rank, lambda: [call() for call in calls])


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
