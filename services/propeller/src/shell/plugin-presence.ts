import type { PluginHello } from "@flyte-ts/task-plugin";
import { NO_PLUGINS_KNOWN, type PluginsKnown } from "../engine/plugin/known.js";

export interface PluginPresenceOptions {
  /** Since when announcements are listened to, ms. */
  readonly since: number;
  /** How long to listen before a task type that nobody named counts as served by nobody, ms. */
  readonly listenMs: number;
  /** A service that has not announced itself for so long is silent, ms. */
  readonly silentAfterMs: number;
}

/** Who has served for longer is not new; two of its announcements may have been lost, ms. */
const NEW_MS = 25_000;
/** Task types that are remembered, and processes; of more, those heard longest ago are forgotten. Anybody on the bus who may announce can name any. */
const MOST_REMEMBERED = 1_000;
const NONE: ReadonlySet<string> = new Set();

/**
 * Which plugin services are there, by what they announce. A standby listens too, so
 * that it knows when it takes over.
 */
export class PluginPresence {
  readonly #heardAt = new Map<string, number>();
  /** Processes that have begun to serve, with the time of their first word. */
  readonly #newcomers = new Map<string, number>();
  #known: PluginsKnown = NO_PLUGINS_KNOWN;

  constructor(private readonly options: PluginPresenceOptions) {}

  get known(): PluginsKnown {
    return this.#known;
  }

  /** Milliseconds since the last word, by task type. */
  silences(now: number): ReadonlyMap<string, number> {
    return new Map([...this.#heardAt].map(([taskType, at]) => [taskType, now - at]));
  }

  /** Returns the task types of a process that has just begun to serve them, when this is the first word of it. */
  heard({ taskTypes, instance, servedMs }: PluginHello, now: number): ReadonlySet<string> {
    for (const taskType of taskTypes) remember(this.#heardAt, taskType, now);
    if (servedMs > NEW_MS || instance === "" || this.#newcomers.has(instance)) return NONE;
    for (const [known, at] of this.#newcomers) if (now - at > 2 * NEW_MS) this.#newcomers.delete(known);
    remember(this.#newcomers, instance, now);
    return new Set(taskTypes);
  }

  /** Takes stock. Returns whether `known` says something else than before. */
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

/** Notes the time of a name as the newest. */
function remember(times: Map<string, number>, name: string, now: number): void {
  times.delete(name);
  times.set(name, now);
  if (times.size <= MOST_REMEMBERED) return;
  const [oldest] = times.keys();
  if (oldest !== undefined) times.delete(oldest);
}
