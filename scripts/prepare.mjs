// Prepares every command: installs dependencies and builds packages. Runs on any installed Node (20
// or newer), without dependencies.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { attended, statusOf } from "./child-process.mjs";
import { bundledNode, chooseNode, problemBeforeInstall, thisMachine } from "./platform.mjs";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");
/** Length of a command's output, from its end, that is kept for a failure, in characters. */
const MOST_OUTPUT = 1 << 20;

// A closed terminal or pipe must not end this process: a signal ends it in order.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);

/**
 * Environment in which `node` is the bundled one, where there is one for this platform, and stacks
 * run services from their bundles, which are current after `ensureBuilt`.
 */
export function environment() {
  const bundled = bundledNode(root, thisMachine());
  const folders = [...(bundled === undefined ? [] : [dirname(bundled)]), bin, process.env.PATH];
  return {
    FLYTE_TS_STACK_BUNDLES: "true",
    ...process.env,
    PATH: folders.join(delimiter),
    TURBO_TELEMETRY_DISABLED: "1",
    DO_NOT_TRACK: "1",
  };
}

/** Runs a program of node_modules/.bin or of the PATH. Returns its exit code. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: "inherit", env: environment(), ...options });
  if (result.error) throw result.error;
  return result.status ?? 1;
}

/** Returns the Node that runs our programs. Exits with a message when none is new enough. */
export function nodeProgram() {
  const { program, problem } = chooseNode(root, thisMachine());
  if (program === undefined) refuse(problem);
  return program;
}

function refuse(problem) {
  process.stderr.write(`flyte-ts: ${problem}\n`);
  process.exit(1);
}

/** Bundle of the verbs of the local stack. */
export const cli = join(root, "packages", "cli", "bundle", "main.js");

/**
 * Runs a program with these arguments, by default the verbs of the stack, and exits with its exit
 * code. Signals are forwarded; a stack also stops when the channel to this process closes, as it
 * does when this process is killed.
 */
export async function becomeCli(args, program = cli) {
  const stdio = ["inherit", "inherit", "inherit", ...(args[0] === "start" ? ["ipc"] : [])];
  process.exit(statusOf(await attended(nodeProgram(), [program, ...args], { stdio, env: environment() })));
}

/**
 * Installs the lock file's dependencies unless they are installed. Exits with a message when npm or
 * a Node that is new enough is missing.
 */
export async function ensureInstalled() {
  const problem = problemBeforeInstall(thisMachine());
  if (problem !== undefined) refuse(problem);
  // Building needs npm, too.
  if (!isOnPath("npm"))
    refuse("npm is not on the PATH: install it (it comes with Node, https://nodejs.org), or add its folder to the PATH");
  const installed = join(root, "node_modules", ".package-lock.json");
  const wanted = join(root, "package-lock.json");
  const isThere = existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs;
  if (!isThere) await step("installing dependencies (npm ci)", () => quietly("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]));
  nodeProgram();
}

function isOnPath(program) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
}

export async function ensureBuilt() {
  await step("building", () => quietly("turbo", ["run", "build", "--output-logs=errors-only", "--no-update-notifier"]));
}

/**
 * Builds the servers of a real Kubernetes API, Helm and operators before tests run, so that no test
 * waits minutes for them. Builds are cached.
 */
export async function ensureKubernetes() {
  const program = `import { findHelm, findRayOperator, findTrainingOperator } from "@flyte-ts/test-servers";
    import { kubernetesSkipReason } from "@flyte-ts/testing";
    const programs = (await kubernetesSkipReason()) === undefined ? [findHelm, findTrainingOperator, findRayOperator] : [];
    for (const find of programs) await find().catch((error) => console.error(error.message));`;
  await step("servers of a real Kubernetes API, Helm and operators (built once, up to fifteen minutes)", () =>
    run(nodeProgram(), ["--input-type=module", "--eval", program]),
  );
}

async function step(what, work) {
  const start = Date.now();
  process.stdout.write(`  ${what} …\n`);
  await work();
  process.stdout.write(`  ${what}: done in ${((Date.now() - start) / 1000).toFixed(1)} s\n`);
}

/**
 * Runs a command and shows its output only when it fails; then exits, also when a signal ended the
 * command.
 */
async function quietly(command, args) {
  let output = "";
  const keep = (chunk) => {
    output = (output + chunk.toString()).slice(-MOST_OUTPUT);
  };
  const onChild = (child) => {
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
  };
  const options = { cwd: root, env: environment(), stdio: ["ignore", "pipe", "pipe"], group: true, onChild };
  const end = await attended(command, args, options).catch((error) => ({ code: 1, error }));
  if (end.asked !== undefined) process.exit(statusOf({ signal: end.asked }));
  if (end.code === 0) return;
  process.stderr.write(`${end.error?.message ?? ""}${output}\n${command} ${args.join(" ")} failed\n`);
  process.exit(1);
}
