// Also imported by scripts/bundle.mjs, as a source: it must not import modules of this package.
import type { Plugin } from "rolldown";

/** Modules of this project, in a checkout and as they are published. */
const OWN = /[\\/](?:packages[\\/](?:async|domain|sdk|sdk-runtime|compiler)|@flyte-ts)[\\/]/;
/** Modules that export functions alone; `node:fs/promises` loads the editor of terminal lines. */
const PROMISES = /^node:\w+\/promises$/;
const IMPORT = /^import (?:([\w$]+)(?:, )?)?(?:\{ ([^}]*) \})? from "(node:[^"]+)";$/gm;

/** Calls Node's modules in the code of the SDK; the author's imports stay as they are. */
export const builtinModules: Plugin = {
  name: "flyte-builtin-modules",
  transform: (code, id) => (OWN.test(id) ? { code: callBuiltinModules(code), map: null } : undefined),
};

/**
 * Replaces imports of Node's modules by calls. An import statement evaluates every lazy export of
 * the module: `node:http` would load an HTTP client and WebSockets, 5 MiB and 20 ms in each
 * program.
 */
export function callBuiltinModules(code: string): string {
  return code.replace(IMPORT, (_, whole: string | undefined, parts: string | undefined, name: string) => {
    const module = `process.getBuiltinModule("${name}")`;
    if (parts !== undefined && PROMISES.test(name))
      return parts
        .split(", ")
        .map((part) => callOnUse(part, module))
        .join(" ");
    const taken = parts?.replaceAll(" as ", ": ");
    if (taken === undefined) return `const ${whole} = ${module};`;
    return whole === undefined ? `const { ${taken} } = ${module};` : `const ${whole} = ${module}, { ${taken} } = ${whole};`;
  });
}

/** Declares a function of a module that is loaded when it is called. */
function callOnUse(part: string, module: string): string {
  const [name, alias = name] = part.split(" as ");
  return `const ${alias} = (...values) => ${module}.${name}(...values);`;
}
