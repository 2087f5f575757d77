"""Modules that are in memory before a program imports them, and that it does not see before it does.

Who looks at sys.modules, at a package's attributes, at the filters of warnings or at the environment finds what a new
process would show there: flytekit, for one, asks what is imported and registers more where pandas is. What
came with one import is a pack; a pack comes back as a whole, with the packs that it uses, when one of its modules is imported.
Modules of Python itself stay where they are.
"""

import os
import sys
import warnings


class Pack:
    """What one import has loaded."""

    def __init__(self):
        #: By name: the module, its class and its spec, which importlib's LazyLoader would replace.
        self.modules = {}
        #: Attributes by which packages hold their modules.
        self.bound = []
        self.uses = []
        self.variables = {}
        self.filters = []
        self.out = False


class Stowed:
    """A finder, the first of sys.meta_path."""

    def __init__(self):
        self._pack_of = {}

    def modules(self):
        """All of them, by name."""
        return {name: pack.modules[name][0] for name, pack in self._pack_of.items()}

    def load(self, name, import_module):
        """Imports a module and stows what came with it, also where the import failed."""
        before, variables, filters = set(sys.modules), dict(os.environ), list(warnings.filters)
        try:
            import_module(name)
        except Exception as error:
            print(f"{name}: {error!r}", file=sys.stderr, flush=True)
        pack = Pack()
        for found in [module for module in sys.modules if module not in before]:
            earlier = self._pack_of.get(found)
            if earlier is not None:
                if earlier not in pack.uses:
                    pack.uses.append(earlier)
            elif may_be_stowed(found, sys.modules[found]):
                self._pack_of[found] = pack
                pack.modules[found] = sys.modules[found], type(sys.modules[found]), sys.modules[found].__spec__
        for found, (module, _, _) in pack.modules.items():
            parent, _, attribute = found.rpartition(".")
            if parent and vars(sys.modules[parent]).get(attribute) is module:
                pack.bound.append((sys.modules[parent], attribute, module))
        after = dict(os.environ)
        pack.variables = {key: value for key, value in after.items() if variables.get(key) != value}
        pack.filters = [one for one in warnings.filters if one not in filters]
        for one in (pack, *pack.uses):
            one.out = False
            for found in one.modules:
                sys.modules.pop(found, None)
            for parent, attribute, _ in one.bound:
                vars(parent).pop(attribute, None)
        for key in after.keys() - variables.keys():
            del os.environ[key]
        os.environ.update({key: value for key, value in variables.items() if after.get(key) != value})
        set_filters(filters)

    def bring_back(self, pack):
        """As if it had been imported now."""
        if pack.out:
            return
        for used in pack.uses:
            self.bring_back(used)
        for module, kind, spec in pack.modules.values():
            if type(module) is not kind:
                module.__class__ = kind
            if module.__spec__ is not spec:
                module.__spec__ = spec
                module.__loader__ = spec.loader
        for parent, attribute, module in pack.bound:
            setattr(parent, attribute, module)
        sys.modules.update({name: module for name, (module, _, _) in pack.modules.items()})
        os.environ.update({key: value for key, value in pack.variables.items() if os.environ.get(key) != value})
        set_filters([*pack.filters, *(one for one in warnings.filters if one not in pack.filters)])
        pack.out = True

    def find_spec(self, name, path=None, target=None):
        pack = self._pack_of.get(name)
        if pack is None or pack.out:
            return None
        # Only what would be found now: who has put a folder before the others means it.
        for finder in sys.meta_path:
            found = finder.find_spec(name, path, target) if finder is not self and hasattr(finder, "find_spec") else None
            if found is not None:
                module, _, spec = pack.modules[name]
                if found.origin == spec.origin:
                    found.loader = Giving(found.loader, module, lambda: self.bring_back(pack))
                return found
        return None


class Giving:
    """A loader of what is loaded. Works below LazyLoader too: nothing comes back before `exec_module`."""

    def __init__(self, loader, module, bring_back):
        self._loader = loader
        self._module = module
        self._bring_back = bring_back

    def create_module(self, spec):
        return self._module

    def exec_module(self, module):
        self._bring_back()

    def __getattr__(self, name):
        return getattr(self._loader, name)


def may_be_stowed(name, module):
    """Not what belongs to Python, nor what was not made by a loader: the types that Cython's modules share."""
    spec = getattr(module, "__spec__", None)
    return spec is not None and spec.loader is not None and name.partition(".")[0] not in getattr(sys, "stdlib_module_names", ())


def set_filters(filters):
    if warnings.filters == filters:
        return
    warnings.filters[:] = filters
    # The interpreter keeps what it found before; adding one tells it that they are others.
    warnings.simplefilter("ignore", type("Changed", (Warning,), {}))
    del warnings.filters[0]
