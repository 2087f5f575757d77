/** What is known of the plugin services, from what they announce. Times in ms since the epoch. */
export interface PluginsKnown {
  /** Announcements were listened to for long enough: a task type that nobody named is served by nobody. */
  readonly complete: boolean;
  /** Task types whose services announce themselves. */
  readonly served: ReadonlySet<string>;
  /** Task types whose services announce themselves no more, with the time of their last word. */
  readonly silent: ReadonlyMap<string, number>;
}

/** Before the first announcement: nothing is held against anybody. */
export const NO_PLUGINS_KNOWN: PluginsKnown = { complete: false, served: new Set(), silent: new Map() };

/** Why an attempt of this task type cannot be expected to begin; undefined when it can. */
export function troubleOf(known: PluginsKnown, taskType: string): string | undefined {
  if (known.served.has(taskType)) return undefined;
  const since = known.silent.get(taskType);
  if (since !== undefined) return `the plugin service for task type [${taskType}] has been silent since ${new Date(since).toISOString()}`;
  return known.complete ? `no plugin service serves task type [${taskType}]` : undefined;
}

/** Why an attempt waits whose plugin service is there and says nothing of it. `since`: ms, when it was first asked. */
export function unanswered(taskType: string, since: number): string {
  return `${silentOnRequest(taskType)} since ${new Date(since).toISOString()}, the request is sent again until it does`;
}

export function isUnanswered(reason: string | undefined, taskType: string): boolean {
  return reason?.startsWith(silentOnRequest(taskType)) === true;
}

function silentOnRequest(taskType: string): string {
  return `the plugin service for task type [${taskType}] is there and has not answered`;
}
