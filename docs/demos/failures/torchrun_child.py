# 运行方式: python torchrun_child.py
# torchrun 最后打印的 ChildFailedError 不是原因，原因在前面那个 rank 的报错里。

import os
import subprocess
import sys

if "RANK" in os.environ:
    raise KeyError("the real cause")

command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=1",
           __file__]
run = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=28)
for line in run.stderr.splitlines():
    line = line.removeprefix("[rank0]: ")
    if line.startswith(("KeyError:", "torch.distributed.elastic.")):
        print(line)
