// What every command needs before its own work: installed dependencies and built packages.
// Written for the Node that a machine happens to have (20 or newer), without dependencies.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");

/**
 * Environment in which `node` is the pinned one of node_modules, where there is one for this platform, and stacks run
 * services from their bundles, which are as new as the rest after `ensureBuilt`.
 */
export function environment() {
  return {
    FLYTE_TS_STACK_BUNDLES: "true",
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    TURBO_TELEMETRY_DISABLED: "1",
    DO_NOT_TRACK: "1",
  };
}

/** Runs a program of node_modules/.bin (or of the PATH) and resolves to its exit status. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: "inherit", env: environment(), ...options });
  if (result.error) throw result.error;
  return result.status ?? 1;
}

/** The Node to run our programs with. */
export function nodeProgram() {
  const pinned = join(bin, "node");
  return existsSync(pinned) ? pinned : process.execPath;
}

/** The CLI as it was built. */
export const cli = join(root, "packages", "cli", "bundle", "main.js");

/** Runs the CLI in place of this process, which ends as it ends. */
export function becomeCli(args) {
  const child = spawn(nodeProgram(), [cli, ...args], { stdio: "inherit", env: environment() });
  // Ctrl-C at a terminal reaches the child too; what is sent to this process alone has to be passed on.
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => (signal === "SIGINT" && process.stdin.isTTY ? undefined : child.kill(signal)));
  }
  child.on("exit", (code, signal) => process.exit(signal ? 1 : code));
}

export function ensureInstalled() {
  const installed = join(root, "node_modules", ".package-lock.json");
  const wanted = join(root, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs) return;
  step("installing dependencies (npm ci)", () => quietly("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]));
}

export function ensureBuilt() {
  step("building", () => quietly("turbo", ["run", "build", "--output-logs=errors-only", "--no-update-notifier"]));
}

/** What tests need of a real Kubernetes API, and Helm: built once and kept, before tests run, so that no test waits minutes for it. */
export function ensureKubernetes() {
  const program = `import { findHelm } from "@flyte-ts/local-servers";
    import { kubernetesUnavailable } from "@flyte-ts/testing";
    if ((await kubernetesUnavailable()) === undefined) await findHelm().catch((error) => console.error(error.message));`;
  step("etcd, kube-apiserver, kube-controller-manager and Helm (built once, up to ten minutes)", () =>
    run(nodeProgram(), ["--input-type=module", "--eval", program]),
  );
}

function step(what, work) {
  const start = Date.now();
  process.stdout.write(`  ${what} …\n`);
  work();
  process.stdout.write(`  ${what}: done in ${((Date.now() - start) / 1000).toFixed(1)} s\n`);
}

/** Shows the output of a command only when it fails; then ends this process. */
function quietly(command, args) {
  const result = spawnSync(command, args, { cwd: root, encoding: "utf8", env: environment(), maxBuffer: 64 << 20 });
  if (result.status === 0) return;
  process.stderr.write(`${result.error?.message ?? ""}${result.stdout ?? ""}${result.stderr ?? ""}\n${command} ${args.join(" ")} failed\n`);
  process.exit(1);
}
