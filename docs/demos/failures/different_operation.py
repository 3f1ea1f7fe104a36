# 运行方式: python different_operation.py
# 一个 rank 求和、一个 rank 取最大：每一段各按经手的 rank 算。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    wrong = torch.arange(1.0, 5.0) * (rank + 1)
    print(f"[rank {rank}] before: {wrong.tolist()}")
    dist.all_reduce(wrong, op=dist.ReduceOp.SUM if rank == 0 else dist.ReduceOp.MAX)
    print(f"[rank {rank}] wrong: {wrong.tolist()}")

    right = torch.arange(1.0, 5.0) * (rank + 1)
    dist.all_reduce(right, op=dist.ReduceOp.SUM)
    print(f"[rank {rank}] right: {right.tolist()}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
