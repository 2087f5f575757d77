/** Availability of plugin services, from their heartbeats. Times in ms since the epoch. */
export interface PluginsKnown {
  /** Discovery is done: a task type without heartbeat is unserved. */
  readonly complete: boolean;
  /** Task types with recent heartbeats. */
  readonly served: ReadonlySet<string>;
  /** Task types whose heartbeats stopped, with the time of the last one. */
  readonly silent: ReadonlyMap<string, number>;
}

/** State before the first heartbeat: no task type counts as unserved. */
export const NO_PLUGINS_KNOWN: PluginsKnown = { complete: false, served: new Set(), silent: new Map() };

/** Reason why an attempt of this task type cannot be expected to start; undefined when it can. */
export function troubleOf(known: PluginsKnown, taskType: string): string | undefined {
  if (known.served.has(taskType)) return undefined;
  const since = known.silent.get(taskType);
  if (since !== undefined) return `the plugin service for task type [${taskType}] has been silent since ${new Date(since).toISOString()}`;
  return known.complete ? `no plugin service serves task type [${taskType}]` : undefined;
}

/** Reason shown for an attempt whose available plugin service has not reported on it. `since`: time of the first request, ms. */
export function unanswered(taskType: string, since: number): string {
  return `${silentOnRequest(taskType)} since ${new Date(since).toISOString()}, the request is sent again until it does`;
}

export function isUnanswered(reason: string | undefined, taskType: string): boolean {
  return reason?.startsWith(silentOnRequest(taskType)) === true;
}

function silentOnRequest(taskType: string): string {
  return `the plugin service for task type [${taskType}] is there and has not answered`;
}
