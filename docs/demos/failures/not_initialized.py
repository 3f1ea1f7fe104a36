# 运行方式: python not_initialized.py
# 先 init_process_group，再通信；只 init 一次；destroy 之后不能再用，也不能再 destroy。

import torch
import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


tell(lambda: dist.all_reduce(torch.ones(2)))

store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
dist.init_process_group("gloo", store=store, rank=0, world_size=1)
tell(lambda: dist.init_process_group("gloo", store=store, rank=0, world_size=1))

dist.destroy_process_group()
tell(lambda: dist.get_rank())
tell(lambda: dist.destroy_process_group())
