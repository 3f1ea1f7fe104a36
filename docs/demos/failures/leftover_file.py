# 运行方式: python leftover_file.py
# file:// 用的文件是上次留下的：里面的地址早就没有人在听了。

import os
import shutil
import tempfile
from datetime import timedelta

import torch.distributed as dist


def run(path, ranks, seconds, copy=""):
    for rank in ranks:
        if os.fork() == 0:
            try:
                dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank,
                                        world_size=2, timeout=timedelta(seconds=seconds))
                if copy and rank == 0:
                    shutil.copy(path, copy)
                dist.destroy_process_group()
            except Exception as error:
                print(f"[rank {rank}] {type(error).__name__}: {error}", flush=True)
            os._exit(0)
    for _ in ranks:
        os.wait()


folder = tempfile.TemporaryDirectory()
run(f"{folder.name}/new", [0, 1], 15, copy=f"{folder.name}/left-over")
print("first run: fine", flush=True)
run(f"{folder.name}/left-over", [0], 2)  # 上次 rank 1 的地址还写在里面
folder.cleanup()
