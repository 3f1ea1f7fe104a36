# 运行方式: python output_sizes.py
# 一整块的输出，长度要和 N 对得上，类型要相同；按段发的，各段长度加起来要等于总长。这里 N = 1。

import torch
import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
dist.init_process_group("gloo", store=store, rank=0, world_size=1)

tell(lambda: dist.reduce_scatter_single(torch.ones(3), torch.ones(2)))
tell(lambda: dist.all_gather_single(torch.ones(3), torch.ones(2)))
tell(lambda: dist.all_gather_single(torch.ones(2, dtype=torch.int64), torch.ones(2)))
tell(lambda: dist.all_to_all_single(torch.ones(3), torch.ones(3), [3], [2]))

dist.destroy_process_group()
