"""Compiling with numba so that the on-disk cache can be trusted.

numba keys a cached function by the file that defines it. Two things that matter here are not in that key:
a change of a rule in *another* file (or of a data file frozen into the code), and which game's functions
a generic loop was bound to. `jit` answers the first by stamping every cache entry with a hash of all
compiled sources, `bind` the second by giving each bound copy a qualified name of its own.

A fault of numba's own is mended here as well, which runs wrong code without a word: the name of a record type in a
compiled symbol is a number that counts up in each process. Code for two kinds of record, cached by two processes, may
thus have the same symbols, and a third process that loads both runs one in place of the other. Here the number is a
hash of the record's layout. `core.cache` sees to the files.
"""

import hashlib
import math
import types
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.core.cpu import CPUContext
from numba.extending import intrinsic

from samurai_env.core.cache import Cache, NoCache

PACKAGE = Path(__file__).resolve().parent.parent
DISPLAY = "display"  # folders of this name hold no compiled code: editing a colour recompiles nothing


def _record_name(record: numba_types.Record) -> tuple[str, tuple[int]]:
    """Name a record type in the symbols of compiled code, the same in every process."""
    return "Record", (int.from_bytes(hashlib.sha256(record.name.encode()).digest()[:7], "big"),)


numba_types.Record.mangling_args = property(_record_name)  # type: ignore[assignment, method-assign]


