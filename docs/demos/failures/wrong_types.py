# 运行方式: python wrong_types.py
# 参数的类型不对：rank 要整数，timeout 要 timedelta，数据要 Tensor，op 要 ReduceOp。

import torch
import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
tell(lambda: dist.init_process_group("gloo", store=store, rank=0, world_size=1, timeout=10))
tell(lambda: dist.init_process_group("gloo", store=store, rank="0", world_size=1))

dist.init_process_group("gloo", store=store, rank=0, world_size=1)
tell(lambda: dist.all_reduce(3.0))
tell(lambda: dist.all_reduce(torch.ones(2), op="sum"))
tell(lambda: dist.P2POp(dist.send, torch.ones(2), 0))
tell(lambda: dist.all_reduce(torch.ones(2)).tolist())  # 原地操作，返回 None
dist.destroy_process_group()
