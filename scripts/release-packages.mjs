// Copies the packages that users import, and those that they depend on, as they are published on
// npm, and prints the folders of the copies, dependencies first.
//   node scripts/release-packages.mjs --version 1.2.3 --to FOLDER [PACKAGE…]
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./prepare.mjs";
import { SDK_PACKAGES } from "./release/sdk.mjs";

const SCOPE = "@flyte-ts/";
/** Packages that users import, published with the packages that they depend on. */
const PUBLISHED = ["client", "task-plugin"];

const { values, positionals } = parseArgs({ allowPositionals: true, options: { version: { type: "string" }, to: { type: "string" } } });
const { version, to } = values;
if (version === undefined || !/^\d+\.\d+\.\d+/.test(version)) {
  console.error("release-packages: --version must be a semantic version such as 1.2.3");
  process.exit(2);
}

if (to === undefined) {
  console.error("release-packages: --to must name the folder of the copies");
  process.exit(2);
}

const known = [...PUBLISHED, ...Object.keys(SDK_PACKAGES)];
const unknown = positionals.find((name) => !known.includes(name));
if (unknown !== undefined) {
  console.error(`release-packages: ${unknown} is not published; these are: ${known.join(", ")}`);
  process.exit(2);
}

const wanted = positionals.length === 0 ? known : positionals;
const ordered = new Set();
for (const name of PUBLISHED) if (wanted.includes(name)) visit(name);
for (const name of ordered) prepare(name);
for (const [name, copy] of Object.entries(SDK_PACKAGES)) {
  if (!wanted.includes(name)) continue;
  mkdirSync(copyOf(name), { recursive: true });
  copy(copyOf(name), version);
  copyTexts(name);
  ordered.add(name);
}
for (const name of ordered) console.log(copyOf(name));

function visit(name) {
  if (ordered.has(name)) return;
  for (const dependency of ownDependencies(manifestOf(name))) visit(dependency);
  ordered.add(name);
}

function prepare(name) {
  const { private: _, scripts: __, devDependencies: ___, ...manifest } = manifestOf(name);
  const dependencies = { ...manifest.dependencies };
  for (const dependency of ownDependencies(manifest)) dependencies[SCOPE + dependency] = version;
  const files = ["dist", "NOTICE", "!dist/**/*.test.*", "!dist/**/*.fixture.*", "!dist/.tsbuildinfo"];
  mkdirSync(copyOf(name), { recursive: true });
  writeFileSync(join(copyOf(name), "package.json"), `${JSON.stringify({ ...manifest, version, files, dependencies }, null, 2)}\n`);
  cpSync(pathOf(name, "dist"), join(copyOf(name), "dist"), { recursive: true });
  copyTexts(name);
}

function copyTexts(name) {
  if (existsSync(pathOf(name, "README.md"))) cpSync(pathOf(name, "README.md"), join(copyOf(name), "README.md"));
  for (const file of ["LICENSE", "NOTICE"]) cpSync(join(root, file), join(copyOf(name), file));
}

function ownDependencies({ dependencies = {} }) {
  return Object.keys(dependencies).flatMap((name) => (name.startsWith(SCOPE) ? [name.slice(SCOPE.length)] : []));
}

function manifestOf(name) {
  return JSON.parse(readFileSync(pathOf(name, "package.json"), "utf8"));
}

function copyOf(name) {
  return resolve(to, name);
}

function pathOf(name, file) {
  return join(root, "packages", name, file);
}
