# 运行方式: python temporary_result.py
# 结果写进了随手造的临时张量，手里的没有变。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    wrong = torch.tensor([rank + 1, rank + 1])
    dist.all_reduce(wrong.float())
    print(f"[rank {rank}] .float()      wrong: {wrong.tolist()}")

    matrix = torch.full((2, 2), rank + 1.0)
    dist.all_reduce(matrix.t().contiguous())
    print(f"[rank {rank}] .contiguous() wrong: {matrix.tolist()}")

    right = matrix.t().contiguous()
    dist.all_reduce(right)
    matrix = right.t()
    print(f"[rank {rank}] .contiguous() right: {matrix.tolist()}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
