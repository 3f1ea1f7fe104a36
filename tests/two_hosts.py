"""Two hosts on one machine: two network namespaces and a line between them.

Each host has an interface `eth0` and an address of its own, sees nothing but the other host, and
is addressed as in the commands of the pages. Linux lets only root make them, so on a CI machine
that is not root everything goes through sudo, where that asks no password.
"""

from __future__ import annotations

import ctypes
import heapq
import itertools
import os
import re
import select
import struct
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import find_browser
import find_network_tools
from find_network_tools import NoHostsError

ADDRESSES = ("10.0.0.1", "10.0.0.2")
INTERFACE = "eth0"

DELAY = 0.02
"""Seconds that a packet is under way on a bad line."""

LOSS = 17
"""On a bad line one packet in so many is lost."""

PREFIX = "collectives"
NETWORK = 0x40000000  # CLONE_NEWNET
SET_INTERFACE = 0x400454CA  # TUNSETIFF
PACKETS_ONLY = 0x0001 | 0x1000  # IFF_TUN | IFF_NO_PI

_numbers = itertools.count()


def privileged() -> list[str]:
    """Return what to put before a command that only root may run.

    Raises:
        NoHostsError: this user cannot become root without being asked.
    """
    if find_browser.is_root():
        return []
    if os.environ.get("CI") and find_browser.starts("sudo", "-n", "true"):
        return ["sudo", "-n"]
    raise NoHostsError("只有 root 能建立网络命名空间")


def as_root(*command: str) -> str:
    """Run a command that only root may run, and return what it prints.

    Raises:
        NoHostsError: it failed.
    """
    result = subprocess.run(
        [*privileged(), *command], capture_output=True, encoding="utf-8", check=False
    )
    if result.returncode != 0:
        raise NoHostsError(f"{' '.join(command)}：{result.stderr.strip()}")
    return result.stdout


class TwoHosts:
    """A context in which there are two hosts; all that ran on them has ended when it is left.

    Attributes:
        names: of the two namespaces.
        line: "veth", "netem" (a veth pair that is slow and loses packets) or "tun" (the same made
            by a thread of ours, where the kernel has no netem).
    """

    def __init__(self, *, bad_line: bool = False) -> None:
        """Say what the line is like.

        Args:
            bad_line: whether every packet is late and some are lost.
        """
        name = f"{PREFIX}-{os.getpid()}-{next(_numbers)}"
        self.names = (f"{name}-0", f"{name}-1")
        self.line = "veth"
        self._bad_line = bad_line
        self._relay: _Relay | None = None

    def __enter__(self) -> TwoHosts:
        """Build the hosts.

        Raises:
            NoHostsError: this machine or this user cannot; nothing is left of the attempt.
        """
        find_network_tools.find()
        privileged()
        remove_what_a_killed_run_left()
        try:
            for name in self.names:
                as_root("ip", "netns", "add", name)
                self._ip(name, "link", "set", "lo", "up")
            self._join_by_cable()
            if self._bad_line:
                self._spoil()
            for name, address in zip(self.names, ADDRESSES, strict=True):
                self._ip(name, "address", "add", f"{address}/24", "dev", INTERFACE)
                self._ip(name, "link", "set", INTERFACE, "up")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every process of the hosts and remove them."""
        if self._relay is not None:
            self._relay.stop()
        for name in self.names:
            remove(name)

    def start(
        self, host: int, command: str, folder: Path, environment: Mapping[str, str]
    ) -> subprocess.Popen[str]:
        """Run a command line on a host, as its user types it, with this environment and no other.

        Raises:
            NoHostsError: see `privileged`.
        """
        enter = [*privileged(), "ip", "netns", "exec", self.names[host]]
        user = (
            []
            if find_browser.is_root()
            else ["setpriv", f"--reuid={os.getuid()}", f"--regid={os.getgid()}", "--clear-groups"]
        )
        variables = [f"{name}={value}" for name, value in environment.items()]
        return subprocess.Popen(
            [*enter, *user, "env", "-i", *variables, "sh", "-c", command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )

    def cut(self, host: int) -> None:
        """Pull the cable of a host: what it sends and what is sent to it goes nowhere."""
        self._ip(self.names[host], "link", "set", INTERFACE, "down")

    def on(self, host: int, *command: str) -> str:
        """Run a command of root's on a host and return what it prints."""
        return as_root("ip", "netns", "exec", self.names[host], *command)

    def processes(self) -> list[int]:
        """Return the processes that run on the hosts."""
        return [pid for name in self.names for pid in processes_of(name)]

    def lost(self) -> int:
        """Return how many packets the bad line has lost."""
        if self._relay is not None:
            return self._relay.lost
        statistics = [self.on(i, "tc", "-s", "qdisc", "show", "dev", INTERFACE) for i in range(2)]
        return sum(int(n) for text in statistics for n in re.findall(r"dropped (\d+)", text))

    def _ip(self, name: str, *arguments: str) -> None:
        as_root("ip", "-netns", name, *arguments)

    def _join_by_cable(self) -> None:
        one, other = self.names
        ends = ("type", "veth", "peer", "name", INTERFACE, "netns", other)
        as_root("ip", "link", "add", INTERFACE, "netns", one, *ends)

    def _spoil(self) -> None:
        netem = ("delay", f"{DELAY * 1000:g}ms", "loss", f"{100 / LOSS:.1f}%")
        try:
            for host in range(2):
                self.on(host, "tc", "qdisc", "add", "dev", INTERFACE, "root", "netem", *netem)
            self.line = "netem"
        except NoHostsError as error:
            # The kernel was built without it. A mistake in our command reads otherwise.
            if "qdisc kind is unknown" not in str(error):
                raise
            self._ip(self.names[0], "link", "delete", INTERFACE)
            self._relay = _Relay(self.names)
            self.line = "tun"


