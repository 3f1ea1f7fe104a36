#!/bin/sh
# make_venv.sh DIR [PYTHON]: make a virtual environment in DIR with a Python that is new enough.
# Without PYTHON the first suitable one on PATH is taken. What is missing is said in one line.
set -eu

dir=$1
wanted=${2:-}

die() {
    echo "$1" >&2
    exit 1
}

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

# The newest python3.N that this machine's package manager offers, else plain python3.
packaged() {
    for minor in 14 13 12 11 10; do
        if apt-cache show "python3.$minor-venv" >/dev/null 2>&1; then
            echo "python3.$minor python3.$minor-venv"
            return
        fi
    done
    echo "python3 python3-venv"
}

python=
found=
for candidate in ${wanted:-python3 python3.14 python3.13 python3.12 python3.11 python3.10}; do
    command -v "$candidate" >/dev/null 2>&1 || continue
    found=${found:-$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true)}
    if new_enough "$candidate"; then
        python=$candidate
        break
    fi
done

if [ -z "$python" ] && [ -z "$found" ]; then
    die "没有找到 ${wanted:-Python}：本项目需要 Python 3.10 或更新的版本，请先运行 sudo apt install $(packaged)"
fi
if [ -z "$python" ]; then
    die "Python $found 太旧：本项目需要 Python 3.10 或更新的版本，请先运行 sudo apt install $(packaged)"
fi

# Debian and Ubuntu ship the two modules in a package of their own.
if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    die "$python 缺少 venv 模块，请先运行 sudo apt install python$version-venv"
fi

exec "$python" -m venv "$dir"
