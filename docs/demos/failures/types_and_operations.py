# 运行方式: python types_and_operations.py
# Gloo 不收的类型，和类型不支持的运算。

import torch
import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
dist.init_process_group("gloo", store=store, rank=0, world_size=1)

ones = torch.ones(2)
tell(lambda: dist.all_reduce(ones.to(torch.int16)))
tell(lambda: dist.all_reduce(ones, op=dist.ReduceOp.BAND))
tell(lambda: dist.all_reduce(ones.long(), op=dist.ReduceOp.AVG))
tell(lambda: dist.all_reduce(ones.to(torch.complex64), op=dist.ReduceOp.MAX))
tell(lambda: dist.all_reduce(ones.cuda()))
tell(lambda: torch.cuda.set_device(1))

dist.destroy_process_group()
