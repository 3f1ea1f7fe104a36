# 运行方式: python gather_cpu_demo.py

import os
import threading
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world_size, port):
    timeout = timedelta(seconds=30)  # 最多等别的进程 30 秒
    dist.init_process_group(
        backend="gloo", rank=rank, world_size=world_size, timeout=timeout,
        store=dist.TCPStore("127.0.0.1", port, timeout=timeout, use_libuv=False),
    )

    my_chunk = torch.full((2,), fill_value=float(rank))
    print(f"[rank {rank}] my_chunk = {my_chunk.tolist()}")

    gather_list = [torch.zeros(2) for _ in range(world_size)] if rank == 0 else None

    dist.gather(my_chunk, gather_list=gather_list, dst=0)

    if rank == 0:
        print(f"[rank 0] gathered: {[t.tolist() for t in gather_list]}")

    dist.destroy_process_group()


def run(rank, *args):
    try:
        worker(rank, *args)
    except Exception:
        traceback.print_exc()  # 先说出自己的错：别的 rank 只会说对方断开了
        raise


# 被 torchrun 启动时有好几份在跑，只让 rank 0 那一份往下走
if __name__ == "__main__" and os.environ.get("RANK", "0") == "0":
    world_size = 4
    # 端口写 0，由系统挑一个空闲端口；Windows 版 torch 没有 libuv，所以关掉
    store = dist.TCPStore("127.0.0.1", 0, is_master=True,
                          wait_for_workers=False, use_libuv=False)
    # 万一有 rank 卡住不动，120 秒后强行结束所有 rank
    timer = threading.Timer(120, lambda: [p.kill() for p in mp.active_children()])
    timer.daemon = True
    timer.start()
    mp.spawn(run, args=(world_size, store.port), nprocs=world_size, join=True)
