import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { FlyteClient } from "@flyte-ts/client";
import type { Execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { plainLiteral } from "../../examples/plain-literal.js";
import { waitForEnd } from "../../stack/executions.js";
import { type ImageKind, imageName } from "./job-images.fixture.js";
import type { PluginNode } from "./plugin-node.fixture.js";

const scope = { project: "flytesnacks", domain: "development" };
const TIMEOUT_MS = 480_000;

export interface Job {
  /** File below `jobs/`, without `.py`. */
  readonly file: string;
  readonly image: ImageKind;
  /** Argument `n` of its workflow. */
  readonly n: number;
  /** Number of pods of each role, and texts that their logs must have. */
  readonly pods: Readonly<Record<string, { readonly count: number; readonly log: RegExp }>>;
}

export interface EndedJob {
  /** SUCCEEDED, or another phase and the error. */
  readonly end: string;
  /** Sum of the squares, and the hosts that computed them. */
  readonly outputs: readonly unknown[];
  /** Names of the pods by role. */
  readonly pods: Readonly<Record<string, readonly string[]>>;
}

/**
 * Runs a job. It computes, and then waits until the log of each of its pods was read at its link,
 * since operators delete pods of ended jobs.
 */
export async function runJob(node: PluginNode, job: Job): Promise<EndedJob> {
  const gate = await openGate(node.host);
  try {
    const id = { ...scope, name: await startExecution(node, job, gate.url) };
    const pods = await readLogs(node, job, id);
    gate.release();
    const execution = await waitForEnd(node.client, id, TIMEOUT_MS);
    const { fullOutputs } = await node.client.admin.getExecutionData({ id });
    const outputs = Object.entries(fullOutputs?.literals ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return { end: endOf(execution), outputs: outputs.map(([, value]) => plainLiteral(value)), pods };
  } finally {
    gate.close();
  }
}

/** Starts a server that answers requests after `release`. */
async function openGate(host: string): Promise<{ url: string; release: () => void; close: () => void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const server = createServer((_, response) => void promise.then(() => response.end("released")));
  await new Promise<void>((listening) => server.listen(0, host, listening));
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    release: resolve,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Runs pyflyte in a pod of the job's image, which has the plugin; returns the execution's name. */
async function startExecution(node: PluginNode, { file, image, n }: Job, release: string): Promise<string> {
  const name = `run-${file.replaceAll("_", "-")}`;
  const command = `cp /jobs/*.py . && pyflyte run --remote --image ${imageName(image)} ${file}.py run --n ${n} --release ${release}`;
  const env = [
    { name: "FLYTE_PLATFORM_URL", value: `${node.host}:${node.api}` },
    { name: "FLYTE_PLATFORM_INSECURE", value: "true" },
  ];
  const container = {
    name,
    image: imageName(image),
    args: ["sh", "-c", command],
    env,
    volumeMounts: [{ name: "jobs", mountPath: "/jobs" }],
  };
  const volumes = [{ name: "jobs", configMap: { name: "jobs" } }];
  node.create({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { restartPolicy: "Never", containers: [container], volumes } });
  await node.waitForPhase(name, "Succeeded");
  const log = node.kubectl("logs", name);
  const execution = /executions\/([a-z0-9-]+)/.exec(log)?.[1];
  if (execution === undefined) throw new Error(`pyflyte started no execution:\n${log}`);
  return execution;
}

function endOf({ closure }: Execution): string {
  const phase = Phase[closure?.phase ?? 0] ?? "";
  return closure?.outputResult.case === "error" ? `${phase}: ${closure.outputResult.value.message}` : phase;
}

type ExecutionId = typeof scope & { readonly name: string };

/** Reads the logs at the links of the job's attempt until each of its pods has written its text. */
async function readLogs(node: PluginNode, { pods }: Job, id: ExecutionId): Promise<EndedJob["pods"]> {
  const deadline = Date.now() + TIMEOUT_MS;
  for (;;) {
    const execution = await node.client.admin.getExecution({ id });
    if ((execution.closure?.phase ?? 0) >= Phase.SUCCEEDED) throw new Error(`the job has not waited: ${endOf(execution)}`);
    const links = await logLinks(node.client, id);
    const found: Record<string, string[]> = {};
    const missing: string[] = [];
    for (const [role, { count, log }] of Object.entries(pods)) {
      const own = links.filter((link) => link.role.startsWith(role));
      found[role] = own.map(({ pod }) => pod).toSorted();
      const silent = own.filter(({ path }) => !log.test(node.kubectl("get", "--raw", path)));
      if (own.length !== count || silent.length > 0) missing.push(`${role}: ${own.length} pods, ${silent.length} without ${log}`);
    }
    if (missing.length === 0) return found;
    if (Date.now() > deadline) throw new Error(`logs are missing after ${TIMEOUT_MS / 1_000} s: ${missing.join("; ")}`);
    await sleep(1_000);
  }
}

/** Links of the only attempt: `Kubernetes Logs (ROLE)` to the log of a pod. */
async function logLinks(client: FlyteClient, executionId: ExecutionId): Promise<{ role: string; pod: string; path: string }[]> {
  const { taskExecutions } = await client.admin.listTaskExecutions({ nodeExecutionId: { executionId, nodeId: "n0" }, limit: 10 });
  return taskExecutions.flatMap(({ closure }) =>
    (closure?.logs ?? []).map(({ name, uri }) => {
      const { pathname } = new URL(uri);
      return { role: /\((.+)\)$/.exec(name)?.[1] ?? "", pod: /\/pods\/([^/]+)\/log$/.exec(pathname)?.[1] ?? "", path: pathname };
    }),
  );
}
