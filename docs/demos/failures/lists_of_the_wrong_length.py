# 运行方式: python lists_of_the_wrong_length.py
# 列表要有 N 项，每一项和自己的张量同形状、同类型。这里 N = 1。

import torch
import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, use_libuv=False)
dist.init_process_group("gloo", store=store, rank=0, world_size=1)

one = torch.ones(2)
tell(lambda: dist.all_gather([torch.ones(2)] * 3, one))
tell(lambda: dist.scatter(one, [torch.ones(2)] * 3, src=0))
tell(lambda: dist.reduce_scatter(one, [torch.ones(2)] * 3))
tell(lambda: dist.all_gather([torch.ones(2, dtype=torch.int64)], one))

dist.destroy_process_group()
