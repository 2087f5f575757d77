// Assembles the files that one service needs to run: its built code, the packages that it imports
// with their production dependencies from node_modules, and an SBOM of exactly these.
// node deploy/images/assemble.mjs --service services/admin --target DIR [--version V] [--revision
// COMMIT]
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { billOfMaterials } from "./bill-of-materials.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
const { values } = parseArgs({
  options: {
    service: { type: "string" },
    target: { type: "string" },
    version: { type: "string", default: "0.0.0" },
    revision: { type: "string", default: "unknown" },
  },
});
if (values.service === undefined || values.target === undefined) throw new Error("--service and --target are needed");
const service = resolve(root, values.service);
const target = resolve(values.target);

/** Files that an image serves: service → the package whose bundle they are, and their folder. */
const SERVED = { "services/admin": { from: "services/console", to: "console" } };

/** Package folders by their destination below the target. */
const placed = new Map();
place(service);

for (const [from, to] of placed) copy(from, join(target, to));
const served = SERVED[relative(root, service)];
const bundled = served === undefined ? [] : serve(served);
writeFileSync(join(target, "service.mjs"), `import "./${entry(service)}/dist/main.js";\n`);
for (const file of ["main.mjs", "health.mjs"]) cpSync(join(root, "deploy", "images", file), join(target, file));
const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
const bill = billOfMaterials({
  name: manifest(service).name,
  version: values.version,
  revision: values.revision,
  folders: [...[...placed.keys()].filter((folder) => folder !== service), ...bundled].map((folder) => relative(root, folder)),
  lock,
  node: process.version,
});
writeFileSync(join(target, "sbom.cdx.json"), `${JSON.stringify(bill, null, 1)}\n`);
process.stdout.write(`${manifest(service).name}: ${placed.size} packages\n`);

/**
 * Adds a package and its dependencies, each resolved as Node does: from the package's folder
 * upwards.
 */
function place(folder) {
  if (placed.has(folder)) return;
  placed.set(folder, entry(folder));
  const { dependencies = {}, optionalDependencies = {} } = manifest(folder);
  for (const name of Object.keys(dependencies)) place(find(name, folder) ?? missing(name, folder));
  for (const name of Object.keys(optionalDependencies)) {
    const found = find(name, folder);
    if (found !== undefined) place(found);
  }
}

/**
 * Copies the bundle that an image serves. Returns the folders of the packages in it, for the SBOM.
 */
function serve({ from, to }) {
  const bundle = join(root, from, "bundle");
  if (!existsSync(join(bundle, "index.html"))) throw new Error(`${from} is not built: run npm run build`);
  cpSync(bundle, join(target, to), { recursive: true });
  const before = new Set(placed.keys());
  place(join(root, from));
  return [...placed.keys()].filter((folder) => !before.has(folder) && folder !== join(root, from));
}

/** Workspace packages are links into the sources; in an image they are folders of node_modules. */
function entry(folder) {
  const path = relative(root, folder).split(sep).join("/");
  if (folder === service) return path;
  return path.startsWith("node_modules/") ? path : `node_modules/${manifest(folder).name}`;
}

function find(name, from) {
  for (let folder = from; folder.startsWith(root); folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return realpathSync(candidate);
  }
  return undefined;
}

function missing(name, folder) {
  throw new Error(`${relative(root, folder)} needs ${name}, which is not installed`);
}

function manifest(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/**
 * Copies the build and the data files of a workspace package; of other packages everything except
 * types, maps and nested packages.
 */
function copy(from, to) {
  mkdirSync(to, { recursive: true });
  if (from.startsWith(join(root, "node_modules"))) {
    cpSync(from, to, {
      recursive: true,
      filter: (path) => (path === from || basename(path) !== "node_modules") && !/\.(d\.[cm]?ts|map|flow)$/.test(path),
    });
    return;
  }
  for (const part of ["package.json", "dist", "migrations", "python"]) {
    if (!existsSync(join(from, part))) continue;
    cpSync(join(from, part), join(to, part), { recursive: true, filter: (path) => !/(\.d\.ts|\.d\.ts\.map|\.tsbuildinfo)$/.test(path) });
  }
}
