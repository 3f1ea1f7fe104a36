# 运行方式: python group_members.py
# 子组里的编号、组外的人、重复的人、比全员还大的组。

import faulthandler
import warnings

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh


def tell(rank, call):
    try:
        call()
    except Exception as error:
        print(f"[rank {rank}] {type(error).__name__}: {error}")


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    group = dist.new_group([1])
    tell(rank, lambda: dist.broadcast(torch.ones(2), src=0, group=group) if rank == 1 else None)
    tell(rank, lambda: dist.broadcast(torch.ones(2), src=0, group=group) if rank == 0 else None)
    tell(rank, lambda: dist.new_group([0, 1, 2]))
    tell(rank, lambda: dist.new_group([0, 0]))
    tell(rank, lambda: init_device_mesh("cpu", (2, 2)))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dist.all_reduce(torch.ones(2), group=group)
    for warning in caught:
        print(f"[rank {rank}] {warning.category.__name__}: {warning.message}")
    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
