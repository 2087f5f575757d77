import type { Bus } from "@flyte-ts/messaging";

/** Subject on which admins tell each other that executions have changed. */
export const EXECUTIONS_CHANGED = "flyte.admin.changed";

/**
 * Tells all replicas that something of these executions was committed. It may be lost: they look by themselves, more
 * seldom.
 */
export function publishChanged(bus: Pick<Bus, "publishVolatile">, executionIds: readonly bigint[]): void {
  if (executionIds.length > 0) bus.publishVolatile(EXECUTIONS_CHANGED, Buffer.from(executionIds.join(",")));
}

export function readChanged(data: Uint8Array): bigint[] {
  const text = Buffer.from(data).toString("latin1");
  return /^[0-9]{1,19}(,[0-9]{1,19})*$/.test(text) ? text.split(",").map(BigInt) : [];
}
