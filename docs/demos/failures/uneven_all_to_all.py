# 运行方式: python uneven_all_to_all.py
# 3 个 float 分给 2 个 rank，不写每段多长：从字节中间切开，拼出谁也没发过的数。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    tensor = torch.tensor([1.0, 2.0, 3.0]) + 10 * rank
    print(f"[rank {rank}] input: {tensor.tolist()}")

    wrong = torch.zeros(3)
    dist.all_to_all_single(wrong, tensor)
    print(f"[rank {rank}] wrong: {wrong.tolist()}")

    # 给 rank 0 两个，给 rank 1 一个
    length = 2 if rank == 0 else 1
    right = torch.zeros(2 * length)
    dist.all_to_all_single(right, tensor, [length, length], [2, 1])
    print(f"[rank {rank}] right: {right.tolist()}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
