# 运行方式: python uneven.py

import faulthandler
import os
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world_size, port):
    faulthandler.dump_traceback_later(25, exit=True)  # 万一卡住，25 秒后说出停在哪一行，然后结束
    timeout = timedelta(seconds=20)  # 最多等别的进程 20 秒
    dist.init_process_group(
        backend="gloo", rank=rank, world_size=world_size, timeout=timeout,
        store=dist.TCPStore("127.0.0.1", port, timeout=timeout, use_libuv=False),
    )

    # 给 rank j 发 j + 1 个数，所以 rank r 从每个 rank 各收 r + 1 个
    send, receive = [j + 1 for j in range(world_size)], [rank + 1] * world_size
    outgoing = torch.cat([torch.full((n,), 10.0 * rank + j) for j, n in enumerate(send)])
    incoming = torch.zeros(sum(receive))
    dist.all_to_all_single(incoming, outgoing, receive, send)
    print(f"[rank {rank}] all_to_all_single 收到 {incoming.tolist()}")

    # all_gather 要求等长：先交换长度，补齐到最长，收齐之后再截断
    own = torch.full((rank + 1,), float(rank))
    lengths = [torch.zeros(1, dtype=torch.int64) for _ in range(world_size)]
    dist.all_gather(lengths, torch.tensor([len(own)]))
    longest = max(length.item() for length in lengths)
    padded = torch.nn.functional.pad(own, (0, longest - len(own)))
    gathered = [torch.zeros(longest) for _ in range(world_size)]
    dist.all_gather(gathered, padded)
    cut = [g[:length.item()].tolist() for g, length in zip(gathered, lengths, strict=True)]
    print(f"[rank {rank}] all_gather 之后截断 {cut}")

    dist.destroy_process_group()


def run(rank, *args):
    try:
        worker(rank, *args)
    except Exception:
        traceback.print_exc()  # 先说出自己的错：别的 rank 只会说对方断开了
        raise


# 被 torchrun 启动时有好几份在跑，只让 rank 0 那一份往下走
if __name__ == "__main__" and os.environ.get("RANK", "0") == "0":
    world_size = 4
    # 端口写 0，由系统挑一个空闲端口；Windows 版 torch 没有 libuv，所以关掉
    store = dist.TCPStore("127.0.0.1", 0, is_master=True,
                          wait_for_workers=False, use_libuv=False)
    ranks = mp.spawn(run, args=(world_size, store.port), nprocs=world_size, join=False)
    while not ranks.join(grace_period=2):  # 一个 rank 出了错，其余的最多再留 4 秒
        pass
