#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decode speed of Kvasir and of llama.cpp side by side: the same GGUF, text, depths, threads and cache types.

llama.cpp is built from the source package llama-cpp-python in a throw-away environment (about 80 MB of download and
some minutes). Rounds of the two alternate, so that a busy machine disturbs both alike. A benchmark, not a test: it
judges nothing by its exit status. README.md in this folder says what the figures mean."""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from llama_cpp_environment import VERSION, Problem, prepare, say

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TEXT = ROOT / "resources/texts/lighthouse.txt"  # the text that `kvasir-cli bench` fills its caches with
MODEL = "kvasir/models/SmolLM2-135M-Instruct.Q4_1.gguf"  # below the user's data folder; see tools/fetch-model
WARM_UP = 2    # decode steps before the clock runs, as in `kvasir-cli bench`
PROMPT = 512   # tokens of the prefill figure
# llama.cpp's flash-attention settings for each cache type: it refuses a quantized V cache without.
FLASH = {"f16": (False, True), "q8_0": (True,), "q4_0": (True,)}
UNSTEADY = 1.2  # ratios of rounds further apart than this mean that other work was in the way
# What Kvasir wants to reach: lowest and highest depth, least ratio, wanted ratio. The model's context ends at 8192
# tokens, so "8k" is measured a little below.
AIMS = ((0, 0, 1.05, 1.3), (3968, 4224, 2.5, 4.0), (7680, 8192, 3.0, 6.0))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, metavar="FILE",
                        help="GGUF file (default: what tools/fetch-model put in place)")
    parser.add_argument("--kvasir-cli", type=Path, metavar="FILE", default=ROOT / "build/release/app/kvasir-cli",
                        help="default: the one in build/release")
    parser.add_argument("--depths", metavar="LIST", default="0,1024,4096,7936",
                        help="tokens in the cache (default: %(default)s)")
    parser.add_argument("--caches", metavar="LIST", default="f16,q8_0,q4_0", help="default: %(default)s")
    parser.add_argument("--threads", type=int, metavar="N", default=2, help="for both (default: %(default)s)")
    parser.add_argument("--tokens", type=int, metavar="N", default=32,
                        help="decode steps per figure (default: %(default)s)")
    parser.add_argument("--rounds", type=int, metavar="N", default=3,
                        help="default: %(default)s; each fills Kvasir's cache anew")
    parser.add_argument("--venv", type=Path, metavar="DIR",
                        help="keep the environment in DIR, and use it when it is there")
    parser.add_argument("--keep", action="store_true", help="keep the throw-away environment and say where it is")
    parser.add_argument("--package-version", metavar="V", default=VERSION,
                        help="of llama-cpp-python (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    options = parser.parse_args()
    try:
        options.depths = sorted({int(d) for d in options.depths.split(",")})
    except ValueError:
        parser.error("--depths takes numbers, for example 0,4096")
    options.caches = options.caches.split(",")
    if unknown := [c for c in options.caches if c not in FLASH]:
        parser.error(f"--caches knows {', '.join(FLASH)}, not {', '.join(unknown)}")
    if min(options.depths) < 0 or min(options.threads, options.tokens, options.rounds) < 1:
        parser.error("--depths may not be negative; --threads, --tokens and --rounds are at least 1")
    return options


def find_model(named):
    if named is None and os.environ.get("KVASIR_MODEL"):
        named = Path(os.environ["KVASIR_MODEL"])
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    model = named or Path(data) / MODEL
    if not model.is_file():
        raise Problem(f"the model is missing: {model} is no file. " +
                      ("Correct the name." if named else "Run tools/fetch-model, or name a GGUF file with --model."), 3)
    return model.resolve()


class Kvasir:
    def __init__(self, program, model, threads):
        if not (program.is_file() and os.access(program, os.X_OK)):
            raise Problem(f"kvasir-cli is missing: {program} is no program. Build it (cmake --preset release && "
                          "cmake --build --preset release --target kvasir-cli), or name it with --kvasir-cli.")
        self.program, self.model, self.threads = program, model, threads
        self.last = None  # the document of the latest bench

    def ask(self, command, *options):
        done = subprocess.run([str(self.program), command, "--json", "--model", str(self.model), *options],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise Problem(f"kvasir-cli {command} failed with status {done.returncode}: {reason}")
        return json.loads(done.stdout)

    def text(self):
        return self.ask("tokenize", "--text", str(TEXT))["ids"]

    def bench(self, spec, depth, tokens):
        """Median decode and prefill rate, tokens/s."""
        self.last = self.ask("bench", "--quiet", "--threads", str(self.threads), "--cache", spec, "--depth",
                             str(depth), "--tokens", str(tokens))
        row = self.last["results"][0]
        return row["decode_tokens_per_second"]["median"], row["prefill_tokens_per_second"]


class LlamaCpp:
    def __init__(self, python):
        self.process = subprocess.Popen([str(python), str(HERE / "llama_cpp_worker.py")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, do, **values):
        try:
            self.process.stdin.write(json.dumps({"do": do, **values}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Problem(f"the llama.cpp process ended at the command '{do}'; its last words stand above.")
        answer = json.loads(line)
        if "error" in answer:
            raise Problem(f"llama.cpp, '{do}': {answer['error']}.")
        return answer

    def close(self):
        self.process.kill()
        self.process.wait()


def upper_median(values):
    return sorted(values)[len(values) // 2]  # as in `kvasir-cli bench`


def contexts_of(cache):
    """Names of llama.cpp's contexts for a cache type, and their flash-attention settings."""
    return {f"{cache}, fa {'on' if flash else 'off'}": flash for flash in FLASH[cache]}


