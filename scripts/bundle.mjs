// `node scripts/bundle.mjs main workflow/compiler/main`, in a package's folder: bundles src/main.ts
// and its imports, including other packages, into a few files below bundle/. Opening a thousand
// small files would dominate the start of a program. Dynamic imports stay separate files and load
// on demand. `name=specifier` bundles a module of another package. `--lazy-messages` describes
// messages of Flyte when they are used, for programs that use few of them.
import { join } from "node:path";
import { rolldown } from "rolldown";
import { callBuiltinModules } from "../packages/sdk-cli/src/bundling/builtin-modules.ts";
import { lazyMessages } from "../packages/sdk-cli/src/bundling/lazy-messages.ts";

const words = process.argv.slice(2);
const entries = words.filter((word) => !word.startsWith("--"));

const builtinModules = {
  name: "builtin-modules",
  renderChunk: (code) => ({
    code: callBuiltinModules(code),
    map: null,
  }),
};
const bundle = await rolldown({
  input: Object.fromEntries(
    entries.map((entry) => {
      const [name, module = `src/${name}.ts`] = entry.split("=");
      return [name, module];
    }),
  ),
  platform: "node",
  plugins: [builtinModules, ...(words.includes("--lazy-messages") ? [lazyMessages(join(process.cwd(), "package.json"))] : [])],
  // Resolve packages to their sources, as tests do, so that a bundle is never older than the
  // sources.
  resolve: { conditionNames: ["source", "node"] },
  // Keep large, rarely loaded packages external: they cost nothing until they are loaded. pg-native
  // is optional.
  external: [
    "@azure/identity",
    "@azure/storage-blob",
    "@google-cloud/storage",
    "@kubernetes/client-node",
    "hyparquet",
    "hyparquet-writer",
    "oidc-provider",
    "pg-native",
    "rolldown",
  ],
  // Ignore warnings about dependencies.
  onLog: (level, log, write) => {
    if (!(log.id ?? log.loc?.file ?? "").includes("node_modules")) write(level, log);
  },
});
const { output } = await bundle.write({
  dir: "bundle",
  cleanDir: true,
  format: "esm",
  // Omit the sources: Node reads all maps at the start.
  sourcemap: true,
  sourcemapExcludeSources: true,
  // The code stays in memory, with two bytes for each character if a single one is not ASCII.
  comments: false,
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
  // Keep the paths of entries: files beside them are at the same relative path as in dist/.
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
});
await bundle.close();
for (const { code = "", fileName } of output) {
  // Literals of tagged templates are not escaped.
  const [line] = /^.*[^\0-\x7f].*$/m.exec(code) ?? [];
  if (line !== undefined) throw new Error(`bundle/${fileName}: escape what is not ASCII in: ${line.trim().slice(0, 200)}`);
}
