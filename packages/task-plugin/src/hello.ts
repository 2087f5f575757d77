/** What a plugin service tells every ten seconds on `pluginHelloSubject`. */
export interface PluginHello {
  readonly name: string;
  readonly taskTypes: readonly string[];
  /** False: attempts leave nothing, FINALIZE need not be sent. */
  readonly finalizes: boolean;
  /** Names the process; empty when it does not say. */
  readonly instance: string;
  /** How long it has served, ms. What it was asked before that, another process may have taken and lost. */
  readonly servedMs: number;
}

export const HELLO_INTERVAL_MS = 10_000;

/** A plugin service serves a handful; of one that names more nothing is kept. */
const MOST_TASK_TYPES = 1_000;

export function encodeHello(hello: PluginHello): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(hello));
}

/** The announcement, or undefined for bytes that are none. */
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
