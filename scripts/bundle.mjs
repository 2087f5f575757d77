// `node scripts/bundle.mjs main workflow/compiler/main`, in a package's folder: puts src/main.ts and all that it imports, other
// packages too, into few files below bundle/. A program that loads a thousand small files spends more time on finding and opening them
// than on anything else. What is imported only when it is needed stays apart and is still loaded only then.
import { rolldown } from "rolldown";

const entries = process.argv.slice(2);

/**
 * An import of one of Node's own modules asks each for all that it exports, and thereby loads what it would load only when it is used:
 * `node:http` an HTTP client and WebSockets, 5 MiB and 20 ms in each program. Asked for by a call they do not.
 */
const builtinModules = {
  name: "builtin-modules",
  renderChunk: (code) => ({
    code: code.replace(/^import (?:([\w$]+)(?:, )?)?(?:\{ ([^}]*) \})? from "(node:[^"]+)";$/gm, (_, whole, parts, name) => {
      const module = `process.getBuiltinModule("${name}")`;
      const taken = parts?.replaceAll(" as ", ": ");
      if (taken === undefined) return `const ${whole} = ${module};`;
      return whole === undefined ? `const { ${taken} } = ${module};` : `const ${whole} = ${module}, { ${taken} } = ${whole};`;
    }),
    map: null,
  }),
};
const bundle = await rolldown({
  input: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
  platform: "node",
  plugins: [builtinModules],
  // As in tests: what is bundled cannot be older than the sources.
  resolve: { conditionNames: ["source", "node"] },
  // Large and rarely loaded: where they lie they cost nothing; and what pg can do without.
  external: ["@azure/identity", "@azure/storage-blob", "@google-cloud/storage", "@kubernetes/client-node", "oidc-provider", "pg-native"],
  // Warnings are about others' code.
  onLog: (level, log, write) => {
    if (!(log.id ?? log.loc?.file ?? "").includes("node_modules")) write(level, log);
  },
});
await bundle.write({
  dir: "bundle",
  cleanDir: true,
  format: "esm",
  // Without the sources themselves: Node reads all maps at the start.
  sourcemap: true,
  sourcemapExcludeSources: true,
  // Entries keep their places: what they find beside themselves is where it is beside dist/.
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
});
await bundle.close();
