# 运行方式: python read_before_wait.py
# async_op=True 立刻返回，wait() 之前读到的还是旧值。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    tensor = torch.full((2,), rank + 1.0)
    if rank == 1:
        store.wait(["rank 0 has looked"])  # 让 rank 1 晚到，旧值才一定看得见

    work = dist.all_reduce(tensor, async_op=True)
    if rank == 0:
        print(f"[rank 0] wrong: {tensor.tolist()}")
        store.set("rank 0 has looked", "")

    work.wait()
    print(f"[rank {rank}] right: {tensor.tolist()}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
