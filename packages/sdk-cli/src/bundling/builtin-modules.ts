// Also imported by scripts/bundle.mjs, as a source: it must not import modules of this package.
import type { Plugin } from "rolldown";

/** Modules of this project, in a checkout and as they are published. */
const OWN = /[\\/](?:packages[\\/](?:async|domain|sdk|sdk-runtime|compiler)|@flyte-ts)[\\/]/;
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
    const taken = parts?.replaceAll(" as ", ": ");
    if (taken === undefined) return `const ${whole} = ${module};`;
    return whole === undefined ? `const { ${taken} } = ${module};` : `const ${whole} = ${module}, { ${taken} } = ${whole};`;
  });
}
