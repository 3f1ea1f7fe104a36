# 运行方式: python new_group.py

import faulthandler
import os
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world_size, port):
    faulthandler.dump_traceback_later(25, exit=True)  # 万一卡住，25 秒后说出停在哪一行，然后结束
    timeout = timedelta(seconds=20)  # 最多等别的进程 20 秒
    dist.init_process_group(
        backend="gloo", rank=rank, world_size=world_size, timeout=timeout,
        store=dist.TCPStore("127.0.0.1", port, timeout=timeout, use_libuv=False),
    )

    # 每个 rank 都要按同样的次序建全部的组，哪怕自己不在里面
    evens, odds = dist.new_group([0, 2]), dist.new_group([1, 3])
    mine = evens if rank % 2 == 0 else odds
    members, place = dist.get_process_group_ranks(mine), dist.get_rank(mine)

    total = torch.tensor([float(rank)])
    dist.all_reduce(total, group=mine)  # 两个组互不相干，可以同时进行
    print(f"[rank {rank}] 在组 {members} 里排第 {place}，组内之和 {total.tolist()}")

    # src 是全局编号，group_src 才是组内编号
    first = torch.tensor([float(rank)])
    dist.broadcast(first, group_src=0, group=mine)
    print(f"[rank {rank}] 组里第 0 个的值 {first.tolist()}")

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
