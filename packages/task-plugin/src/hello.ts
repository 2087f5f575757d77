/** Heartbeat of a plugin service, sent every ten seconds on `pluginHelloSubject`. */
export interface PluginHello {
  readonly name: string;
  readonly taskTypes: readonly string[];
  /** False: attempts leave nothing behind, so FINALIZE need not be sent. */
  readonly finalizes: boolean;
  /** Identifies the process; empty when unknown. */
  readonly instance: string;
  /** Uptime, ms. Requests sent earlier may have been taken and lost by a previous process. */
  readonly servedMs: number;
}

export const HELLO_INTERVAL_MS = 10_000;

/** A plugin service serves a few; a heartbeat with more than this is ignored. */
const MOST_TASK_TYPES = 1_000;

export function encodeHello(hello: PluginHello): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(hello));
}

/** Decodes a heartbeat; undefined for invalid bytes. */
export function decodeHello(data: Uint8Array): PluginHello | undefined {
  try {
    const { name, taskTypes, finalizes, instance, servedMs } = JSON.parse(new TextDecoder().decode(data)) as Partial<PluginHello>;
    if (typeof name !== "string" || !Array.isArray(taskTypes) || taskTypes.length > MOST_TASK_TYPES) return undefined;
    return {
      name,
      taskTypes: taskTypes.filter((type) => typeof type === "string"),
      finalizes: finalizes !== false,
      instance: typeof instance === "string" ? instance : "",
      servedMs: typeof servedMs === "number" ? servedMs : Number.POSITIVE_INFINITY,
    };
  } catch {
    return undefined;
  }
}
