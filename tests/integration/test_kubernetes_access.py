"""Who we are to a Kubernetes API: real TLS, a token file, a kubeconfig, and what is refused."""

from __future__ import annotations

import base64
import json
import ssl
from pathlib import Path
from typing import Any

import pytest

from affidavit.adapters.cluster_tables import KubernetesTable
from affidavit.adapters.kubernetes_access import open_access
from affidavit.adapters.live_backends import Finding, LiveConfig, probe_backends
from affidavit.contract.errors import InputRefused
from tests.support.certificates import Authority, Paper
from tests.support.cluster import Cluster
from tests.support.http_stage import Stage, stage
from tests.support.live_runs import live_settings

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

TOKEN = "eyJhbGciOi.aGVsbG8.dG9rZW4"


async def probed(there: Stage, **table: object) -> Finding:
    told = live_settings(
        (f"127.0.0.1:{there.port}",), kubernetes={"main": {"namespaces": ("shop",), **table}}
    )
    (finding,) = await probe_backends(LiveConfig(told.backends, told.outgoing, {}))
    return finding


def serve(context: ssl.SSLContext) -> Any:
    return stage(Cluster().answer, context)


async def test_a_token_file_and_a_private_authority(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    token = tmp_path / "token"
    token.write_text(f"{TOKEN}\n")
    credential = {"bearer-file": str(token)}
    with serve(authority.server()) as there:
        table = {"url": there.url, "credential": credential}
        finding = await probed(there, **table, **{"ca-file": str(authority.file)})
        assert finding.ok, finding
        assert there.seen[0].headers["authorization"] == f"Bearer {TOKEN}"
        stranger = await probed(there, **table)
    assert (stranger.ok, stranger.code) == (False, "CERTIFICATE_REFUSED")
    assert TOKEN not in stranger.message


def kubeconfig(folder: Path, server: str, authority: Authority, user: dict[str, str]) -> Path:
    ours = {"server": server, "certificate-authority-data": b64(authority.file)}
    told = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": ours}],
        "users": [{"name": "u", "user": user}],
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(told))
    return file


def b64(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()


def of_client(paper: Paper) -> dict[str, str]:
    return {
        "client-certificate-data": b64(paper.certificate),
        "client-key-data": b64(paper.key),
    }


async def test_a_kubeconfig_with_a_client_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with serve(authority.server(asks=True)) as there:
        file = kubeconfig(tmp_path, there.url, authority, of_client(authority.sign("reader")))
        finding = await probed(there, kubeconfig=str(file))
        assert finding.ok, finding
        nobody = kubeconfig(tmp_path, there.url, authority, {"token": TOKEN})
        refused = await probed(there, kubeconfig=str(nobody))
    assert not refused.ok


async def test_a_kubeconfig_with_files_beside_it(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    (tmp_path / "token").write_text(TOKEN)
    with serve(authority.server()) as there:
        file = kubeconfig(tmp_path, there.url, authority, {"tokenFile": "token"})
        assert (await probed(there, kubeconfig=str(file))).ok
    assert there.seen[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ('"token"', '"exec"', "exec"),
        ('"certificate-authority-data"', '"insecure-skip-tls-verify"', "insecure-skip-tls-verify"),
        ('"server"', '"proxy-url"', "proxy-url"),
        ('"here"', '"elsewhere"', ""),
        ('"current-context": "here"', '"current-context": "gone"', "gone"),
        ("{", "&a [*a", "plain YAML"),
        ('"apiVersion"', "\x00", "plain YAML"),
    ],
)
def test_what_is_no_plain_kubeconfig_is_refused_without_its_content(
    tmp_path: Path, old: str, new: str, word: str
) -> None:
    authority = Authority(tmp_path)
    file = kubeconfig(tmp_path, "https://127.0.0.1:6443", authority, {"token": TOKEN})
    changed = file.read_text().replace(old, new, 1)
    assert changed != file.read_text()
    file.write_text(changed)
    table = KubernetesTable.model_validate({"kubeconfig": str(file), "namespaces": ("shop",)})
    with pytest.raises(InputRefused) as refused:
        open_access(table, {})
    assert refused.value.code == "KUBECONFIG_REFUSED"
    assert word in refused.value.message
    assert TOKEN not in refused.value.message


def test_either_a_url_or_a_kubeconfig() -> None:
    for table in ({}, {"url": "https://x", "kubeconfig": "y"}):
        with pytest.raises(ValueError, match="either url or kubeconfig"):
            KubernetesTable.model_validate({"namespaces": ("shop",), **table})


@pytest.mark.parametrize("name", ["", "Shop", "a/b", "..", "a?x", "kube system"])
def test_a_namespace_is_a_name_and_nothing_else(name: str) -> None:
    with pytest.raises(ValueError, match="namespaces"):
        KubernetesTable.model_validate({"url": "https://x", "namespaces": (name,)})
