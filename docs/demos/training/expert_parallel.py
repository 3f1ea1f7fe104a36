# 运行方式: python expert_parallel.py

import faulthandler
import os
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


class Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, send, receive):
        ctx.splits = send, receive
        out = x.new_empty(sum(receive), x.shape[1])
        dist.all_to_all_single(out, x.contiguous(), receive, send)
        return out

    @staticmethod
    def backward(ctx, grad):  # 梯度原路返回，所以收发的条数对调
        send, receive = ctx.splits
        return Exchange.apply(grad, receive, send), None, None


def worker(rank, world_size, port):
    faulthandler.dump_traceback_later(25, exit=True)  # 万一卡住，25 秒后说出停在哪一行，然后结束
    timeout = timedelta(seconds=20)  # 最多等别的进程 20 秒
    dist.init_process_group(
        backend="gloo", rank=rank, world_size=world_size, timeout=timeout,
        store=dist.TCPStore("127.0.0.1", port, timeout=timeout, use_libuv=False),
    )

    torch.manual_seed(0)  # 4 个专家、每个 rank 6 个 token；人人算出同一份，只用自己的
    experts = torch.randn(world_size, 8, 8).double().requires_grad_()
    tokens = torch.randn(world_size, 6, 8).double()
    choice = torch.randint(world_size, (world_size, 6))  # 每个 token 去哪个专家
    expert = experts[rank].detach().clone().requires_grad_()

    order = choice[rank].argsort(stable=True)  # 去同一个专家的 token 排在一起
    send = choice[rank].bincount(minlength=world_size)
    receive = torch.empty_like(send)
    dist.all_to_all_single(receive, send)  # 先告诉每个专家会来几个
    send, receive = send.tolist(), receive.tolist()
    print(f"[rank {rank}] 发给各专家 {send} 个 token，收到 {receive} 个")
    arrived = Exchange.apply(tokens[rank][order], send, receive)
    back = Exchange.apply(torch.tanh(arrived @ expert), receive, send)
    output = torch.empty_like(back).index_copy(0, order, back)
    (output ** 2).sum().backward()
    moved = tokens[rank].nbytes - send[rank] * tokens[rank, 0].nbytes
    print(f"[rank {rank}] 去程 M = {tokens[rank].nbytes} 字节，其中离开本 rank 的 {moved} 字节")

    # 对照：一个进程里有全部专家和全部 token
    expected = torch.tanh(torch.einsum("rti,rtij->rtj", tokens, experts[choice]))
    (expected ** 2).sum().backward()
    assert torch.allclose(output, expected[rank])
    assert torch.allclose(expert.grad, experts.grad[rank])
    assert moved == 8 * 8 * int((choice[rank] != rank).sum())
    print(f"[rank {rank}] 输出和专家的梯度与单进程相同")

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
