# 运行方式: python device_mesh.py

import faulthandler
import os
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh


def worker(rank, world_size, port):
    faulthandler.dump_traceback_later(25, exit=True)  # 万一卡住，25 秒后说出停在哪一行，然后结束
    timeout = timedelta(seconds=20)  # 最多等别的进程 20 秒
    dist.init_process_group(
        backend="gloo", rank=rank, world_size=world_size, timeout=timeout,
        store=dist.TCPStore("127.0.0.1", port, timeout=timeout, use_libuv=False),
    )

    # 4 个 rank 排成 [[0, 1], [2, 3]]：第 0 维走一列，第 1 维走一行
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("column", "row"))
    row, column = mesh.get_group("row"), mesh.get_group("column")

    total = torch.tensor([float(rank)])
    dist.all_reduce(total, group=row)
    print(f"[rank {rank}] 所在的行 {dist.get_process_group_ranks(row)}，之和 {total.tolist()}")

    totals = [torch.zeros(1) for _ in range(2)]
    dist.all_gather(totals, total, group=column)
    values = [value.item() for value in totals]
    print(f"[rank {rank}] 所在的列 {dist.get_process_group_ranks(column)}，各行之和 {values}")

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
