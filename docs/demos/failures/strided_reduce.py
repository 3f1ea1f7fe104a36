# 运行方式: python strided_reduce.py
# all_reduce 和 reduce 也不看步长：算的是从头数起的那几个数。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    for label in ("wrong", "right"):
        summed, reduced = torch.arange(8.0)[::2], torch.arange(8.0)[::2]
        if label == "right":
            summed, reduced = summed.contiguous(), reduced.contiguous()
        dist.all_reduce(summed)
        dist.reduce(reduced, dst=0)
        if rank == 0:
            print(f"[rank 0] all_reduce {label}: {summed.tolist()}")
            print(f"[rank 0] reduce {label}: {reduced.tolist()}")

    # 想归约第 0 列，动的是第 0 行
    matrix = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    dist.all_reduce(matrix[:, 0])
    print(f"[rank {rank}] column wrong: {matrix.tolist()}")

    matrix = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    column = matrix[:, 0].contiguous()
    dist.all_reduce(column)
    matrix[:, 0] = column
    print(f"[rank {rank}] column right: {matrix.tolist()}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
