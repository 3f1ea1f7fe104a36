# 运行方式: python swapped_calls.py

import os
import threading
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world_size, port):
    timeout = timedelta(seconds=20)  # 最多等别的进程 20 秒
    store = dist.TCPStore("127.0.0.1", port, timeout=timeout, use_libuv=False)
    dist.init_process_group(
        backend="gloo", rank=rank, world_size=world_size, timeout=timeout, store=store
    )

    a, b = torch.full((2,), 1.0), torch.full((2,), 10.0)
    first, second = (a, b) if rank == 0 else (b, a)
    dist.all_reduce(first)  # rank 0 的 a 和别人的 b 配成了一对
    dist.all_reduce(second)
    print(f"[rank {rank}] a = {a.tolist()}，b = {b.tolist()}")

    dist.destroy_process_group()


def run(rank, *args):
    try:
        worker(rank, *args)
    except Exception:
        traceback.print_exc()  # 先说出自己的错：别的 rank 只会说对方断开了
        raise


# 被 torchrun 启动时有好几份在跑，只让 rank 0 那一份往下走
if __name__ == "__main__" and os.environ.get("RANK", "0") == "0":
    world_size = 2
    # 端口写 0，由系统挑一个空闲端口；Windows 版 torch 没有 libuv，所以关掉
    store = dist.TCPStore("127.0.0.1", 0, is_master=True,
                          wait_for_workers=False, use_libuv=False)
    # 万一有 rank 卡住不动，120 秒后强行结束所有 rank
    timer = threading.Timer(120, lambda: [p.kill() for p in mp.active_children()])
    timer.daemon = True
    timer.start()
    ranks = mp.spawn(run, args=(world_size, store.port), nprocs=world_size, join=False)
    while not ranks.join(grace_period=2):  # 一个 rank 出了错，其余的最多再留 4 秒
        pass
