# 运行方式: python order_of_sum.py

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

    # 四个 rank 的值加起来，精确的和是 2；float32 里 1 会被 1e8 吃掉
    value = [1e8, 1.0, -1e8, 1.0][rank]
    tensor = torch.full((4,), value)
    dist.all_reduce(tensor)
    print(f"[rank {rank}] all_reduce 的 4 个位置: {tensor.tolist()}")

    # 换一个算法：先收齐，再各自按 rank 的次序加
    parts = [torch.empty(1) for _ in range(world_size)]
    dist.all_gather(parts, torch.tensor([value]))
    print(f"[rank {rank}] 按 rank 次序加: {(((parts[0] + parts[1]) + parts[2]) + parts[3]).item()}")

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
    ranks = mp.spawn(run, args=(world_size, store.port), nprocs=world_size, join=False)
    while not ranks.join(grace_period=2):  # 一个 rank 出了错，其余的最多再留 4 秒
        pass
