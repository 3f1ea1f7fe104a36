# 运行方式: python tensor_parallel.py

import faulthandler
import os
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

moved = []


def total(tensor):
    dist.all_reduce(tensor := tensor.clone())
    moved.append(tensor.nbytes)
    return tensor


class F(torch.autograd.Function):  # 前向不动，反向 AllReduce
    forward = staticmethod(lambda ctx, x: x.view_as(x))
    backward = staticmethod(lambda ctx, grad: total(grad))


class G(torch.autograd.Function):  # 前向 AllReduce，反向不动
    forward = staticmethod(lambda ctx, x: total(x))
    backward = staticmethod(lambda ctx, grad: grad)


def worker(rank, world_size, port):
    faulthandler.dump_traceback_later(25, exit=True)  # 万一卡住，25 秒后说出停在哪一行，然后结束
    timeout = timedelta(seconds=20)  # 最多等别的进程 20 秒
    dist.init_process_group(
        backend="gloo", rank=rank, world_size=world_size, timeout=timeout,
        store=dist.TCPStore("127.0.0.1", port, timeout=timeout, use_libuv=False),
    )

    torch.manual_seed(0)  # 完整的权重人人都会算出同一份，每个 rank 只用自己的一段
    a = torch.randn(8, 16).double().requires_grad_()
    b = torch.randn(16, 8).double().requires_grad_()
    inputs = torch.randn(6, 8).double().requires_grad_()
    columns = a.detach().chunk(world_size, dim=1)[rank].clone().requires_grad_()
    rows = b.detach().chunk(world_size, dim=0)[rank].clone().requires_grad_()
    x = inputs.detach().clone().requires_grad_()
    # 第一层按列切、第二层按行切，中间的激活函数不需要通信
    output = G.apply(torch.tanh(F.apply(x) @ columns) @ rows)
    (output ** 2).sum().backward()
    print(f"[rank {rank}] 前向和反向各一次 all_reduce，M（字节）: {moved}")

    # 对照：一个进程持有完整的两个矩阵
    expected = torch.tanh(inputs @ a) @ b
    (expected ** 2).sum().backward()
    assert torch.allclose(output, expected)
    assert torch.allclose(x.grad, inputs.grad)
    assert torch.allclose(columns.grad, a.grad.chunk(world_size, dim=1)[rank])
    assert torch.allclose(rows.grad, b.grad.chunk(world_size, dim=0)[rank])
    assert moved == [8 * 6 * 8] * 2
    print(f"[rank {rank}] 输出、输入的梯度、自己那段权重的梯度都与单进程相同")

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
