import { BoundedMap } from "@flyte-ts/async";
import type { PluginHello } from "@flyte-ts/task-plugin";
import { NO_PLUGINS_KNOWN, type PluginsKnown } from "../engine/plugin/known.js";

export interface PluginPresenceOptions {
  /** Time since which heartbeats are consumed, ms. */
  readonly since: number;
  /** Discovery time before a task type without heartbeat counts as unserved, ms. */
  readonly listenMs: number;
  /** Time without heartbeat after which a service is stale, ms. */
  readonly silentAfterMs: number;
}

/** Uptime above which a process is not new, ms. Allows for the loss of two heartbeats. */
const NEW_MS = 25_000;
/**
 * Maximum of tracked task types, and of processes; the least recently heard are evicted, since any client that may
 * publish heartbeats can invent names.
 */
const MOST_REMEMBERED = 1_000;
const NONE: ReadonlySet<string> = new Set();

/** Registry of plugin services, from their heartbeats. A standby maintains it too, so that it is complete at a takeover. */
export class PluginPresence {
  readonly #heardAt = new BoundedMap<string, number>(MOST_REMEMBERED);
  /** Recently started processes, with the time of their first heartbeat. */
  readonly #newcomers = new BoundedMap<string, number>(MOST_REMEMBERED);
  #known: PluginsKnown = NO_PLUGINS_KNOWN;

  constructor(private readonly options: PluginPresenceOptions) {}

  get known(): PluginsKnown {
    return this.#known;
  }

  /** Milliseconds since the last heartbeat, by task type. */
  silences(now: number): ReadonlyMap<string, number> {
    return new Map([...this.#heardAt].map(([taskType, at]) => [taskType, now - at]));
  }

  /** Returns the task types of a process that has just started, on its first heartbeat. */
  heard({ taskTypes, instance, servedMs }: PluginHello, now: number): ReadonlySet<string> {
    for (const taskType of taskTypes) this.#heardAt.set(taskType, now);
    if (servedMs > NEW_MS || instance === "" || this.#newcomers.has(instance)) return NONE;
    for (const [known, at] of this.#newcomers) if (now - at > 2 * NEW_MS) this.#newcomers.delete(known);
    this.#newcomers.set(instance, now);
    return new Set(taskTypes);
  }

  /** Updates `known`. Returns true when it changed. */
  check(now: number): boolean {
    const { since, listenMs, silentAfterMs } = this.options;
    const complete = now - since >= listenMs;
    const served = new Set<string>();
    const silent = new Map<string, number>();
    for (const [taskType, at] of this.#heardAt) {
      if (now - at < silentAfterMs) served.add(taskType);
      else silent.set(taskType, at);
    }
    const before = this.#known;
    const same =
      before.complete === complete &&
      before.served.size === served.size &&
      before.silent.size === silent.size &&
      [...served].every((taskType) => before.served.has(taskType));
    if (same) return false;
    this.#known = { complete, served, silent };
    return true;
  }
}
