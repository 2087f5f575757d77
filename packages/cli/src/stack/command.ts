import { loadConfig } from "@flyte-ts/config";
import { booleanFlags } from "../boolean-flags.js";
import { stackConfigSchema } from "./config.js";
import { join } from "node:path";
import { repositoryRoot } from "./paths.js";
import { type Progress, terminalProgress } from "./progress.js";
import { loadPyflyte, type WaitingPyflyte } from "./pyflyte.js";
import { startGuard } from "@flyte-ts/local-servers";
import { FLYTEKIT, passwordFile } from "./sign-in.js";
import { type Stack, startStack } from "./stack.js";

const EXAMPLE = ["run", "--remote", "example.py", "training_workflow", "--hyperparameters", '{"C": 0.4}'];

/**
 * `flyte-ts start`: runs the local stack until Ctrl-C, or until the example has ended with `--exit`. A second
 * Ctrl-C does not wait for the end: whatever ends this process, the guard then ends the stack. Resolves to the exit status.
 */
export async function startCommand(argv: readonly string[]): Promise<number> {
  const progress = terminalProgress((text) => process.stdout.write(text), Date.now);
  const config = loadConfig(stackConfigSchema, {
    service: "stack",
    argv: booleanFlags(argv, ["exit", "example", "auth", "bundles"]),
    env: process.env,
  });
  const guard = startGuard();
  const interrupted = interruption();
  progress.line("flyte-ts: starting the local stack");
  let pyflyte: WaitingPyflyte | undefined;
  const starting = startStack(
    { ...config, data: config.data ?? join(repositoryRoot, ".flyte-ts") },
    {
      progress,
      guard,
      onPlanned: (plan) => {
        if (config.example) pyflyte = loadPyflyte(plan, EXAMPLE);
      },
    },
  );
  const first = await Promise.race([starting, interrupted]);
  if (first === "interrupted") {
    await (await starting).stop();
    return 130;
  }
  const stack = first;
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

async function runExample(stack: Stack, { pyflyte, progress }: { pyflyte: WaitingPyflyte; progress: Progress }): Promise<boolean> {
  progress.line(`\n$ pyflyte ${EXAMPLE.map((word) => (/[{ ]/.test(word) ? `'${word}'` : word)).join(" ")}`);
  const start = Date.now();
  const submitting = pyflyte.run();
  // The client and all messages take 50 MiB: only who runs the example loads them.
  const { followExample } = await import("./run-example.js");
  return followExample(stack, { progress, submitting, start });
}

function statusOf(outcome: boolean | string): number {
  if (outcome === "interrupted") return 130;
  return outcome === true ? 0 : 1;
}

/** Resolves with the first signal; the second ends this process. */
function interruption(): Promise<"interrupted"> {
  return new Promise((resolve) => {
    let count = 0;
    const take = () => {
      if (++count > 1) process.exit(130);
      resolve("interrupted");
    };
    // SIGHUP: the terminal was closed.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, take);
  });
}

function printAddresses({ endpoints, folders, cluster, blobs, signIn }: Stack, line: (text: string) => void): void {
  const host = endpoints.host.replace("127.0.0.1", "localhost");
  line(`
ready
  API (gRPC and REST)  ${host}:${endpoints.api}     http://${host}:${endpoints.api}/api/v1/projects
  blob store (S3)      ${blobs.endpoint.replace("127.0.0.1", "localhost")}
  kubectl              export KUBECONFIG=${cluster.kubeconfig}
  logs                 ${folders.logs}${
    signIn === undefined
      ? ""
      : `
  sign-in              user admin, password in ${passwordFile(signIn)}; programs: client ${FLYTEKIT}, secret beside it`
  }
  state                ${folders.root}     (remove the folder to start afresh)`);
}