@cache
def _hash_folder(folder: Path) -> str:
    """SHA-256 over paths and contents of the Python and JSON files in `folder`.

    In the package, folders below count as well, except those for display; elsewhere only the folder itself.
    """
    deep = PACKAGE in folder.parents
    digest = hashlib.sha256()
    for file in sorted(
        file for kind in ("*.py", "*.json") for file in (folder.rglob(kind) if deep else folder.glob(kind))
    ):
        name = file.relative_to(folder)
        if DISPLAY not in name.parts:
            digest.update(name.as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


@cache
def source_stamp(folders: frozenset[Path]) -> str:
    """Hash of the sources in these folders."""
    parts = [f"{folder.name}:{_hash_folder(folder)}" for folder in sorted(folders)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@cache
def _source_folder(file: str) -> Path:
    """The folder that the functions in a file belong to: the whole package of a game, otherwise that of the file."""
    folder, games = Path(file).resolve().parent, PACKAGE / "games"
    return games / folder.relative_to(games).parts[0] if games in folder.parents else folder


def _folders_behind(function: Callable[..., Any]) -> frozenset[Path]:
    """The folders of all sources that a compiled function may depend on: its own, the core, those of what it calls."""
    names, scope = function.__code__.co_names, function.__globals__
    called = [scope.get(name) for name in names]
    called += [
        getattr(module, name, None) for module in called if isinstance(module, types.ModuleType) for name in names
    ]
    behind: list[frozenset[Path]] = [getattr(dispatcher, "source_folders", frozenset()) for dispatcher in called]
    return frozenset({PACKAGE / "core", _source_folder(function.__code__.co_filename)}.union(*behind))


def _argument(given: Any) -> Any:
    """The type as which compiled code hands on a value: whole numbers, also constants, as int64."""
    plain = numba_types.unliteral(given)
    return numba_types.int64 if plain in numba_types.signed_domain else plain


def _share_code(dispatcher: Any) -> None:
    """Let callers that are compiled themselves share one signature, whatever the width of the numbers they hand on.

    Otherwise numba compiles `f(0)`, `f(1)` and `f(seat)` with an int8 one by one, and for `used = 1` before a loop with
    `used = f(used)` once for the constant and again for the variable: a quarter of what a search compiles.
    """
    template = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return template(tuple(map(_argument, args)), {name: _argument(given) for name, given in kws.items()})

    dispatcher.get_call_template = get_call_template


def _forget_types(dispatcher: Any) -> None:
    """Keep compiled code without the types of all its variables: most of the memory of a process that compiles."""
    add_overload = dispatcher.add_overload
    dispatcher.add_overload = lambda result: add_overload(result._replace(type_annotation=None))


def jit(function: Callable[..., Any], inline: bool = False) -> Any:
    """Compile `function` with numba: cached on disk, without the GIL, without bounds checks.

    Args:
        function: free function over records, arrays and numbers.
        inline: put its code into its callers'. See `inlined`.

    Returns:
        The numba dispatcher. Stale and damaged cache entries are ignored and then overwritten, so an edited
        rule is never run in its old form. Without a writable place for the cache it just compiles. In what is
        compiled, loops copy arrays: for `a[:] = b` numba compiles the text of an error first, for seconds, and a GPU
        cannot run it. Arrays are made by `scratch`.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "forceinline": inline, "no_cfunc_wrapper": True}
    dispatcher: Any = numba.njit(**options)(function)
    dispatcher.source_folders = _folders_behind(function)
    _share_code(dispatcher)
    _forget_types(dispatcher)
    try:
        dispatcher._cache = Cache(function, partial(source_stamp, dispatcher.source_folders))
    except RuntimeError:  # numba found no directory that it may write to
        dispatcher._cache = NoCache(function)
    return dispatcher


def inlined(function: Callable[..., Any]) -> Any:
    """`jit` for short functions on the hot path, whose code becomes a part of their callers'.

    A call that hands on a record or a row of an array otherwise counts a reference up and down, atomically, and keeps
    the compiler from making vectors of kernels: half of the time of an observation. Callers take longer to compile.
    """
    return jit(function, inline=True)


@intrinsic(prefer_literal=True)
def scratch(typing_context: Any, shape: Any, dtype: Any) -> Any:
    """An array on the stack of the compiled function that asks for it, not initialized: free, and possible on a GPU.

    It must not leave the function, but for those that it calls.

    Args:
        typing_context: numba's.
        shape: a constant, or a tuple of constants.
        dtype: a NumPy scalar type or numba's type of a record.
    """
    sizes = [size.literal_value for size in getattr(shape, "types", (shape,))]
    element = getattr(dtype, "instance_type", None) or dtype.dtype
    array = numba_types.Array(element, len(sizes), "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_data_type(element)
        size = context.get_abi_sizeof(kind)
        strides = [size * math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
        with builder.goto_entry_block():
            memory = builder.alloca(ir.ArrayType(kind, math.prod(sizes)))
            memory.align = 8
        made = context.make_array(array)(context, builder)
        made.data = builder.bitcast(memory, kind.as_pointer())
        made.nitems = context.get_constant(numba_types.intp, math.prod(sizes))
        made.itemsize = context.get_constant(numba_types.intp, size)
        made.shape = cgutils.pack_array(builder, [context.get_constant(numba_types.intp, n) for n in sizes])
        made.strides = cgutils.pack_array(builder, [context.get_constant(numba_types.intp, n) for n in strides])
        made.meminfo = cgutils.get_null_value(made.meminfo.type)
        made.parent = cgutils.get_null_value(made.parent.type)
        return made._getvalue()

    return array(shape, dtype), generate


@intrinsic
def called_on_gpu(typing_context: Any) -> Any:
    """Make a GPU call the function that says this, where its compiler would copy it into each caller.

    A function that is called from many places otherwise fills the registers of a kernel, which spill. On a CPU it is
    without effect.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not isinstance(context, CPUContext):
            builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return numba_types.void(), generate


def bind(template: Callable[..., Any], owner: str, functions: dict[str, Any], inline: bool = False) -> Any:
    """Compile a copy of `template` in which the global names of `functions` mean one game's functions.

    Args:
        template: a plain Python function that calls, for example, `step(state, action)` as a global.
        owner: the game's name; it becomes part of the copy's qualified name and so of its cache file.
        functions: the compiled functions that take the place of those names.
        inline: see `jit`.
    """
    scope = {**template.__globals__, **functions}
    copy = types.FunctionType(template.__code__, scope, template.__name__, template.__defaults__)
    copy.__qualname__ = f"{template.__qualname__}.{owner}"
    copy.__module__ = template.__module__
    copy.__doc__ = template.__doc__
    return jit(copy, inline)
