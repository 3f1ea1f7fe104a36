# 运行方式: python strided_broadcast.py
# 根隔一个取一个、根转置、接收方隔一个取一个，broadcast 都照内存里的次序搬。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    every_other = torch.arange(8.0)[::2] if rank == 0 else torch.zeros(4)
    dist.broadcast(every_other, src=0)
    print(f"[rank {rank}] [::2] wrong: {every_other.tolist()}")

    every_other = torch.arange(8.0)[::2].contiguous() if rank == 0 else torch.zeros(4)
    dist.broadcast(every_other, src=0)
    print(f"[rank {rank}] [::2] right: {every_other.tolist()}")

    turned = torch.arange(4.0).reshape(2, 2).t() if rank == 0 else torch.zeros(2, 2)
    dist.broadcast(turned, src=0)
    print(f"[rank {rank}] .t()  wrong: {turned.tolist()}")

    buffer = torch.zeros(8)
    received = torch.arange(1.0, 5.0) if rank == 0 else buffer[::2]
    dist.broadcast(received, src=0)
    print(f"[rank {rank}] into [::2] wrong: {received.tolist()}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
