# 运行方式: python in_place.py
# all_to_all_single 的输入和输出不能是同一块：有的数还没发走就被盖掉了。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    n = 1 << 22  # 每段 16 MB，一下子发不完
    for label in ("wrong", "right"):
        spoiled = 0
        for _ in range(10):  # 坏不坏看快慢，所以做十次
            tensor = torch.cat([torch.full((n,), rank * 10.0 + j) for j in range(2)])
            output = tensor if label == "wrong" else torch.empty_like(tensor)
            dist.all_to_all_single(output, tensor)

            expected = torch.cat([torch.full((n,), j * 10.0 + rank) for j in range(2)])
            bad = [torch.tensor(0), torch.tensor(0)]
            dist.all_gather(bad, (output != expected).any().int().long())
            spoiled += any(bad)
        if rank == 0:
            print(f"[rank 0] {label}: right ten times out of ten? {spoiled == 0}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
