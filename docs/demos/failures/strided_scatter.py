# 运行方式: python strided_scatter.py
# 按列切的块在内存里不连续，scatter 却当它连续来发。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    full = torch.arange(4.0).reshape(2, 2)
    if rank == 0:
        print(f"[rank 0] full = {full.tolist()}")
    columns = list(full.chunk(2, dim=1)) if rank == 0 else None
    copies = [column.contiguous() for column in columns] if rank == 0 else None

    for label, parts in (("wrong", columns), ("right", copies)):
        mine = torch.zeros(2, 1)
        dist.scatter(mine, parts, src=0)
        print(f"[rank {rank}] {label}: {mine.flatten().tolist()}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
