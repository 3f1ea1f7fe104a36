# 运行方式: python zero.py

import copy
import faulthandler
import os
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def gradient(model, inputs, targets):
    model.zero_grad()
    ((model(inputs) - targets) ** 2).mean().backward()
    return parameters_to_vector([p.grad for p in model.parameters()])


def worker(rank, world_size, port):
    faulthandler.dump_traceback_later(25, exit=True)  # 万一卡住，25 秒后说出停在哪一行，然后结束
    timeout = timedelta(seconds=20)  # 最多等别的进程 20 秒
    dist.init_process_group(
        backend="gloo", rank=rank, world_size=world_size, timeout=timeout,
        store=dist.TCPStore("127.0.0.1", port, timeout=timeout, use_libuv=False),
    )

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(),
                                torch.nn.Linear(16, 4)).double()
    alone = copy.deepcopy(model)
    inputs, targets = torch.randn(32, 8).double(), torch.randn(32, 4).double()
    mine = slice(rank * 8, rank * 8 + 8)
    # 全部参数拼成一个向量，每个 rank 只留 1/N 的参数和同样大的动量
    shard = parameters_to_vector(model.parameters()).detach().chunk(world_size)[rank].clone()
    momentum = torch.zeros_like(shard)
    moved = {"all_gather": 0, "reduce_scatter": 0}
    for _ in range(3):
        full = torch.empty(len(shard) * world_size).double()
        dist.all_gather(list(full.chunk(world_size)), shard)
        moved["all_gather"] += full.nbytes
        vector_to_parameters(full, model.parameters())
        grad, own = gradient(model, inputs[mine], targets[mine]), torch.empty_like(shard)
        dist.reduce_scatter(own, list(grad.chunk(world_size)), op=dist.ReduceOp.SUM)
        moved["reduce_scatter"] += grad.nbytes
        momentum = 0.9 * momentum + own / world_size  # 只更新自己的那一段
        shard -= 0.1 * momentum
    print(f"[rank {rank}] 存 {len(shard)} 个参数；3 步的 M 合计（字节）: {moved}")

    # 对照：一个进程存全部参数和动量，用全部 32 行训练
    whole = parameters_to_vector(alone.parameters()).detach()
    velocity = torch.zeros_like(whole)
    for _ in range(3):
        vector_to_parameters(whole, alone.parameters())
        velocity = 0.9 * velocity + gradient(alone, inputs, targets)
        whole = whole - 0.1 * velocity
    assert torch.allclose(shard, whole.chunk(world_size)[rank])
    assert moved == dict.fromkeys(moved, 3 * 8 * (8 * 16 + 16 + 16 * 4 + 4))
    print(f"[rank {rank}] 训练 3 步后，自己那一段参数与单进程相同")

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
