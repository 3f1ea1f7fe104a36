# 运行方式: python wrong_debug_level.py
# TORCH_DISTRIBUTED_DEBUG 只有三个值，写成 1、true 或空的都不行。

import os

os.environ["TORCH_DISTRIBUTED_DEBUG"] = "1"

try:
    import torch.distributed as dist

    print(dist.is_available())
except Exception as error:
    print(f"{type(error).__name__}: {error}")
