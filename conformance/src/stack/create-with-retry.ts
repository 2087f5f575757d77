import { setTimeout as sleep } from "node:timers/promises";
import { Code, codeName, type FlyteClient, RpcError } from "@flyte-ts/client";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";

/** Number of responses by code. */
export type ResponseCounts = Map<string, number>;

export interface WantedExecution {
  readonly name: string;
  readonly launchPlan: Identifier;
  readonly inputs?: LiteralMap;
}

export interface RetryOptions {
  /** Clients of the replicas of admin. */
  readonly clients: readonly FlyteClient[];
  /** Index of the replica to call first. */
  readonly firstClient: number;
  readonly responseCounts: ResponseCounts;
  readonly timeoutMs: number;
}

/**
 * Creates one execution as a client does: retries at the next replica while the outcome of the call
 * is unknown.
 */
export async function createWithRetry(
  { name, launchPlan, inputs }: WantedExecution,
  { clients, firstClient, responseCounts, timeoutMs }: RetryOptions,
): Promise<void> {
  const { project, domain } = launchPlan;
  const request = { project, domain, name, spec: { launchPlan, metadata: {} }, ...(inputs && { inputs }) };
  const deadline = Date.now() + timeoutMs;
  let outcomeUnknown = false;
  for (let attempt = firstClient; ; attempt++) {
    const client = clients[attempt % clients.length] as FlyteClient;
    const code = await client.admin.createExecution(request, { deadlineMs: 5_000 }).then(
      () => Code.OK,
      (error: unknown) => (error instanceof RpcError ? error.code : Code.UNKNOWN),
    );
    responseCounts.set(codeName(code), (responseCounts.get(codeName(code)) ?? 0) + 1);
    if (code === Code.OK) return;
    // An earlier try created it. Without an unknown outcome before, no other caller can have
    // created it.
    if (code === Code.ALREADY_EXISTS && outcomeUnknown) return;
    if (code !== Code.UNAVAILABLE && code !== Code.DEADLINE_EXCEEDED) throw new Error(`${name} was answered ${codeName(code)}`);
    if (Date.now() > deadline) throw new Error(`${name} was never accepted`);
    outcomeUnknown = true;
    await sleep(100);
  }
}
