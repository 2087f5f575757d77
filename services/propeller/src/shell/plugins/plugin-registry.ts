import { BoundedMap } from "@flyte-ts/async";
import type { PluginHeartbeat } from "@flyte-ts/task-plugin";
import { UNKNOWN_PLUGIN_HEALTH, type PluginHealth } from "../../engine/plugin-health.js";

export interface PluginRegistryOptions {
  /** Time since which heartbeats are consumed, ms. */
  readonly listeningSince: number;
  /** Discovery time before a task type without heartbeat counts as unserved, ms. */
  readonly discoveryMs: number;
  /** Time without heartbeat after which a service is stale, ms. */
  readonly heartbeatTimeoutMs: number;
}

/** Uptime above which a process is not new, ms. Allows for the loss of two heartbeats. */
const MAX_NEW_UPTIME_MS = 25_000;
/**
 * Maximum of tracked task types, and of processes. Those with the oldest heartbeat are evicted,
 * since any client that may publish heartbeats can invent names.
 */
const MAX_TRACKED = 1_000;
const NONE: ReadonlySet<string> = new Set();

/**
 * Registry of plugin services, from their heartbeats. A standby maintains it too, so that it is
 * complete at a takeover.
 */
export class PluginRegistry {
  readonly #lastHeartbeatAt = new BoundedMap<string, number>(MAX_TRACKED);
  /** Task types of recently started processes, with the time of their first heartbeat. */
  readonly #recentlyStarted = new BoundedMap<string, number>(MAX_TRACKED);
  #health: PluginHealth = UNKNOWN_PLUGIN_HEALTH;

  constructor(private readonly options: PluginRegistryOptions) {}

  get health(): PluginHealth {
    return this.#health;
  }

  /** Milliseconds since the last heartbeat, by task type. */
  heartbeatAges(now: number): ReadonlyMap<string, number> {
    return new Map([...this.#lastHeartbeatAt].map(([taskType, at]) => [taskType, now - at]));
  }

  /** Returns the task types of a process that has just started, on the first heartbeat of each. */
  onHeartbeat({ taskTypes, instance, uptimeMs }: PluginHeartbeat, now: number): ReadonlySet<string> {
    for (const taskType of taskTypes) this.#lastHeartbeatAt.set(taskType, now);
    if (uptimeMs > MAX_NEW_UPTIME_MS || instance === "") return NONE;
    for (const [known, at] of this.#recentlyStarted) if (now - at > 2 * MAX_NEW_UPTIME_MS) this.#recentlyStarted.delete(known);
    const started = taskTypes.filter((taskType) => !this.#recentlyStarted.has(`${instance} ${taskType}`));
    for (const taskType of started) this.#recentlyStarted.set(`${instance} ${taskType}`, now);
    return started.length === 0 ? NONE : new Set(started);
  }

  /** Updates `health`. Returns true when it changed. */
  refresh(now: number): boolean {
    const { listeningSince, discoveryMs, heartbeatTimeoutMs } = this.options;
    const discoveryDone = now - listeningSince >= discoveryMs;
    const available = new Set<string>();
    const stale = new Map<string, number>();
    for (const [taskType, at] of this.#lastHeartbeatAt) {
      if (now - at < heartbeatTimeoutMs) available.add(taskType);
      else stale.set(taskType, at);
    }
    const before = this.#health;
    const same =
      before.discoveryDone === discoveryDone &&
      before.available.size === available.size &&
      before.stale.size === stale.size &&
      [...available].every((taskType) => before.available.has(taskType));
    if (same) return false;
    this.#health = { discoveryDone, available, stale };
    return true;
  }
}
