import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig } from "@flyte-ts/config";
import { booleanFlags } from "../boolean-flags.js";
import { quoted } from "./client-env.js";
import { stackConfigSchema } from "./config.js";
import { INTERRUPTED, type Interruption, watchInterruption } from "./interruption.js";
import { repositoryRoot } from "./paths.js";
import { publicAddress } from "./public-address.js";
import { type Progress, terminalProgress } from "./progress.js";
import { loadPyflyte, type WaitingPyflyte } from "./pyflyte.js";
import { startGuard } from "@flyte-ts/local-servers";
import { FLYTEKIT, hasSecret, passwordFile } from "./sign-in.js";
import { type Stack, startStack } from "./stack.js";

const EXAMPLE = ["run", "--remote", "example.py", "training_workflow", "--hyperparameters", '{"C": 0.4}'];

/** Time for an orderly end of a stack whose start was interrupted, ms; afterwards this process exits and the guard ends the rest. */
const INTERRUPTED_START_MS = 30_000;

/**
 * `flyte-ts start`: runs the local stack until Ctrl-C, SIGTERM, SIGHUP or the end of its launcher, or until the example
 * has ended with `--exit`. A second Ctrl-C exits at once, and the guard ends the stack. Resolves to the exit status.
 */
export async function startCommand(argv: readonly string[]): Promise<number> {
  // A closed terminal or pipe must not end the stack before it is stopped in order.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const interruption = watchInterruption(process, () => performance.now());
  const progress = terminalProgress((text) => process.stdout.write(text), Date.now);
  const config = loadConfig(stackConfigSchema, {
    service: "stack",
    argv: booleanFlags(argv, ["exit", "example", "auth", "bundles"]),
    env: process.env,
  });
  const guard = startGuard();
  progress.line("flyte-ts: starting the local stack");
  let pyflyte: WaitingPyflyte | undefined;
  let loadLater: (() => WaitingPyflyte) | undefined;
  const starting = startStack(
    { ...config, data: config.data ?? join(repositoryRoot, ".flyte-ts") },
    {
      progress,
      guard,
      signal: interruption.signal,
      onPlanned: (plan) => {
        // flytekit reads the secret while it loads: at the first start with sign-in it exists only once the stack is ready.
        const load = () => loadPyflyte(plan, EXAMPLE);
        if (config.example && hasSecret(plan.signIn)) pyflyte = load();
        else if (config.example) loadLater = load;
      },
    },
  );
  const stack = await unlessInterrupted(starting, interruption);
  if (stack === undefined) return INTERRUPTED;
  const { happened: interrupted } = interruption;
  pyflyte ??= loadLater?.();
  printAddresses(stack, progress.line);
  let status = 0;
  try {
    const example = pyflyte === undefined ? Promise.resolve(true) : runExample(stack, { pyflyte, progress });
    const outcome = await Promise.race([example, interrupted, stack.failed]);
    status = statusOf(outcome);
    if (typeof outcome === "string" && outcome !== "interrupted") progress.line(outcome);
    if (typeof outcome === "boolean" && !config.exit) {
      progress.line("\nThe stack stays up. Ctrl-C ends it; its state stays in its folder.");
      const end = await Promise.race([interrupted, stack.failed]);
      if (end !== "interrupted") progress.line(end);
      status = end === "interrupted" ? 0 : 1;
    }
  } finally {
    progress.line("\nstopping the stack …");
    await stack.stop();
  }
  return status;
}

/** Resolves to the stack, or undefined when the start was interrupted and its processes have ended, or do not end in time. */
async function unlessInterrupted(starting: Promise<Stack>, { signal, happened }: Interruption): Promise<Stack | undefined> {
  const started = starting.catch((error: unknown) => {
    if (signal.aborted) return undefined;
    throw error;
  });
  const impatient = happened.then(() => sleep(INTERRUPTED_START_MS, undefined, { ref: false }));
  return Promise.race([started, impatient]);
}

async function runExample(stack: Stack, { pyflyte, progress }: { pyflyte: WaitingPyflyte; progress: Progress }): Promise<boolean> {
  progress.line(`\n$ pyflyte ${EXAMPLE.map((word) => (/[{ ]/.test(word) ? `'${word}'` : word)).join(" ")}`);
  const start = Date.now();
  const submitting = pyflyte.run();
  // The client and all messages take 50 MiB: loaded only for the example.
  const { followExample } = await import("./run-example.js");
  return followExample(stack, { progress, submitting, start });
}

function statusOf(outcome: boolean | string): number {
  if (outcome === "interrupted") return INTERRUPTED;
  return outcome === true ? 0 : 1;
}

/** Quotes a path for a command that a user copies. */
const shellWord = (path: string): string => (/^[\w./@%+=:,-]+$/.test(path) ? path : quoted(path));

function printAddresses({ endpoints, folders, cluster, blobs, signIn }: Stack, line: (text: string) => void): void {
  const host = publicAddress(endpoints.host);
  line(`
ready
  API (gRPC and REST)  ${host}:${endpoints.api}     http://${host}:${endpoints.api}/api/v1/projects
  blob store (S3)      ${publicAddress(blobs.endpoint)}
  kubectl              export KUBECONFIG=${shellWord(cluster.kubeconfig)}
  S3 keys, settings    . ${shellWord(folders.clientEnv)}     (for clients that read the blob store themselves)
  logs                 ${folders.logs}${
    signIn === undefined
      ? `
  sign-in              none: every user of this machine can call the API, and run code as you; --auth asks callers who they are`
      : `
  sign-in              user admin, password in ${passwordFile(signIn)}; programs: client ${FLYTEKIT}, secret beside it`
  }
  state                ${folders.root}     (remove the folder to start afresh)`);
}
