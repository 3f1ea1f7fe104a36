# 运行方式: python swapped_calls.py
# 两个 rank 的调用次序相反，形状又恰好一样：损失和梯度加到了一起。

import faulthandler

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, port):
    faulthandler.dump_traceback_later(20, exit=True)  # 万一卡住，20 秒后说出停在哪一行，然后结束
    store = dist.TCPStore("127.0.0.1", port, use_libuv=False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)

    def tensors():
        return torch.full((2,), 1.0), torch.full((2,), 100.0)

    loss, gradient = tensors()
    for tensor in (loss, gradient) if rank == 0 else (gradient, loss):
        dist.all_reduce(tensor)
    print(f"[rank {rank}] wrong: loss {loss.tolist()}, gradient {gradient.tolist()}")

    loss, gradient = tensors()
    for tensor in (loss, gradient):
        dist.all_reduce(tensor)
    print(f"[rank {rank}] right: loss {loss.tolist()}, gradient {gradient.tolist()}")

    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
    mp.spawn(worker, args=(store.port,), nprocs=2)
