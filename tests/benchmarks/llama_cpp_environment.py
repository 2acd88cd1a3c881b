# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds llama.cpp from the source package llama-cpp-python into a virtual environment. Standard library only."""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = "llama-cpp-python"
VERSION = "0.3.36"
# For the CPU it is built on, without BLAS (Kvasir uses none either) and without the image parts. GGML_NATIVE is
# llama.cpp's default; it is named because the default turns itself off where SOURCE_DATE_EPOCH is set.
CMAKE_ARGS = "-DGGML_NATIVE=ON -DGGML_BLAS=OFF -DLLAVA_BUILD=OFF"
STAMP = "kvasir-comparison.json"  # what an environment holds, so that only a fitting one is used again

UNREACHABLE = re.compile(
    r"name resolution|NewConnectionError|ConnectTimeout|Max retries exceeded|ProxyError|Connection refused|"
    r"Network is unreachable|CERTIFICATE_VERIFY_FAILED|from versions: none"
)


class Problem(Exception):
    """One sentence for the user: what, where, why, what to do."""

    def __init__(self, sentence, status=1):
        super().__init__(sentence)
        self.status = status


def say(text):
    print(f"compare_llama_cpp: {text}", file=sys.stderr, flush=True)


def check_compiler():
    wanted = [os.environ["CXX"].split()[0]] if os.environ.get("CXX") else ["c++", "g++", "clang++"]
    if not any(shutil.which(name) for name in wanted):
        raise Problem(
            f"llama.cpp cannot be built: no C++ compiler is here (looked for {', '.join(wanted)}). "
            "Run tools/install-packages, or set CXX."
        )


def run_logged(command, log, env=None):
    with open(log, "a", encoding="utf-8") as sink:
        return subprocess.run(command, stdout=sink, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              env=env).returncode


def tail(log, lines=15):
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def build(folder, version, log):
    check_compiler()
    say(f"making a Python environment in {folder}")
    if run_logged([sys.executable, "-m", "venv", str(folder)], log):
        raise Problem(
            f"Python could not make a virtual environment in {folder}:\n{tail(log)}\n"
            "On Debian the module for it is in the package python3-venv; install that and try again."
        )
    say(f"building llama.cpp out of {PACKAGE} {version}; this takes minutes (log: {log})")
    env = dict(os.environ, CMAKE_ARGS=CMAKE_ARGS)
    # No pip cache: it may hold a build made with other settings or for another CPU.
    status = run_logged(
        [str(folder / "bin/python"), "-m", "pip", "install", "--no-binary", PACKAGE, "--no-cache-dir", "--no-input",
         "--disable-pip-version-check", "-v", f"{PACKAGE}=={version}"],
        log, env,
    )
    if status == 0:
        return
    text = log.read_text(encoding="utf-8", errors="replace")
    if UNREACHABLE.search(text):
        raise Problem(
            f"pip could not fetch {PACKAGE} {version} or what its build needs: no package index answered. "
            "Try again with a network, or name an environment that is ready with --venv DIR."
        )
    if "No matching distribution found" in text:
        raise Problem(f"pip found no {PACKAGE} {version} in source form. Name another one with --package-version.", 2)
    raise Problem(f"pip could not build {PACKAGE} {version}. The end of its log:\n{tail(log)}")


def prepare(folder, version):
    """Path of a Python that can import llama_cpp of that version: built anew, or found ready in `folder`."""
    python, stamp, log = folder / "bin/python", folder / STAMP, folder.with_name(folder.name + "-build.log")
    wanted = {"version": version, "cmake_args": CMAKE_ARGS}
    if folder.exists() and any(folder.iterdir()):
        if not stamp.is_file():
            raise Problem(
                f"{folder} holds something that this script did not finish making. Remove it, or name another place "
                "with --venv.", 2)
        found = json.loads(stamp.read_text(encoding="utf-8"))
        if found != wanted:
            raise Problem(
                f"the environment in {folder} was built as {found}, wanted is {wanted}. Remove it, or name another "
                "place with --venv.", 2)
        say(f"using the environment in {folder}")
        return python
    folder.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    build(folder, version, log)
    stamp.write_text(json.dumps(wanted), encoding="utf-8")
    return python
