# 运行方式: python local_rank_argument.py
# 旧的 torch.distributed.launch 会传 --local-rank，脚本却只认 --local_rank。

import argparse
import os
import sys

if len(sys.argv) == 1:
    sys.argv.append("--local-rank=0")  # launch 在 torch 2.0 之后传的是这个

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", 0)))
print(parser.parse_args([]))  # torchrun 不传参数，编号在环境变量 LOCAL_RANK 里

sys.stdout.flush()
print(parser.parse_args())
