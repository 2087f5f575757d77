// `node scripts/bundle.mjs main workflow/compiler/main`, in a package's folder: puts src/main.ts and all that it imports, other
// packages too, into few files below bundle/. A program that loads a thousand small files spends more time on finding and opening them
// than on anything else. What is imported only when it is needed stays apart and is still loaded only then.
import { rolldown } from "rolldown";

const entries = process.argv.slice(2);
const bundle = await rolldown({
  input: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
  platform: "node",
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