class _Relay(threading.Thread):
    """A line that is slow and loses packets, between two interfaces that it makes itself."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(daemon=True)
        self.lost = 0
        self._names = names
        self._ends: list[int] = []
        self._problem: Exception | None = None
        self._ready = threading.Event()
        self._hears, self._bell = os.pipe()
        self.start()
        self._ready.wait()
        if self._problem is not None:
            raise NoHostsError(f"无法建立 TUN 设备：{self._problem}")

    def stop(self) -> None:
        """End the line; its interfaces vanish."""
        os.close(self._bell)
        self.join()
        os.close(self._hears)

    def run(self) -> None:
        try:
            # Entering a namespace changes this thread alone, and the thread ends with the line.
            self._ends = [_interface(name) for name in self._names]
        except OSError as problem:
            self._problem = problem
        finally:
            self._ready.set()
        try:
            self._carry()
        finally:
            for end in self._ends:
                os.close(end)

    def _carry(self) -> None:
        under_way: list[tuple[float, int, int, bytes]] = []
        carried = 0
        while True:
            patience = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
            readable, _, _ = select.select([self._hears, *self._ends], [], [], patience)
            if self._hears in readable:
                return
            for end in readable:
                packet = os.read(end, 1 << 16)
                carried += 1
                if carried % LOSS == 0:
                    self.lost += 1
                    continue
                other = self._ends[1 - self._ends.index(end)]
                heapq.heappush(under_way, (time.monotonic() + DELAY, carried, other, packet))
            while under_way and under_way[0][0] <= time.monotonic():
                _, _, end, packet = heapq.heappop(under_way)
                try:
                    os.write(end, packet)
                except OSError:
                    self.lost += 1  # The interface is down: its host was cut off.


def _interface(name: str) -> int:
    """Make the interface of a host and return its end of the line. Changes the thread's network."""
    from fcntl import ioctl  # Not on Windows, where nothing gets this far.

    libc = ctypes.CDLL(None, use_errno=True)
    namespace = os.open(f"/run/netns/{name}", os.O_RDONLY)
    try:
        if libc.setns(namespace, NETWORK) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(namespace)
    end = os.open("/dev/net/tun", os.O_RDWR)
    ioctl(end, SET_INTERFACE, struct.pack("16sH22x", INTERFACE.encode(), PACKETS_ONLY))
    return end


def processes_of(name: str) -> list[int]:
    """Return the processes that run in a namespace."""
    return [int(pid) for pid in as_root("ip", "netns", "pids", name).split()]


def remove(name: str) -> None:
    """End every process of a namespace and remove it, if it is there."""
    if not Path("/run/netns", name).exists():
        return
    for _ in range(100):
        left = processes_of(name)
        if not left:
            break
        for pid in left:
            _kill(pid)
        time.sleep(0.05)
    as_root("ip", "netns", "delete", name)


def _kill(pid: int) -> None:
    command = [*privileged(), "kill", "-KILL", str(pid)]
    subprocess.run(command, capture_output=True, check=False)  # It may have ended just now.


def remove_what_a_killed_run_left() -> None:
    """Remove the hosts of runs that were killed before they could do so themselves."""
    for path in Path("/run/netns").glob(f"{PREFIX}-*-*-*"):
        owner = int(path.name.split("-")[1])
        try:
            os.kill(owner, 0)
        except ProcessLookupError:
            remove(path.name)
        except PermissionError:
            pass
