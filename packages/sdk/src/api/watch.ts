import { pathOf } from "@flyte-ts/client/browser";
import type { Execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { type NodeExecution, NodeExecutionListSchema } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import type { WatchExecutionResponse } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { type ExecutionEnd, endOf, hasEnded } from "./execution-end.js";
import { type ExecutionName, type Executions } from "./executions.js";
import { RestError } from "./flyte-api.js";
import { pause } from "./pause.js";

/** State of an execution: what has changed since the message before, or all of it. */
export type WatchedState = Pick<WatchExecutionResponse, "execution" | "nodes" | "tasks">;

/** Codes of a server without streams of executions, of which Go Flyte's gateway gives the first. */
const NOT_FOUND = 5;
const UNIMPLEMENTED = 12;
/** Delays between questions: short at first, then by the age of the watch. */
const FIRST_POLL_MS = 50;
const MAX_POLL_MS = 2_000;
const POLL_SHARE_OF_AGE = 0.1;

/** Signal of a wait that nothing ends early. */
const NEVER = new AbortController().signal;

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** Ask also for the nodes, where the server has no streams. */
  readonly withNodes: boolean;
}

/** Yields the state of an execution until it ends. Servers without streams are asked repeatedly. */
export async function* watchStates(executions: Executions, id: ExecutionName, options: WatchOptions): AsyncGenerator<WatchedState, void> {
  try {
    yield* executions.live(id, options.signal);
  } catch (error) {
    if (!(error instanceof RestError) || ![NOT_FOUND, UNIMPLEMENTED].includes(error.code)) throw error;
    yield* pollStates(
      {
        execution: () => executions.get(id, { signal: options.signal }),
        nodes: () => (options.withNodes ? nodesOf(executions, id, options.signal) : Promise.resolve([])),
      },
      options.signal,
    );
  }
}

/** Waits for the end of an execution. */
export async function waitForEnd(executions: Executions, id: ExecutionName, signal: AbortSignal = NEVER): Promise<ExecutionEnd> {
  for await (const { execution } of watchStates(executions, id, { signal, withNodes: false }))
    if (execution !== undefined && hasEnded(execution)) return endOf(executions, id, execution);
  return endOf(executions, id, await executions.get(id, { signal }));
}

/** Calls that return the state of an execution. */
export interface PolledExecution {
  execution(): Promise<Execution>;
  /** Lists the nodes below the execution itself. */
  nodes(): Promise<readonly NodeExecution[]>;
}

/** Asks for the state of an execution until it ends, less often the longer it runs. */
export async function* pollStates(polled: PolledExecution, signal: AbortSignal = NEVER): AsyncGenerator<WatchedState, void> {
  const startedAt = performance.now();
  for (;;) {
    const execution = await polled.execution();
    const nodes = await polled.nodes();
    yield {
      execution,
      nodes: nodes.map((node) => ({ $typeName: "flytets.admin.v1.WatchedNode", node, parentNodeId: "" })),
      tasks: [],
    };
    if (hasEnded(execution)) return;
    const age = performance.now() - startedAt;
    await pause(Math.min(MAX_POLL_MS, Math.max(FIRST_POLL_MS, age * POLL_SHARE_OF_AGE)), signal);
  }
}

async function nodesOf({ api }: Executions, id: ExecutionName, signal: AbortSignal): Promise<readonly NodeExecution[]> {
  const path = pathOf("api/v1/node_executions", id.project, id.domain, id.name);
  const nodes: NodeExecution[] = [];
  for (let token = ""; ; ) {
    const page = await api.call(NodeExecutionListSchema, path, { query: { limit: 100, token: token || undefined }, signal });
    nodes.push(...page.nodeExecutions);
    token = page.token;
    if (token === "") return nodes;
  }
}
