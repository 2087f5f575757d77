import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { attemptHash } from "../task/attempt-identity.js";

/** Label that distinguishes an attempt's job from that of a deleted execution of the same name. */
export const ATTEMPT_LABEL = "flyte-attempt";
/** BigQuery allows 64 labels; `ATTEMPT_LABEL` is one of them. */
const MAX_LABELS = 63;
const MAX_LENGTH = 63;

/** Labels of the job: those of the execution in the characters that BigQuery allows. */
export function jobLabels(request: TaskRequest): Record<string, string> {
  const labels = Object.entries(request.labels).flatMap(([key, value]) => {
    const name = allowed(key);
    return /^[a-z]/.test(name) ? [[name, allowed(value)] as const] : [];
  });
  return { ...Object.fromEntries(labels.slice(0, MAX_LABELS)), [ATTEMPT_LABEL]: attemptLabel(request) };
}

/** Value of `ATTEMPT_LABEL`, 16 hexadecimal digits. */
export function attemptLabel(request: TaskRequest): string {
  return attemptHash(request).slice(0, 16);
}

function allowed(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, "_")
    .slice(0, MAX_LENGTH);
}
