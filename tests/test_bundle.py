"""Pages load a bundle of the player; it is what its sources make of it, on every machine."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import bundle_player
import node_tools
import player_bundle
from article import Article
from built_site import ROOT, Site

DOCS = ROOT / "docs"
COMMITTED = DOCS / player_bundle.BUNDLE


def bundled(docs: Path, target: Path) -> dict[str, bytes]:
    """The files that the player of a docs folder is bundled into, by name."""
    target.mkdir()
    try:
        bundle_player.bundle(docs, target)
    except node_tools.ToolMissing as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    return contents(target)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the player's sources and bundle that a test may edit."""
    docs = tmp_path / "somewhere else" / "docs"
    for folder in ("js", "css", "player"):
        shutil.copytree(DOCS / "assets" / folder, docs / "assets" / folder)
    return docs


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A docs folder with entries that do nothing, for a test to write modules into."""
    docs = tmp_path / "docs"
    (docs / "assets/js/panels").mkdir(parents=True)
    (docs / "assets/css").mkdir()
    for name in player_bundle.ENTRIES:
        (docs / f"assets/js/{name}.js").write_text(f"console.log('{name}');\n")
    return docs


def test_the_committed_bundle_is_what_its_sources_make_of_it_byte_for_byte(tmp_path: Path):
    assert bundled(DOCS, tmp_path / "player") == contents(COMMITTED)


def test_the_folder_that_the_sources_lie_in_leaves_no_trace(copy: Path, tmp_path: Path):
    assert bundled(copy, tmp_path / "player") == contents(COMMITTED)


def test_the_player_is_one_file_until_the_reader_asks_for_more():
    script = contents(COMMITTED)["collective-player.js"].decode()
    assert "customElements.define(`collective-player`" in script
    assert re.findall(r"\b(?:from|import)\s*[\"'`]\./", script) == []


@pytest.mark.parametrize("edit", ["changed", "added", "removed", "renamed", "style"])
def test_any_edit_of_a_source_makes_the_bundle_stale(copy: Path, edit: str):
    assert player_bundle.is_fresh(copy)
    module = copy / "assets/js/dom.js"
    if edit == "changed":
        module.write_text(module.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    elif edit == "added":
        module.with_name("new.js").write_text("")
    elif edit == "removed":
        module.unlink()
    elif edit == "renamed":
        module.rename(module.with_name("document.js"))
    else:
        (copy / "assets/css/collective-player.css").write_text("")
    assert not player_bundle.is_fresh(copy)


def test_the_stylesheet_of_the_site_is_no_source_of_the_player(copy: Path):
    (copy / "assets/css/site.css").write_text("body { margin: 0 }")
    assert player_bundle.is_fresh(copy)


@pytest.mark.parametrize("manifest", [None, "", "[]", "{}", '{"sha256": null}', "\x00"])
def test_a_bundle_without_a_manifest_that_can_be_read_is_stale(copy: Path, manifest: str | None):
    path = copy / player_bundle.BUNDLE / player_bundle.MANIFEST
    path.unlink()
    if manifest is not None:
        path.write_text(manifest)
    assert not player_bundle.is_fresh(copy)


def test_bundling_again_removes_what_is_gone_and_leaves_the_rest_alone(copy: Path):
    folder = copy / player_bundle.BUNDLE
    (folder / "gone.js").write_text("// No module is called so any more.\n")
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    del before["gone.js"]
    bundle_player.update(copy)
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_what_is_loaded_on_demand_is_a_file_named_after_its_module(small: Path, tmp_path: Path):
    js = small / "assets/js"
    (js / "collective-player.js").write_text(
        "export const open = () => import('./panels/whatif.js');\nopen();\n"
    )
    (js / "panels/whatif.js").write_text("export const title = 'on demand';\n")
    files = bundled(small, tmp_path / "player")
    assert set(files) == {
        *(f"{entry}.js" for entry in player_bundle.ENTRIES),
        "panels-whatif.js",
        player_bundle.MANIFEST,
    }
    assert b"on demand" in files["panels-whatif.js"]
    assert b"on demand" not in files["collective-player.js"]


def test_addresses_beside_a_module_still_lead_there_from_the_bundle(small: Path, tmp_path: Path):
    assets = small / "assets"
    (assets / "css/player-panels.css").write_text(".cp-row { display: flex }\n")
    (assets / "js/collective-player.js").write_text("import './panels/near.js';\n")
    (assets / "js/panels/near.js").write_text(
        "console.log(new URL('../../css/player-panels.css', import.meta.url),\n"
        "  new URL('../../schedules/catalog.json', import.meta.url));\n"
    )
    script = bundled(small, tmp_path / "player")["collective-player.js"].decode()
    assert "./player-panels.css" in script
    assert "../schedules/catalog.json" in script
    assert "../../" not in script


def test_a_module_that_asks_for_its_place_in_another_way_is_refused(small: Path, tmp_path: Path):
    (small / "assets/js/collective-player.js").write_text("console.log(import.meta.url);\n")
    with pytest.raises(bundle_player.BundleError, match=r"import\.meta is only for new URL"):
        bundled(small, tmp_path / "player")


def test_stylesheets_are_made_small_and_not_old(small: Path, tmp_path: Path):
    (small / "assets/css/collective-player.css").write_text(
        ".cp {\n  color: light-dark(#ffffff, #000000);\n  &:hover { margin: 0px; }\n}\n"
        "@container cp (width < 600px) {\n  .cp { inset-inline: 0; }\n}\n"
    )
    style = bundled(small, tmp_path / "player")["collective-player.css"].decode()
    assert style == (
        ".cp{color:light-dark(#fff,#000);&:hover{margin:0}}"
        "@container cp (width<600px){.cp{inset-inline:0}}\n"
    )


@pytest.mark.parametrize("installed", [None, "1.0.0"])
def test_a_package_that_is_not_there_as_wanted_says_in_one_line_how_to_install_it(
    installed: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(node_tools, "ROOT", tmp_path)
    (tmp_path / "package.json").write_text('{"devDependencies": {"rolldown": "1.2.3"}}')
    if installed:
        (tmp_path / "node_modules/rolldown").mkdir(parents=True)
        (tmp_path / "node_modules/rolldown/package.json").write_text('{"version": "1.0.0"}')
    with pytest.raises(node_tools.ToolMissing, match=r"^.*rolldown 1\.2\.3.*make .*npm ci$"):
        node_tools.package("rolldown")


def test_every_page_loads_the_bundle_and_no_source(site: Site):
    for path in site.paths():
        if path == "embed/":
            continue  # It loads the player and nothing of the site; test_embed says so.
        text = site.file(path).read_text(encoding="utf-8")
        head = text[: text.index("</head>")]
        loaded = re.findall(r'(?:href|src)="(?:[./]*|/.*/)assets/((?:css|js|player)/.*?)"', text)
        assert set(loaded) == {
            "css/site.css",
            "player/collective-player.css",
            "player/collective-player.js",
            "player/site.js",
        }, path
        # Early, so that it is on its way while the page is still read.
        assert "assets/player/collective-player.js" in head, path


def test_the_sources_are_published_beside_the_bundle(site: Site):
    for path in (DOCS / "assets/js").rglob("*.js"):
        assert (site.folder / path.relative_to(DOCS)).read_bytes() == path.read_bytes()


def test_the_benchmark_page_shows_the_size_of_every_file_of_the_bundle(site: Site):
    page = site.file("algorithms/benchmark/").read_text(encoding="utf-8")
    *_, table = Article(page).tables["本站自己的程序"]
    shown = {row[0]: row[2] for row in table}
    for name, content in contents(COMMITTED).items():
        if name != player_bundle.MANIFEST:
            assert shown[name] == str(len(content))
