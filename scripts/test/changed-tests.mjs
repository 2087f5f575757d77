// Selects the tests that a change can break, for `npm test -- --changed [REF]`.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseSync } from "oxc-parser";
import { importedModules, isForTests, packageFiles } from "../source-files.mjs";

/** Tests of the repository's own structure: documents, READMEs, scripts and platforms. */
const ALWAYS = "conformance/src/structure/";
/** Files that affect every test. */
const GLOBAL = /^(package-lock\.json|tsconfig\.base\.json|vitest\.[a-z]+\.ts|scripts\/(bundle|prepare|platform|test)\b.*)$/;
/** Folders with files that tests and programs read by path. */
const DATA_FOLDERS = ["deploy", "docs", "examples", "idl", "scripts"];
/** Folders whose tests start services, the CLI or a whole stack as processes. */
const STARTS_SERVICES = ["bench", "conformance", "packages/cli", "packages/testing"];
/** Packages with commands that tests start. */
const PROGRAMS = ["packages/cli", "packages/sdk-cli", "packages/sdk-runtime"];
/** Imports with which a module starts processes or threads. */
const STARTS_PROCESSES = /^node:(child_process|worker_threads)$/;

/**
 * Lists the files that differ from a commit, including new ones.
 *
 * @param {string} root repository
 * @param {string} [ref] compares with the common ancestor of this commit and HEAD. Default: HEAD,
 *   for uncommitted changes
 */
export function changedFiles(root, ref) {
  const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
  const [base] = ref === undefined ? ["HEAD"] : git("merge-base", ref, "HEAD");
  return [...new Set([...git("diff", "--name-only", "--no-renames", base), ...git("ls-files", "--others", "--exclude-standard")])];
}

/**
 * Selects test files by their transitive imports.
 *
 * A module that starts processes depends on all sources of its package, and in packages that start
 * services on all sources of the services and of the CLI. A changed file that is not a module, such
 * as a migration, counts as a change of its whole package. A module that reads files depends on the
 * folders, such as `deploy`, that its text names.
 *
 * @param {string} root repository
 * @param {readonly string[]} changed paths relative to the root
 * @returns {string[]} sorted paths of test files, or all of them when a change affects every test
 */
export function selectTests(root, changed) {
  const packages = readPackages(root);
  const modules = readModules(root, packages);
  const tests = [...modules.keys()].filter((file) => file.endsWith(".test.ts"));
  if (changed.some((file) => GLOBAL.test(file))) return tests.toSorted(byPath);
  const affected = new Set();
  const queue = changed.flatMap((file) => changedModules(file, { packages, modules }));
  const dependents = invert(modules, packages);
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (affected.has(file)) continue;
    affected.add(file);
    queue.push(...(dependents.get(file) ?? []));
  }
  return tests.filter((file) => affected.has(file) || file.startsWith(ALWAYS)).toSorted(byPath);
}

/** Reads the workspaces: folder and name of each package, longest folders first. */
function readPackages(root) {
  const { workspaces } = readJson(join(root, "package.json"));
  const folders = workspaces.flatMap((pattern) => expand(root, pattern));
  return folders
    .map((folder) => ({ folder, ...readJson(join(root, folder, "package.json")) }))
    .sort((a, b) => b.folder.length - a.folder.length);
}

/** Expands a workspace pattern, whose last segment may be `*`. */
function expand(root, pattern) {
  if (!pattern.endsWith("/*")) return existsSync(join(root, pattern, "package.json")) ? [pattern] : [];
  const parent = pattern.slice(0, -2);
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", `${parent}/*/package.json`], {
    cwd: root,
    encoding: "utf8",
  });
  const found = files.split("\n").filter((file) => file.split("/").length === parent.split("/").length + 2);
  return found.map((file) => dirname(file)).filter((folder) => existsSync(join(root, folder, "package.json")));
}

/**
 * Parses the modules of all packages: the modules that each imports, and properties that add
 * dependencies.
 */
function readModules(root, packages) {
  const modules = new Map();
  for (const { folder } of packages) {
    for (const file of packageFiles(join(root, folder))) modules.set(relative(root, file), readModule(root, file, packages));
  }
  return modules;
}

function readModule(root, file, packages) {
  const text = readFileSync(file, "utf8");
  const { module } = parseSync(file, text);
  const specifiers = importedModules(module, text);
  const imports = specifiers.flatMap((specifier) => resolveImport(root, { file, specifier, packages }) ?? []);
  const startsProcesses = specifiers.some((specifier) => STARTS_PROCESSES.test(specifier));
  const readsFiles = startsProcesses || specifiers.some((specifier) => specifier.startsWith("node:fs"));
  const dataFolders = DATA_FOLDERS.filter((folder) => readsFiles && new RegExp(`["'\`/]${folder}["'\`/]`).test(text));
  return { imports, startsProcesses, dataFolders };
}

function resolveImport(root, { file, specifier, packages }) {
  if (specifier.startsWith(".")) return relative(root, resolve(dirname(file), specifier.replace(/\.js$/, ".ts")));
  const target = packages.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
  if (target === undefined) return undefined;
  const entry = target.exports?.[`.${specifier.slice(target.name.length)}`];
  // A package with patterns among its exports, such as the generated code, counts as a whole.
  return typeof entry?.source === "string" ? join(target.folder, entry.source) : `${target.folder}/`;
}

/** Maps each module, package folder or data folder to the modules that depend on it. */
function invert(modules, packages) {
  const dependents = new Map();
  const add = (target, file) => {
    if (!dependents.has(target)) dependents.set(target, []);
    dependents.get(target).push(file);
  };
  for (const [file, { imports, startsProcesses, dataFolders }] of modules) {
    for (const target of imports) add(target, file);
    for (const folder of dataFolders) add(`${folder}/`, file);
    const own = packageOf(file, packages);
    if (own === undefined) continue;
    // No program contains a module that serves tests only.
    if (own !== "conformance" && !isForTests(file)) add(file, `${own}/`);
    if (startsProcesses) for (const folder of startedPackages(own, packages)) add(`${folder}/`, file);
  }
  return dependents;
}

/** Lists the packages whose programs a package starts. */
function startedPackages(own, packages) {
  if (!STARTS_SERVICES.includes(own)) return [own];
  return packages
    .map(({ folder }) => folder)
    .filter((folder) => folder.startsWith("services/") || PROGRAMS.includes(folder) || folder === own);
}

/** Translates a changed file to the modules and folders that it changes. */
function changedModules(file, { packages, modules }) {
  const own = packageOf(file, packages);
  if (own === undefined) {
    const folder = DATA_FOLDERS.find((each) => file.startsWith(`${each}/`));
    return folder === undefined ? [] : [`${folder}/`];
  }
  if (modules.has(file)) return [file];
  if (file.endsWith(".md")) return [];
  // A deleted module: its importers have changed, too. Any other file is data of the package.
  return [`${own}/`, ...[...modules.keys()].filter((each) => each.startsWith(`${own}/`))];
}

function packageOf(file, packages) {
  return packages.find(({ folder }) => file.startsWith(`${folder}/`))?.folder;
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}

function byPath(a, b) {
  return a < b ? -1 : Number(a > b);
}
