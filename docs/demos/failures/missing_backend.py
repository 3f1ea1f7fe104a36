# 运行方式: python missing_backend.py
# 这个 torch 里没有编进去的后端，和拼错的后端。

import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
tell(lambda: dist.init_process_group("nccl", store=store, rank=0, world_size=1))
tell(lambda: dist.init_process_group("mpi", store=store, rank=0, world_size=1))
tell(lambda: dist.init_process_group("ucc", store=store, rank=0, world_size=1))
tell(lambda: dist.init_process_group("glo", store=store, rank=0, world_size=1))

print(f"nccl {dist.is_nccl_available()}, mpi {dist.is_mpi_available()}, "
      f"gloo {dist.is_gloo_available()}")
