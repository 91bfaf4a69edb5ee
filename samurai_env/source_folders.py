"""`samurai_env.agents` and `samurai_env.experiments` in a clone, where these folders lie beside the library.

A wheel holds them inside of `samurai_env` (see `setup.py`), under the same names.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import InspectLoader, Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType

ROOT = Path(__file__).resolve().parent.parent  # of the clone
PREFIX = __name__.rpartition(".")[0] + "."


class _Alias(MetaPathFinder, Loader):
    """Finds `samurai_env.agents.spec` as the module `agents.spec`, so that there is one of it under two names."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name.startswith(f"{PREFIX}{self.folder}.") else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(spec.name.removeprefix(PREFIX))
        spec.loader_state = module.__spec__  # the import system puts `spec` in its place
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state

    def get_code(self, name: str) -> CodeType | None:
        """The code of a program, for `python -m samurai_env.experiments.NAME` as in the wheel."""
        found = find_spec(name.removeprefix(PREFIX))
        assert found is not None
        assert isinstance(found.loader, InspectLoader)
        return found.loader.get_code(found.name)


def alias(folder: str) -> None:
    """Make `samurai_env.FOLDER` another name of the clone's top-level package `FOLDER`.

    Raises:
        ImportError: it is not there, or another package of that name hides it.
    """
    if not (ROOT / folder / "__init__.py").exists():
        raise ImportError(f"{PREFIX}{folder} is not here: install the wheel, or use a clone")
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))  # at the end: it hides nobody's modules
    module = import_module(folder)
    if Path(module.__file__ or "").resolve().parent != ROOT / folder:
        raise ImportError(f"another package {folder!r}, {module.__file__}, hides that of {ROOT}: install the wheel")
    sys.meta_path.insert(0, _Alias(folder))
    sys.modules[PREFIX + folder] = module
