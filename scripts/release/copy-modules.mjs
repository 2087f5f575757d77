// Copies the built modules of a package together with those of the internal packages that they
// import, so that the published package depends on no internal one.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const SCOPE = "@flyte-ts/";
/** Folder of the modules of internal packages in a published package. */
const INTERNAL = "internal";
/** Specifiers of imports and exports, in modules and in declarations. */
const SPECIFIER = /(\bfrom\s*|\bimport\s*\(\s*|^import\s*)"([^"]+)"/gm;

/**
 * Copies modules to `dist/` of a folder, and all that they import. Specifiers of internal packages
 * become relative paths to `dist/internal/`.
 *
 * @param packages folder of all packages
 * @param name folder of the package
 * @param modules modules to begin with: paths in `dist/` without ending, or specifiers of internal
 *   packages
 * @param kept returns the specifier that replaces one of an internal package, which then is not
 *   copied
 */
export function copyModules({ packages, name, to, modules, kept = () => undefined }) {
  const own = join(packages, name, "dist");
  const pending = modules.flatMap((module) => filesOf(module.startsWith(SCOPE) ? builtModule(packages, module) : join(own, module)));
  const reached = new Set(pending);
  for (const file of pending) {
    const text = readFileSync(file, "utf8").replace(/^\/\/# sourceMappingURL=.*$/gm, "");
    const rewritten = text.replace(SPECIFIER, (whole, keyword, specifier) => {
      const replacement = kept(specifier);
      if (replacement !== undefined) return `${keyword}"${replacement}"`;
      const target = specifier.startsWith(".") ? resolve(dirname(file), specifier.replace(/\.js$/, "")) : builtModule(packages, specifier);
      if (target === undefined) return whole;
      for (const next of filesOf(target)) {
        if (reached.has(next)) continue;
        reached.add(next);
        pending.push(next);
      }
      return `${keyword}"${relativeTo(dirname(place(file)), `${place(target)}.js`)}"`;
    });
    mkdirSync(dirname(place(file)), { recursive: true });
    writeFileSync(place(file), rewritten);
  }

  function place(file) {
    const inOwn = relative(own, file);
    if (!inOwn.startsWith("..")) return join(to, "dist", inOwn);
    return join(to, "dist", INTERNAL, relative(packages, file).replace(/\/dist\//, "/"));
  }
}

/** Returns the specifier of an internal module that another published package holds. */
export function internalSpecifier(packages, holder, specifier) {
  const path = relative(packages, builtModule(packages, specifier)).replace(/\/dist\//, "/");
  return `${SCOPE}${holder}/${INTERNAL}/${path}`;
}

/** Returns the built module of an internal package without its ending; undefined for others. */
function builtModule(packages, specifier) {
  if (!specifier.startsWith(SCOPE)) return undefined;
  const [, name, ...rest] = specifier.split("/");
  const subPath = ["."].concat(rest).join("/");
  const { exports } = JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8"));
  const found = exports[subPath]?.default ?? exports["./*"]?.default.replace("*", rest.join("/"));
  if (found === undefined) throw new Error(`${specifier} is not among the exports of packages/${name}`);
  return join(packages, name, found.replace(/\.js$/, ""));
}

function filesOf(module) {
  const files = [`${module}.js`, `${module}.d.ts`].filter((file) => existsSync(file));
  if (files.length === 0) throw new Error(`${module}.js is not built`);
  return files;
}

function relativeTo(folder, file) {
  const path = relative(folder, file);
  return path.startsWith(".") ? path : `./${path}`;
}
