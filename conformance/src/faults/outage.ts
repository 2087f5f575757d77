import { setTimeout as sleep } from "node:timers/promises";
import type { FlyteClient } from "@flyte-ts/client";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { expect } from "vitest";
import { type ResponseCounts, createWithRetry } from "../stack/create-with-retry.js";
import { retryWhileUnavailable, nodeAndAttemptPhases } from "../stack/executions.js";
import { sleepInputs } from "../stack/sleep-chain.js";

/** A fault of a control plane. */
export interface Fault {
  readonly name: string;
  readonly begin: () => Promise<unknown> | void;
  readonly end: () => Promise<unknown> | void;
}

export interface OutageOptions {
  /** Clients of the replicas of admin, at least one. */
  readonly clients: readonly FlyteClient[];
  /** A chain of two sleeping nodes. */
  readonly launchPlan: Identifier;
  /** Number of executions to create. */
  readonly executions: number;
  /** Duration of the fault, ms. */
  readonly outageMs: number;
  /** Longest wait for a response, and for the executions to end, ms. */
  readonly timeoutMs: number;
}

/** Concurrent requests. */
const CONCURRENCY = 8;
const SCOPE = { project: "flytesnacks", domain: "development" };
const ENDED: readonly Phase[] = [Phase.SUCCEEDED, Phase.FAILED, Phase.ABORTED, Phase.TIMED_OUT];
const EXPECTED_NODES = ["n0 0 SUCCEEDED", "n0 SUCCEEDED", "n1 0 SUCCEEDED", "n1 SUCCEEDED"];

/**
 * Creates executions before, during and after a fault. Asserts that each exists once and succeeds.
 *
 * @param prefix prefix of the names of the executions
 */
export async function runThroughOutage(prefix: string, { name, begin, end }: Fault, options: OutageOptions): Promise<void> {
  const { executions, outageMs, timeoutMs } = options;
  const responseCounts: ResponseCounts = new Map();
  const creating = createAll(prefix, responseCounts, options);
  // Prevents an unhandled rejection; the `await` below reports the error.
  creating.catch(() => undefined);
  await sleep(outageMs / 4);
  await begin();
  await sleep(outageMs);
  await end();
  const names = await creating;
  const made = Date.now();
  const phases = () => phasesOf(prefix, options);

  await expect.poll(async () => [...(await phases()).keys()].length, { timeout: timeoutMs, interval: 250 }).toBe(names.length);
  const open = async () => [...(await phases())].filter(([, [phase = Phase.UNDEFINED]]) => !ENDED.includes(phase)).length;
  await expect.poll(open, { timeout: timeoutMs, interval: 500 }).toBe(0);
  const report = [...responseCounts].map(([code, count]) => `${code} ${count}`).join(", ");
  process.stdout.write(`${name}: ${report}; all ended ${((Date.now() - made) / 1_000).toFixed(1)} s after the last request\n`);
  expect([...(await phases())].filter(([, each]) => each.length !== 1 || each[0] !== Phase.SUCCEEDED)).toEqual([]);
  // Check about 20 executions in detail, evenly spread over the order of creation.
  const every = Math.max(1, Math.floor(executions / 20));
  for (const each of names.filter((_, place) => place % every === 0)) {
    // Poll: messages that a killed process had received are redelivered to another one, possibly
    // after the execution has ended.
    await expect
      .poll(() => nodeAndAttemptPhases(options.clients.at(-1) as FlyteClient, { ...SCOPE, name: each }), {
        message: each,
        timeout: timeoutMs,
        interval: 500,
      })
      .toEqual(EXPECTED_NODES);
  }
}

/**
 * Creates the executions: the first request starts before the fault and the last one after its end.
 */
async function createAll(
  prefix: string,
  responseCounts: ResponseCounts,
  { clients, launchPlan, executions, outageMs, timeoutMs }: OutageOptions,
): Promise<string[]> {
  const names = Array.from({ length: executions }, (_, index) => `${prefix}x${index}`);
  const begun = Date.now();
  const next = names.entries();
  const caller = async () => {
    for (const [index, name] of next) {
      await sleep(Math.max(0, begun + (index / executions) * outageMs * 1.5 - Date.now()));
      await createWithRetry({ name, launchPlan, inputs: sleepInputs(50) }, { clients, firstClient: index, responseCounts, timeoutMs });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, caller));
  return names;
}

/** Phases of all executions with this name prefix, one for each row. */
async function phasesOf(prefix: string, { clients }: OutageOptions): Promise<Map<string, Phase[]>> {
  const found = new Map<string, Phase[]>();
  const request = { id: SCOPE, limit: 10_000, filters: `contains(execution_name,${prefix}x)` };
  const { executions, token } = await retryWhileUnavailable(() => (clients.at(-1) as FlyteClient).admin.listExecutions(request));
  expect(token).toBe("");
  for (const { id, closure } of executions) found.set(id?.name ?? "", [...(found.get(id?.name ?? "") ?? []), closure?.phase ?? 0]);
  return found;
}
