"""Find `ip`, `tc` and `nft`, which make two hosts of one machine in the tests, or install them.

`--install` adds them from Debian's packages, wherever find_browser.py would install a browser.
Elsewhere one line says what is missing and those tests are skipped; where
`find_browser.required()` holds they fail instead, and so does `--install`.
"""

from __future__ import annotations

import os
import shutil
import sys

import find_browser


class NoHostsError(RuntimeError):
    """This machine cannot hold two hosts; the message says why, or what to install."""


TOOLS = ("ip", "tc", "nft")
PACKAGES = ("iproute2", "nftables")


def find() -> list[str]:
    """Return the paths of the tools.

    Raises:
        NoHostsError: one of them is missing.
    """
    # Debian keeps them where only root's PATH looks.
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    found = [shutil.which(tool, path=path) for tool in TOOLS]
    paths = [tool for tool in found if tool]
    if len(paths) == len(TOOLS):
        return paths
    if sys.platform != "linux":
        raise NoHostsError("只有 Linux 有网络命名空间")
    raise NoHostsError(
        f"没有找到 {'、'.join(TOOLS)} 中的一个：请安装它们"
        f"（Debian：sudo apt install {' '.join(PACKAGES)}）"
    )


def main() -> int:
    """Print the paths; with `--install`, install what is missing first."""
    unknown = [argument for argument in sys.argv[1:] if argument != "--install"]
    if unknown:
        print(f"find_network_tools.py：不认识的参数 {unknown[0]}", file=sys.stderr)
        return 2
    try:
        try:
            print(*find())
        except NoHostsError:
            if "--install" not in sys.argv:
                raise
            find_browser.install_packages(*PACKAGES)
            print(*find())
    except NoHostsError as error:
        skipped = "" if find_browser.required() else "；双机的测试会跳过"
        print(f"注意：{error}{skipped}", file=sys.stderr)
        return 1 if find_browser.required() or "--install" not in sys.argv else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
