# 运行方式: python objects.py

import faulthandler
import os
import traceback
from datetime import timedelta

import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world_size, port):
    faulthandler.dump_traceback_later(25, exit=True)  # 万一卡住，25 秒后说出停在哪一行，然后结束
    timeout = timedelta(seconds=20)  # 最多等别的进程 20 秒
    dist.init_process_group(
        backend="gloo", rank=rank, world_size=world_size, timeout=timeout,
        store=dist.TCPStore("127.0.0.1", port, timeout=timeout, use_libuv=False),
    )

    config = [{"lr": 0.1}, "bf16"] if rank == 0 else [None, None]
    dist.broadcast_object_list(config, src=0)
    print(f"[rank {rank}] 配置 {config}")

    task = [None]
    tasks = [f"任务 {r}" for r in range(world_size)] if rank == 0 else None
    dist.scatter_object_list(task, tasks, src=0)

    # 对象先用 pickle 变成字节；长短不同也可以
    done = [None] * world_size
    dist.all_gather_object(done, (task[0], "完成" * rank))
    print(f"[rank {rank}] 大家的结果 {done}")

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
    ranks = mp.spawn(run, args=(world_size, store.port), nprocs=world_size, join=False)
    while not ranks.join(grace_period=2):  # 一个 rank 出了错，其余的最多再留 4 秒
        pass
