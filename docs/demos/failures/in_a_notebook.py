# 运行方式: python in_a_notebook.py
# 笔记本、python -c 和管道里定义的函数，子进程找不到。要写进文件。

import subprocess
import sys
from pathlib import Path

CODE = """
import torch.multiprocessing as mp

def worker(rank):
    print(f"[rank {rank}] started")

if __name__ == "__main__":
    mp.spawn(worker, nprocs=1)
"""

for arguments, text in ((["-c", CODE], ""), ([], CODE)):
    run = subprocess.run([sys.executable, *arguments], input=text, capture_output=True,
                         encoding="utf-8", timeout=25)
    errors = [line for line in run.stderr.splitlines() if "Error: " in line]
    print("\n".join(errors[-1:]))

Path("in_a_file.py").write_text(CODE, encoding="utf-8")
subprocess.run([sys.executable, "in_a_file.py"], timeout=25)
