/** Heartbeat of a plugin service, sent every ten seconds. */
export interface PluginHeartbeat {
  readonly name: string;
  readonly taskTypes: readonly string[];
  /** Identifies the process; empty when unknown. */
  readonly instance: string;
  /** Uptime, ms. Requests sent earlier may have been taken and lost by a previous process. */
  readonly uptimeMs: number;
  /** Work of the process; undefined for versions that do not send it. */
  readonly load?: PluginLoad | undefined;
}

/** Work of a process of a plugin service. */
export interface PluginLoad {
  /** Attempts in progress. */
  readonly attempts: number;
  /** Age of the oldest request that was accepted and is not processed yet, ms; 0 without one. */
  readonly oldestRequestMs: number;
}

/** Heartbeat as it is encoded; `servedMs` is the uptime. */
interface HeartbeatJson extends Omit<PluginHeartbeat, "uptimeMs"> {
  readonly servedMs: number;
}

export const HEARTBEAT_INTERVAL_MS = 10_000;
/** Time without a heartbeat after which a task type is no longer served: three were lost. */
export const HEARTBEAT_TIMEOUT_MS = 35_000;

/**
 * Maximum number of task types in a heartbeat; one with more is ignored. A plugin service serves a
 * few types.
 */
const MAX_TASK_TYPES = 1_000;

export function encodeHeartbeat(heartbeat: PluginHeartbeat): Uint8Array {
  const { name, taskTypes, instance, uptimeMs: servedMs, load } = heartbeat;
  const json: HeartbeatJson = { name, taskTypes, instance, servedMs, load };
  return new TextEncoder().encode(JSON.stringify(json));
}

/** Decodes a heartbeat; undefined for invalid bytes. */
export function decodeHeartbeat(data: Uint8Array): PluginHeartbeat | undefined {
  try {
    const { name, taskTypes, instance, servedMs, load } = JSON.parse(new TextDecoder().decode(data)) as Partial<HeartbeatJson>;
    if (typeof name !== "string" || !Array.isArray(taskTypes) || taskTypes.length > MAX_TASK_TYPES) return undefined;
    return {
      name,
      taskTypes: taskTypes.filter((type) => typeof type === "string"),
      instance: typeof instance === "string" ? instance : "",
      uptimeMs: typeof servedMs === "number" ? servedMs : Number.POSITIVE_INFINITY,
      load: readLoad(load),
    };
  } catch {
    return undefined;
  }
}

function readLoad(load: Partial<PluginLoad> | undefined): PluginLoad | undefined {
  const { attempts, oldestRequestMs } = load ?? {};
  return isCount(attempts) && isCount(oldestRequestMs) ? { attempts, oldestRequestMs } : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
