/** Availability of plugin services, from their heartbeats. Times in ms since the epoch. */
export interface PluginHealth {
  /** Discovery is done: a task type without heartbeat is unserved. */
  readonly discoveryDone: boolean;
  /** Task types with recent heartbeats. */
  readonly available: ReadonlySet<string>;
  /** Task types whose heartbeats stopped, with the time of the last one. */
  readonly stale: ReadonlyMap<string, number>;
}

/** State before the first heartbeat: no task type counts as unserved. */
export const UNKNOWN_PLUGIN_HEALTH: PluginHealth = { discoveryDone: false, available: new Set(), stale: new Map() };

/** Reason why an attempt of this task type cannot be expected to start; undefined when it can. */
export function pluginUnavailableReason(known: PluginHealth, taskType: string): string | undefined {
  if (known.available.has(taskType)) return undefined;
  const since = known.stale.get(taskType);
  if (since !== undefined)
    return `the plugin service for task type [${taskType}] has not sent a heartbeat since ${new Date(since).toISOString()}`;
  return known.discoveryDone ? `no plugin service serves task type [${taskType}]` : undefined;
}

/**
 * Reason shown for an attempt whose available plugin service has not reported on it. `since`: time
 * of the first request, ms.
 */
export function pluginUnresponsiveReason(taskType: string, since: number): string {
  return `${unresponsivePrefix(taskType)} since ${new Date(since).toISOString()}; the request is sent again`;
}

export function isPluginUnresponsiveReason(reason: string | undefined, taskType: string): boolean {
  return reason?.startsWith(unresponsivePrefix(taskType)) === true;
}

function unresponsivePrefix(taskType: string): string {
  return `the plugin service for task type [${taskType}] is available but has not answered`;
}
