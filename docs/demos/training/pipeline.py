# 运行方式: python pipeline.py

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

    torch.manual_seed(0)  # 两段都会算出同一份权重，每个 rank 只训练自己的一段
    first = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh()).double()
    second = torch.nn.Linear(16, 1).double()
    inputs, targets = torch.randn(32, 8).double(), torch.randn(32, 1).double()
    micro_batches = 4
    moved = 0
    if rank == 0:
        # 先做完所有微批次的前向；阻塞的 send 和 recv 在两边的次序必须对得上
        activations = []
        for x in inputs.chunk(micro_batches):
            activations.append(first(x))
            dist.send(activations[-1].detach(), dst=1)
            moved += activations[-1].nbytes
        for activation in activations:
            grad = torch.empty_like(activation)
            dist.recv(grad, src=1)
            activation.backward(grad)
    else:
        received, losses = [], []
        for target in targets.chunk(micro_batches):
            received.append(torch.empty(len(target), 16).double())
            dist.recv(received[-1], src=0)
            loss = ((second(received[-1].requires_grad_()) - target) ** 2).mean()
            losses.append(loss / micro_batches)
        for activation, loss in zip(received, losses, strict=True):
            loss.backward()
            dist.send(activation.grad, dst=0)
            moved += activation.grad.nbytes
    print(f"[rank {rank}] {micro_batches} 个微批次，发出 {moved} 字节")

    # 对照：一个进程算完整的模型和整个批次
    mine = (first, second)[rank]
    got = [parameter.grad.clone() for parameter in mine.parameters()]
    first.zero_grad(), second.zero_grad()
    ((second(first(inputs)) - targets) ** 2).mean().backward()
    for parameter, grad in zip(mine.parameters(), got, strict=True):
        assert torch.allclose(parameter.grad, grad)
    assert moved == 8 * 32 * 16
    print(f"[rank {rank}] 自己那一段的梯度与单进程相同")

    dist.destroy_process_group()


def run(rank, *args):
    try:
        worker(rank, *args)
    except Exception:
        traceback.print_exc()  # 先说出自己的错：别的 rank 只会说对方断开了
        raise


# 被 torchrun 启动时有好几份在跑，只让 rank 0 那一份往下走
if __name__ == "__main__" and os.environ.get("RANK", "0") == "0":
    world_size = 2
    # 端口写 0，由系统挑一个空闲端口；Windows 版 torch 没有 libuv，所以关掉
    store = dist.TCPStore("127.0.0.1", 0, is_master=True,
                          wait_for_workers=False, use_libuv=False)
    ranks = mp.spawn(run, args=(world_size, store.port), nprocs=world_size, join=False)
    while not ranks.join(grace_period=2):  # 一个 rank 出了错，其余的最多再留 4 秒
        pass
