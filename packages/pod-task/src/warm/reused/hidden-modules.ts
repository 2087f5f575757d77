/**
 * Python classes that hide modules until a program imports them: those of the local stack's fork
 * server, to whose file a test compares them. They need `os`, `sys` and `warnings`.
 */
export const HIDDEN_MODULES = `class ModuleBundle:
    """Modules that one import has loaded, with its other effects."""

    def __init__(self):
        #: Module, class and spec by name; importlib's LazyLoader would replace class and spec.
        self.modules = {}
        #: Attributes of packages that refer to their modules.
        self.attributes = []
        self.uses = []
        self.variables = {}
        self.filters = []
        self.visible = False


class HiddenModules:
    """Meta path finder, placed first, that restores hidden modules on import."""

    def __init__(self):
        self._bundle_of = {}

    def modules(self):
        """Returns all hidden modules by name."""
        return {name: bundle.modules[name][0] for name, bundle in self._bundle_of.items()}

    def load(self, name, import_module):
        """Imports a module and hides everything that it loaded, even if the import failed."""
        before, variables, filters = set(sys.modules), dict(os.environ), list(warnings.filters)
        try:
            import_module(name)
        except Exception as error:
            print(f"{name}: {error!r}", file=sys.stderr, flush=True)
        bundle = ModuleBundle()
        for found in [module for module in sys.modules if module not in before]:
            earlier = self._bundle_of.get(found)
            if earlier is not None:
                if earlier not in bundle.uses:
                    bundle.uses.append(earlier)
            elif can_be_hidden(found, sys.modules[found]):
                self._bundle_of[found] = bundle
                bundle.modules[found] = sys.modules[found], type(sys.modules[found]), sys.modules[found].__spec__
        for found, (module, _, _) in bundle.modules.items():
            parent, _, attribute = found.rpartition(".")
            if parent and vars(sys.modules[parent]).get(attribute) is module:
                bundle.attributes.append((sys.modules[parent], attribute, module))
        after = dict(os.environ)
        bundle.variables = {key: value for key, value in after.items() if variables.get(key) != value}
        bundle.filters = [one for one in warnings.filters if one not in filters]
        for one in (bundle, *bundle.uses):
            one.visible = False
            for found in one.modules:
                sys.modules.pop(found, None)
            for parent, attribute, _ in one.attributes:
                vars(parent).pop(attribute, None)
        for key in after.keys() - variables.keys():
            del os.environ[key]
        os.environ.update({key: value for key, value in variables.items() if after.get(key) != value})
        set_filters(filters)

    def restore(self, bundle):
        """Restores a bundle, as if it were imported now."""
        if bundle.visible:
            return
        for used in bundle.uses:
            self.restore(used)
        for module, kind, spec in bundle.modules.values():
            if type(module) is not kind:
                module.__class__ = kind
            if module.__spec__ is not spec:
                module.__spec__ = spec
                module.__loader__ = spec.loader
        for parent, attribute, module in bundle.attributes:
            setattr(parent, attribute, module)
        sys.modules.update({name: module for name, (module, _, _) in bundle.modules.items()})
        os.environ.update({key: value for key, value in bundle.variables.items() if os.environ.get(key) != value})
        set_filters([*bundle.filters, *(one for one in warnings.filters if one not in bundle.filters)])
        bundle.visible = True

    def find_spec(self, name, path=None, target=None):
        bundle = self._bundle_of.get(name)
        if bundle is None or bundle.visible:
            return None
        # Restores only what an import would find now: a folder placed before the others takes precedence.
        for finder in sys.meta_path:
            found = finder.find_spec(name, path, target) if finder is not self and hasattr(finder, "find_spec") else None
            if found is not None:
                module, _, spec = bundle.modules[name]
                if found.origin == spec.origin:
                    found.loader = HiddenModuleLoader(found.loader, module, lambda: self.restore(bundle))
                return found
        return None


class HiddenModuleLoader:
    """Loader of a hidden module. Supports LazyLoader: restores nothing before \`exec_module\`."""

    def __init__(self, loader, module, restore):
        self._loader = loader
        self._module = module
        self._restore = restore

    def create_module(self, spec):
        return self._module

    def exec_module(self, module):
        self._restore()

    def __getattr__(self, name):
        return getattr(self._loader, name)


def can_be_hidden(name, module):
    """Excludes the standard library, and modules without a loader, such as the types shared by Cython modules."""
    spec = getattr(module, "__spec__", None)
    return spec is not None and spec.loader is not None and name.partition(".")[0] not in getattr(sys, "stdlib_module_names", ())


def set_filters(filters):
    if warnings.filters == filters:
        return
    warnings.filters[:] = filters
    # The interpreter caches filters by version; adding one invalidates the cache.
    warnings.simplefilter("ignore", type("Changed", (Warning,), {}))
    del warnings.filters[0]
`;
