import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { shardOf } from "@flyte-ts/domain/name";
import type { Execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { createKubeClient, type KubeClient, type KubeObject } from "@flyte-ts/kubernetes";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { createLogger } from "@flyte-ts/telemetry";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import type { ExecutionName } from "../stack/executions.js";
import { busUrl, type RunningStack, startStack } from "../stack/stack-fixture.js";

interface Resource extends KubeObject {
  readonly status?: { readonly nodeStatus?: Readonly<Record<string, { readonly phase?: number; readonly message?: string }>> };
}

/**
 * Timeouts of the pod plugin, short for the tests; the configuration's defaults apply elsewhere.
 */
const SHORT_TIMEOUTS = { LISTENMS: "12000", UNANSWEREDAFTERMS: "3000" };
const NAMESPACE = "flytesnacks-development";

/** A program that fails with an error message and a traceback of five megabytes each. */
export const HUGE_ERROR_PROGRAM = `
from flytekit import task, workflow

@task
def shout() -> int:
    if True:
        raise ValueError("BEGIN" + "x" * 4_900_000 + "FINISH")
    return 1

@workflow
def loud() -> int:
    return shout()
`;

/** A local stack with direct access to everything that can break a workflow. */
export class BrokenInputStack {
  #count = 0;

  private constructor(
    readonly stack: RunningStack,
    readonly client: FlyteClient,
    readonly kube: KubeClient,
    readonly bus: Bus,
  ) {}

  static async start(): Promise<BrokenInputStack> {
    for (const [name, value] of Object.entries(SHORT_TIMEOUTS)) process.env[`FLYTE_TS_PROPELLER_PLUGINS__${name}`] = value;
    const stack = await startStack();
    for (const name of Object.keys(SHORT_TIMEOUTS)) delete process.env[`FLYTE_TS_PROPELLER_PLUGINS__${name}`];
    const client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
    const kube = await createKubeClient({ kubeconfig: stack.kubeconfig });
    const logger = createLogger({ service: "test", level: "silent" });
    const bus = await connectBus({ url: busUrl(stack, "plugin-echo"), name: "test", logger });
    return new BrokenInputStack(stack, client, kube, bus);
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.kube.close();
    await this.bus.close();
    await this.stack.stop();
  }

  async create(launchPlan: Identifier): Promise<ExecutionName> {
    const id = { project: launchPlan.project, domain: launchPlan.domain, name: `p${this.#count++}x${Date.now().toString(36)}` };
    await this.client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {} }, inputs: {} });
    return id;
  }

  resource({ name }: ExecutionName): Promise<Resource | undefined> {
    return this.kube.get<Resource>(FLYTE_WORKFLOW_RESOURCE, { namespace: NAMESPACE, name });
  }

  /**
   * Changes a resource directly in Kubernetes. Propeller reads the change at the latest when it
   * restarts.
   */
  async patchResource({ name }: ExecutionName, body: object): Promise<void> {
    await this.kube.mergePatch(FLYTE_WORKFLOW_RESOURCE, { namespace: NAMESPACE, name, body });
  }

  restartPropeller(): void {
    for (const pid of this.stack.pids("propeller")) process.kill(pid, "SIGKILL");
  }

  /** Waits until the resource shows the node in one of these phases. */
  async waitForNodePhase(id: ExecutionName, node: string, phases: readonly number[]): Promise<void> {
    await waitFor(async () => phases.includes((await this.resource(id))?.status?.nodeStatus?.[node]?.phase ?? 0) || undefined);
  }

  /** Deletes the execution's blob whose URI ends with `suffix`. */
  deleteBlob({ name }: ExecutionName, suffix: string): void {
    const matching = filesBelow(this.stack.folder).filter((path) => path.includes(name) && path.endsWith(suffix));
    if (matching.length !== 1) throw new Error(`${matching.length} blobs of ${name} end in ${suffix}`);
    for (const path of matching) rmSync(path);
  }

  execution(id: ExecutionName): Promise<Execution> {
    return this.client.admin.getExecution({ id });
  }

  /** Resolves to the execution's error once GetExecution shows one that contains this text. */
  waitForError(id: ExecutionName, text: string, timeoutMs?: number): Promise<{ readonly code: string; readonly message: string }> {
    return waitFor(async () => {
      const shown = errorOf(await this.execution(id));
      return shown?.message.includes(text) === true ? shown : undefined;
    }, timeoutMs);
  }
}

/** Returns the error of an execution. */
export function errorOf({ closure }: Execution): { readonly code: string; readonly message: string } | undefined {
  return closure?.outputResult.case === "error" ? closure.outputResult.value : undefined;
}

export async function waitFor<T>(read: () => Promise<T | undefined>, timeoutMs = 60_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const found = await read().catch(() => undefined);
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error("it did not come to that");
    await sleep(100);
  }
}

/** Keeps creating copies of a resource that propeller cannot decode. */
export function createUndecodableCopies(
  kube: KubeClient,
  original: KubeObject & { readonly status?: unknown },
  namePrefix: string,
): { readonly made: () => number; readonly stop: () => Promise<void> } {
  const { status: _, ...fresh } = original;
  let made = 0;
  let stopped = false;
  const inputs = (name: string) => `s3://my-s3-bucket/nowhere/flytesnacks/development/${name}/inputs.pb`;
  const making = (async () => {
    while (!stopped) {
      const name = `${namePrefix}${made}`;
      const { namespace = "", labels = {} } = original.metadata;
      const metadata = {
        name,
        namespace,
        labels: { ...labels, "execution-id": name, "shard-key": String(shardOf(name)) },
        finalizers: original.metadata.finalizers ?? [],
      };
      const executionId = { project: "flytesnacks", domain: "development", name };
      const defect = made % 2 === 0 ? { spec: { nodes: 5 } } : { offloadedInputs: inputs(name), inputs: null };
      const copy: KubeObject & Readonly<Record<string, unknown>> = { ...fresh, ...defect, executionId, metadata };
      await kube.create(FLYTE_WORKFLOW_RESOURCE, copy);
      made++;
      await sleep(100);
    }
  })();
  return {
    made: () => made,
    stop: async () => {
      stopped = true;
      await making;
    },
  };
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
