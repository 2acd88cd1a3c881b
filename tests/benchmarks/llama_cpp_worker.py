# SPDX-License-Identifier: GPL-3.0-or-later
"""The llama.cpp side of compare_llama_cpp.py, run by the Python of the throw-away environment.

Holds one model and one llama.cpp context per cache (type, flash attention), so that a depth is filled once however
many rounds follow. Speaks one JSON document a line: commands on stdin, answers on stdout.

What is timed is llama_decode + llama_synchronize on plain token arrays: the forward pass to the logits of the last
token. Nothing is sampled, and Python's own work lies outside the clock but for two foreign calls (microseconds).
"""
import ctypes
import json
import sys
import time

import llama_cpp as llama

TYPES = {"f16": llama.GGML_TYPE_F16, "q8_0": llama.GGML_TYPE_Q8_0, "q4_0": llama.GGML_TYPE_Q4_0}
PROMPT_BATCH = 512  # n_batch and n_ubatch: llama.cpp's own default for the physical batch

log_lines = []


@llama.llama_log_callback
def keep_log(_level, text, _user_data):
    log_lines.append(text.decode("utf-8", "replace"))


class Cache:
    """One context; `length` tokens of the text are in its cache."""

    def __init__(self, model, kind, flash, n_ctx, threads):
        params = llama.llama_context_default_params()
        params.n_ctx = n_ctx
        params.n_batch = params.n_ubatch = PROMPT_BATCH
        params.n_seq_max = 1
        params.n_threads = params.n_threads_batch = threads
        params.type_k = params.type_v = TYPES[kind]
        params.flash_attn_type = (
            llama.LLAMA_FLASH_ATTN_TYPE_ENABLED if flash else llama.LLAMA_FLASH_ATTN_TYPE_DISABLED
        )
        log_lines.clear()
        self.context = llama.llama_init_from_model(model, params)
        if not self.context:
            raise RuntimeError(f"llama.cpp refused a {kind} cache: {''.join(log_lines[-3:]).strip()}")
        # "attn_rot_k = 1": this version rotates the quantized keys (values) by a Hadamard matrix and does so here.
        self.rotates = {side: any(f"attn_rot_{side} = 1" in line for line in log_lines) for side in "kv"}
        self.memory = llama.llama_get_memory(self.context)
        self.length = 0

    def cut(self, length):
        if length < self.length:
            llama.llama_memory_seq_rm(self.memory, -1, length, -1)
            self.length = length

    def decode(self, tokens):
        """Seconds of one llama_decode of these tokens, which follow the cached ones."""
        array = (llama.llama_token * len(tokens))(*tokens)
        batch = llama.llama_batch_get_one(array, len(tokens))
        start = time.perf_counter()
        status = llama.llama_decode(self.context, batch)
        llama.llama_synchronize(self.context)
        seconds = time.perf_counter() - start
        if status != 0:
            raise RuntimeError(f"llama_decode failed with status {status} after {self.length} tokens")
        self.length += len(tokens)
        return seconds


class Worker:
    def __init__(self):
        self.caches = {}

    def open(self, model, threads, n_ctx, caches):
        llama.llama_backend_init()
        self.model = llama.llama_model_load_from_file(model.encode(), llama.llama_model_default_params())
        if not self.model:
            raise RuntimeError(f"llama.cpp cannot read the model: {''.join(log_lines[-3:]).strip()}")
        for name, kind, flash in caches:
            self.caches[name] = Cache(self.model, kind, flash, n_ctx, threads)
        return {
            "version": llama.__version__,
            "context_length": llama.llama_model_n_ctx_train(self.model),
            "system": llama.llama_print_system_info().decode().strip(),
            "rotates": {name: cache.rotates for name, cache in self.caches.items()},
        }

    def fill(self, cache, text, length):
        """Brings the cache to `length` tokens of the repeated text; seconds and tokens that this took."""
        cache = self.caches[cache]
        cache.cut(length)
        tokens = [text[i % len(text)] for i in range(cache.length, length)]
        seconds = sum(cache.decode(tokens[i:i + PROMPT_BATCH]) for i in range(0, len(tokens), PROMPT_BATCH))
        return {"seconds": seconds, "tokens": len(tokens)}

    def steps(self, cache, text, count):
        """Seconds of each of `count` tokens decoded one at a time; the cache is then cut to its length before."""
        cache = self.caches[cache]
        start = cache.length
        seconds = [cache.decode([text[(start + i) % len(text)]]) for i in range(count)]
        cache.cut(start)
        return {"seconds": seconds}


def main():
    llama.llama_log_set(keep_log, ctypes.c_void_p(0))
    worker = Worker()
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = getattr(worker, command.pop("do"))(**command)
        except RuntimeError as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


main()
