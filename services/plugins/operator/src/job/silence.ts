import { parseTime } from "@flyte-ts/pod-task";
import type { Job, Operator } from "../operator.js";

interface Silence {
  /** Undefined before the timeout. */
  readonly reason?: string;
  readonly recheckAt?: Date;
}

/**
 * Explains that no operator has written a status for a while. The attempt continues, since an
 * operator may still start.
 */
export function silenceReason(
  { kind }: Operator,
  { metadata }: Job,
  { operatorTimeoutMs, now }: { readonly operatorTimeoutMs: number; readonly now: Date },
): Silence {
  const createdAt = parseTime(metadata.creationTimestamp) ?? now;
  const end = new Date(createdAt.getTime() + operatorTimeoutMs);
  if (now < end) return { recheckAt: end };
  const seconds = Math.round(operatorTimeoutMs / 1_000);
  const named = `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
  return { reason: `no operator has acted on ${named} for ${seconds} s: is the operator for ${kind} installed and running?` };
}
