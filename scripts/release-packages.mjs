// Prepares the client library and the packages that it depends on for npm, and prints their
// folders, dependencies first.
//   node scripts/release-packages.mjs --version 1.2.3
// Rewrites package.json in place: run it in a checkout that is discarded afterwards.
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./prepare.mjs";

const SCOPE = "@flyte-ts/";
/** Packages that users import. */
const PUBLISHED = ["client"];

const { values } = parseArgs({ options: { version: { type: "string" } } });
const { version } = values;
if (version === undefined || !/^\d+\.\d+\.\d+/.test(version)) {
  console.error("release-packages: --version must be a semantic version such as 1.2.3");
  process.exit(2);
}

const ordered = new Set();
for (const name of PUBLISHED) visit(name);
for (const name of ordered) prepare(name);
for (const name of ordered) console.log(`./packages/${name}`);

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
  writeFileSync(pathOf(name, "package.json"), `${JSON.stringify({ ...manifest, version, files, dependencies }, null, 2)}\n`);
  for (const file of ["LICENSE", "NOTICE"]) copyFileSync(join(root, file), pathOf(name, file));
}

function ownDependencies({ dependencies = {} }) {
  return Object.keys(dependencies).flatMap((name) => (name.startsWith(SCOPE) ? [name.slice(SCOPE.length)] : []));
}

function manifestOf(name) {
  return JSON.parse(readFileSync(pathOf(name, "package.json"), "utf8"));
}

function pathOf(name, file) {
  return join(root, "packages", name, file);
}
