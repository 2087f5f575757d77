import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig } from "@flyte-ts/config";
import { normalizeBooleanFlags } from "../boolean-flags.js";
import {
  consoleFolder,
  shellQuote,
  stackConfigSchema,
  repositoryRoot,
  displayAddress,
  type Progress,
  terminalProgress,
  FLYTEKIT_CLIENT_ID,
  hasClientSecret,
  passwordFile,
  type Stack,
  startStack,
} from "@flyte-ts/local-stack";
import { INTERRUPTED, type Interruption, watchInterruption } from "./interruption.js";
import { preloadPyflyte, type PreloadedPyflyte } from "./pyflyte.js";
import { startWatchdog } from "@flyte-ts/host";

const EXAMPLE_ARGS = ["run", "--remote", "example.py", "training_workflow", "--hyperparameters", '{"C": 0.4}'];

/**
 * Time for an orderly end of a stack whose start was interrupted, ms; afterwards this process exits
 * and the watchdog ends the rest.
 */
const INTERRUPTED_START_TIMEOUT_MS = 30_000;

/**
 * `flyte-ts start`: runs the local stack until Ctrl-C, SIGTERM, SIGHUP or the end of its launcher,
 * or until the example has ended with `--exit`. A second Ctrl-C exits at once, and the watchdog
 * ends the stack. Resolves to the exit status.
 */
export async function startCommand(argv: readonly string[]): Promise<number> {
  // A closed terminal or pipe must not end the stack before it is stopped in order.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const interruption = watchInterruption(process, () => performance.now());
  const progress = terminalProgress((text) => process.stdout.write(text), Date.now);
  const config = loadConfig(stackConfigSchema, {
    service: "stack",
    argv: normalizeBooleanFlags(argv, ["exit", "example", "auth", "bundles"]),
    env: process.env,
  });
  const watchdog = startWatchdog();
  progress.line("flyte-ts: starting the local stack");
  let pyflyte: PreloadedPyflyte | undefined;
  let preloadLater: (() => PreloadedPyflyte) | undefined;
  const starting = startStack(
    { ...config, data: config.data ?? join(repositoryRoot, ".flyte-ts") },
    {
      progress,
      watchdog,
      signal: interruption.signal,
      onPlanned: (plan) => {
        // flytekit reads the secret while it loads: at the first start with sign-in it exists only
        // once the stack is ready.
        const preload = () => preloadPyflyte(plan, EXAMPLE_ARGS);
        if (config.example && hasClientSecret(plan.signIn)) pyflyte = preload();
        else if (config.example) preloadLater = preload;
      },
    },
  );
  const stack = await unlessInterrupted(starting, interruption);
  if (stack === undefined) return INTERRUPTED;
  const { happened: interrupted } = interruption;
  pyflyte ??= preloadLater?.();
  printEndpoints(stack, progress.line);
  let status = 0;
  try {
    const example = pyflyte === undefined ? Promise.resolve(true) : runExample(stack, { pyflyte, progress });
    const outcome = await Promise.race([example, interrupted, stack.failed]);
    status = exitStatus(outcome);
    if (typeof outcome === "string" && outcome !== "interrupted") progress.line(outcome);
    if (typeof outcome === "boolean" && !config.exit) {
      progress.line("\nThe stack keeps running until Ctrl-C; its state is kept.");
      // Loaded late: it is not needed to start the stack.
      const stopIdleGc = (await import("@flyte-ts/lifecycle")).startIdleGc();
      const end = await Promise.race([interrupted, stack.failed]);
      stopIdleGc();
      if (end !== "interrupted") progress.line(end);
      status = end === "interrupted" ? 0 : 1;
    }
  } finally {
    progress.line("\nstopping the stack …");
    await stack.stop();
  }
  return status;
}

/**
 * Resolves to the stack, or undefined when the start was interrupted and its processes have ended,
 * or do not end in time.
 */
async function unlessInterrupted(starting: Promise<Stack>, { signal, happened }: Interruption): Promise<Stack | undefined> {
  const started = starting.catch((error: unknown) => {
    if (signal.aborted) return undefined;
    throw error;
  });
  const timedOut = happened.then(() => sleep(INTERRUPTED_START_TIMEOUT_MS, undefined, { ref: false }));
  return Promise.race([started, timedOut]);
}

async function runExample(stack: Stack, { pyflyte, progress }: { pyflyte: PreloadedPyflyte; progress: Progress }): Promise<boolean> {
  progress.line(`\n$ pyflyte ${EXAMPLE_ARGS.map((arg) => (/[{ ]/.test(arg) ? `'${arg}'` : arg)).join(" ")}`);
  const start = Date.now();
  const submitting = pyflyte.run();
  // The client and all messages take 50 MiB: loaded only for the example.
  const { followExample } = await import("./run-example.js");
  return followExample(stack, { progress, submitting, start });
}

function exitStatus(outcome: boolean | string): number {
  if (outcome === "interrupted") return INTERRUPTED;
  return outcome === true ? 0 : 1;
}

/** Quotes a path for a command that a user copies. */
const shellArgument = (path: string): string => (/^[\w./@%+=:,-]+$/.test(path) ? path : shellQuote(path));

function printEndpoints({ endpoints, folders, cluster, blobs, signIn }: Stack, line: (text: string) => void): void {
  const host = displayAddress(endpoints.host);
  line(`
ready
  API (gRPC and REST)  ${host}:${endpoints.api}     http://${host}:${endpoints.api}/api/v1/projects
${consoleFolder() === "" ? "" : `  console              http://${host}:${endpoints.api}/console\n`}  blob store (S3)      ${displayAddress(blobs.endpoint)}
  kubectl              export KUBECONFIG=${shellArgument(cluster.kubeconfig)}
  S3 keys, settings    . ${shellArgument(folders.clientEnv)}     (for clients that access the blob store directly)
  logs                 ${folders.logs}${
    signIn === undefined
      ? `
  sign-in              none: every user of this machine can call the API and run code as you; --auth requires sign-in`
      : `
  sign-in              user admin, password in ${passwordFile(signIn)}; programs: client ${FLYTEKIT_CLIENT_ID}, secret beside it`
  }
  state                ${folders.root}     (remove the folder to reset the stack)`);
}