def summary(depth, cache, kvasir, llama):
    """One row: each side's best round, for other work on the machine only ever slows; llama.cpp's faster setting; the
    ratio of the two, and of each round by itself."""
    best = max(llama, key=lambda name: max(llama[name]))
    ours, theirs = max(kvasir), max(llama[best])
    ratios = [a / b for a, b in zip(kvasir, llama[best])]
    return {"depth": depth, "cache": cache, "kvasir": ours, "llama_cpp": theirs,
            "flash_attention": contexts_of(cache)[best], "ratio": ours / theirs,
            "ratio_min": min(ratios), "ratio_max": max(ratios), "rounds": {"kvasir": kvasir, **llama}}


class Comparison:
    def __init__(self, options, kvasir, llama):
        self.options, self.kvasir, self.llama = options, kvasir, llama
        self.text = kvasir.text()
        longest = max(options.depths + [PROMPT]) + WARM_UP + options.tokens + 1
        self.opened = llama.ask(
            "open", model=str(kvasir.model), threads=options.threads, n_ctx=-(-longest // 256) * 256,
            caches=[(name, cache, flash) for cache in options.caches for name, flash in contexts_of(cache).items()])
        context = self.opened["context_length"]
        if longest > context:
            raise Problem(f"--depths go up to {max(options.depths)}, the model's context is {context} tokens. "
                          f"Use {context - WARM_UP - options.tokens - 1} or less.", 2)
        self.specs = {cache: self.spec(cache) for cache in options.caches}
        self.decode_rows, self.prefill_rows = [], []
        self.filled = {name: 0.0 for name in self.opened["rotates"]}  # seconds of llama.cpp to the present depth

    def spec(self, cache):
        """Kvasir's cache of the same kind: llama.cpp's types, rotated when this llama.cpp does it."""
        if cache == "f16":
            return "fp16"
        rotated = all(self.opened["rotates"][next(iter(contexts_of(cache)))].values())
        return f"ggml:{cache}" if rotated else f"ggml:{cache},rotate=off"

    def rounds(self, what, cache, one_kvasir, one_llama):
        """Kvasir, llama.cpp with each setting, Kvasir, ...: rates by side."""
        kvasir, llama = [], {name: [] for name in contexts_of(cache)}
        for i in range(self.options.rounds):
            kvasir.append(one_kvasir())
            for name, rates in llama.items():
                rates.append(one_llama(name))
            say(f"{what}, round {i + 1}: Kvasir {self.specs[cache]} {kvasir[-1]:.1f}/s; llama.cpp " +
                "; ".join(f"{name} {rates[-1]:.1f}/s" for name, rates in llama.items()))
        return kvasir, llama

    def prefill(self, cache):
        """Rate of a prompt of 512 tokens into an empty cache."""
        def one_llama(name):
            self.llama.ask("fill", cache=name, text=self.text, length=0)
            return PROMPT / self.llama.ask("fill", cache=name, text=self.text, length=PROMPT)["seconds"]

        for name in contexts_of(cache):  # once untimed: the first pass touches weights and buffers
            one_llama(name)
        return summary(PROMPT, cache, *self.rounds(f"prefill of {PROMPT}", cache, lambda: self.kvasir.bench(
            self.specs[cache], PROMPT, 1)[1], one_llama))

    def decode(self, cache, depth):
        """Rows of the decode rate at a depth and of the prefill that led there. llama.cpp's cache is filled on from
        the depth before and cut back after each round; at depth 0 both start from a prompt of one token."""
        prefill = []

        def one_kvasir():
            rate, filling = self.kvasir.bench(self.specs[cache], depth, self.options.tokens)
            prefill.append(filling)
            return rate

        def one_llama(name):
            steps = self.llama.ask("steps", cache=name, text=self.text, count=WARM_UP + self.options.tokens)
            return upper_median([1 / s for s in steps["seconds"][WARM_UP:]])

        for name in contexts_of(cache):
            self.filled[name] += self.llama.ask("fill", cache=name, text=self.text, length=max(depth, 1))["seconds"]
        row = summary(depth, cache, *self.rounds(f"depth {depth}", cache, one_kvasir, one_llama))
        rates = {name: [max(depth, 1) / self.filled[name]] for name in contexts_of(cache)}
        return row, summary(depth, cache, [max(prefill)], rates)

    def run(self):
        """Rows go into decode_rows and prefill_rows as they are measured: an interrupted run keeps them."""
        for cache in self.options.caches:
            self.prefill_rows.append(self.prefill(cache))
        for name in self.filled:
            self.llama.ask("fill", cache=name, text=self.text, length=0)
        for depth in self.options.depths:
            for cache in self.options.caches:
                row, filling = self.decode(cache, depth)
                self.decode_rows.append(row)
                if depth > PROMPT:
                    self.prefill_rows.append(filling)


def aim_of(row):
    for lowest, highest, floor, goal in AIMS:
        if lowest <= row["depth"] <= highest:
            reached = "goal" if row["ratio"] >= goal else "floor" if row["ratio"] >= floor else "below floor"
            return f"{floor:>6g} {goal:>5g}  {reached}"
    return f"{'-':>6} {'-':>5}"


def print_rows(rows, title, with_aims):
    print(f"\n{title}")
    print(f"{'depth':>6}  {'cache':<5} {'Kvasir':>8} {'llama.cpp':>10}  {'fa':<3} {'ratio':>6}  of rounds" +
          (f"{'floor':>10} {'goal':>5}" if with_aims else ""))
    for row in rows:
        once = len(row["rounds"]["kvasir"]) == 1
        spread = "once" if once else f"{row['ratio_min']:.2f} - {row['ratio_max']:.2f}"
        line = (f"{row['depth']:>6}  {row['cache']:<5} {row['kvasir']:>8.1f} {row['llama_cpp']:>10.1f}  "
                f"{'on' if row['flash_attention'] else 'off':<3} {row['ratio']:>6.2f}  {spread:<13}")
        print((line + aim_of(row) if with_aims else line).rstrip())


def cpu_name():
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "unknown CPU"
    wanted = {key: next((line.split(":", 1)[1].strip() for line in lines if line.split(":")[0].strip() == key), "?")
              for key in ("model name", "cpu family", "model")}
    return f"{wanted['model name']} (family {wanted['cpu family']}, model {wanted['model']})"


def report(options, comparison, machine):
    own, opened = comparison.kvasir.last, comparison.opened
    quantized = [cache for cache in options.caches if cache != "f16"]
    print(f"Kvasir {own['kvasir']['version']} ({own['kvasir']['build']}, {own['kvasir']['kernels']}) and llama.cpp of "
          f"llama-cpp-python {opened['version']}")
    print(f"llama.cpp: {opened['system']}")
    print(f"{comparison.kvasir.model.name}: weights {own['model']['weights']}, run by Kvasir as "
          f"{own['model']['weights_as_run']}, by llama.cpp as they are")
    print(f"{machine['cpu']}, {machine['cores']} cores, {options.threads} threads each, load average "
          f"{machine['load_before']:.1f} before and {machine['load_after']:.1f} after, nice {machine['nice']}")
    for cache in quantized:
        rotates = opened["rotates"][next(iter(contexts_of(cache)))]
        sides = [name for side, name in (("k", "keys"), ("v", "values")) if rotates[side]]
        print(f"{cache}: llama.cpp {'rotates ' + ' and '.join(sides) if sides else 'rotates nothing'}; Kvasir runs "
              f"{comparison.specs[cache]}")
    print(f"Figures are tokens/s, each side's best of {options.rounds} rounds in turn; decode: the median of "
          f"{options.tokens} steps of a round. A step is one\nforward pass to the logits; sampling is in neither. "
          "fa: llama.cpp's flash attention, the faster setting\n(a quantized V cache has only 'on').")
    print_rows(comparison.decode_rows, "Decode, one token at a time", True)
    print_rows(comparison.prefill_rows, "Prefill from an empty cache to this depth", False)
    if any(row["ratio_max"] > UNSTEADY * row["ratio_min"] for row in comparison.decode_rows):
        print(f"\nThe ratios of single rounds lie more than a factor of {UNSTEADY} apart: the machine was busy with "
              "other work.\nRepeat this on an idle one before relying on it.")


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the throw-away environment goes
    kvasir = Kvasir(options.kvasir_cli, find_model(options.model), options.threads)
    with tempfile.TemporaryDirectory(prefix="kvasir-llama-cpp-") as scratch:
        place = options.venv.resolve() if options.venv else Path(scratch) / "venv"
        if options.keep and not options.venv:
            place = Path(tempfile.mkdtemp(prefix="kvasir-llama-cpp-kept-")) / "venv"
        python = prepare(place, options.package_version)
        if options.keep:
            say(f"the environment stays in {place}; use it again with --venv {place}")
        machine = {"cpu": cpu_name(), "cores": os.cpu_count(), "nice": os.nice(0),
                   "load_before": os.getloadavg()[0]}
        llama, complete = LlamaCpp(python), True
        try:
            comparison = Comparison(options, kvasir, llama)
            comparison.run()
        except KeyboardInterrupt:
            if not kvasir.last:
                raise
            complete = False
        finally:
            llama.close()
    machine["load_after"] = os.getloadavg()[0]
    report(options, comparison, machine)
    if options.json:
        document = {"complete": complete, "kvasir": kvasir.last["kvasir"], "model": kvasir.last["model"],
                    "llama_cpp": comparison.opened, "machine": machine, "threads": options.threads,
                    "tokens": options.tokens, "specs": comparison.specs, "decode": comparison.decode_rows,
                    "prefill": comparison.prefill_rows}
        try:
            options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise Problem(f"the figures could not be written to {options.json}: {error.strerror}.")
    if not complete:
        say("interrupted; what was measured stands above")
        sys.exit(130)


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        print(f"compare_llama_cpp: error: {problem}", file=sys.stderr)
        sys.exit(problem.status)
    except KeyboardInterrupt:
        say("interrupted before anything was measured")
        sys.exit(130)
