# 运行方式: python no_environment.py
# 脚本等着 torchrun 来设环境变量，却直接用 python 运行。

import os

import torch.distributed as dist


def tell(call):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")


for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1"}.items():
    tell(lambda: dist.init_process_group("gloo"))
    os.environ[name] = value
tell(lambda: dist.init_process_group("gloo"))

os.environ["MASTER_PORT"] = "0"  # 四个都有了
dist.init_process_group("gloo")
print(f"world size {dist.get_world_size()}")
dist.destroy_process_group()
