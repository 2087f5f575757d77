import type { Bus } from "@flyte-ts/messaging";

/** Subject on which replicas of admin notify each other of changed executions. */
export const EXECUTIONS_CHANGED = "flyte.admin.changed";

/**
 * Notifies all replicas of committed changes of these executions. The message may be lost: replicas
 * also poll, less often.
 */
export function publishChanged(bus: Pick<Bus, "publishEphemeral">, executionIds: readonly bigint[]): void {
  if (executionIds.length > 0) bus.publishEphemeral(EXECUTIONS_CHANGED, Buffer.from(executionIds.join(",")));
}

export function readChanged(data: Uint8Array): bigint[] {
  const text = Buffer.from(data).toString("latin1");
  return /^[0-9]{1,19}(,[0-9]{1,19})*$/.test(text) ? text.split(",").map(BigInt) : [];
}
