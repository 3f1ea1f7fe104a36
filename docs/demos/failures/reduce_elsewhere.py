# 运行方式: python reduce_elsewhere.py
# reduce 只有 dst 上的结果算数；别的 rank 的张量被当成了暂存区。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    before = torch.full((4,), rank + 1.0)
    tensor = before.clone()
    dist.reduce(tensor, dst=0)
    total = torch.full((4,), 3.0)
    if rank == 0:
        print(f"[rank 0] reduce: {tensor.tolist()}")
    else:
        # 里面是什么没有规定，所以不打印数值
        print(f"[rank 1] wrong: total? {torch.equal(tensor, total)}, "
              f"unchanged? {torch.equal(tensor, before)}")

    tensor = before.clone()
    dist.all_reduce(tensor)
    print(f"[rank {rank}] right: {tensor.tolist()}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
