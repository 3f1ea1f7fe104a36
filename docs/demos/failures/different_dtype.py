# 运行方式: python different_dtype.py
# 两边的字节数一样、类型不一样：只搬字节，没有人检查。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    tensor = torch.tensor([1.0, 2.0, 3.0])
    if rank == 1:
        tensor = torch.zeros(3, dtype=torch.int32)
    dist.broadcast(tensor, src=0)
    print(f"[rank {rank}] broadcast  wrong: {tensor.tolist()} {tensor.dtype}")

    tensor = torch.tensor([1.0, 2.0, 3.0]) if rank == 0 else torch.zeros(3)
    dist.broadcast(tensor, src=0)
    print(f"[rank {rank}] broadcast  right: {tensor.tolist()} {tensor.dtype}")

    half = torch.ones(2, dtype=torch.float16 if rank == 0 else torch.bfloat16)
    dist.all_reduce(half)
    print(f"[rank {rank}] all_reduce wrong: {half.tolist()} {half.dtype}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
