# 运行方式: python ddp.py

import copy
import faulthandler
import os
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def train(model, inputs, targets, synchronize):
    for _ in range(3):
        model.zero_grad()
        ((model(inputs) - targets) ** 2).mean().backward()
        synchronize(model)
        for parameter in model.parameters():
            parameter.data -= 0.1 * parameter.grad


def worker(rank, world_size, port):
    faulthandler.dump_traceback_later(25, exit=True)  # 万一卡住，25 秒后说出停在哪一行，然后结束
    timeout = timedelta(seconds=20)  # 最多等别的进程 20 秒
    dist.init_process_group(
        backend="gloo", rank=rank, world_size=world_size, timeout=timeout,
        store=dist.TCPStore("127.0.0.1", port, timeout=timeout, use_libuv=False),
    )

    torch.manual_seed(rank)  # 各 rank 的初值不同，以 rank 0 的为准
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(),
                                torch.nn.Linear(16, 1)).double()
    for parameter in model.parameters():
        dist.broadcast(parameter.data, src=0)
    alone = copy.deepcopy(model)

    torch.manual_seed(100)  # 数据人人相同，每个 rank 只用自己的 8 行
    inputs, targets = torch.randn(32, 8).double(), torch.randn(32, 1).double()
    mine = slice(rank * 8, rank * 8 + 8)
    moved = []

    def average_gradients(model):
        # 把梯度拼成一个桶，一次 AllReduce 求和，再除以 rank 数
        bucket = torch.cat([p.grad.flatten() for p in model.parameters()])
        dist.all_reduce(bucket, op=dist.ReduceOp.SUM)
        moved.append(bucket.nbytes)
        pieces = (bucket / world_size).split([p.numel() for p in model.parameters()])
        for parameter, piece in zip(model.parameters(), pieces, strict=True):
            parameter.grad = piece.view_as(parameter)

    train(model, inputs[mine], targets[mine], average_gradients)
    print(f"[rank {rank}] 每步 all_reduce 的 M（字节）: {moved}")

    # 对照：一个进程用全部 32 行训练，没有通信
    train(alone, inputs, targets, lambda model: None)
    for mine, reference in zip(model.parameters(), alone.parameters(), strict=True):
        assert torch.allclose(mine, reference)
    assert moved == [8 * (8 * 16 + 16 + 16 * 1 + 1)] * 3
    print(f"[rank {rank}] 训练 3 步后，参数与单进程相同")

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
