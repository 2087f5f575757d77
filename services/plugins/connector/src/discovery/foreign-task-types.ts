import { BoundedMap } from "@flyte-ts/async";
import type { PluginHeartbeat } from "@flyte-ts/task-plugin";

/** Maximum number of tracked task types: heartbeats may name any. */
const MAX_TRACKED = 1_000;

/** Task types of other plugin services, by their heartbeats. */
export class ForeignTaskTypes {
  readonly #heardAt = new BoundedMap<string, number>(MAX_TRACKED);

  /**
   * @param ownName name of this plugin, which replicas and predecessors of this service share
   *
   * @param forgetMs time after the last heartbeat for which a type still belongs to its service, ms
   */
  constructor(
    private readonly ownName: string,
    private readonly forgetMs: number,
  ) {}

  /** Returns true when a type is new. */
  onHeartbeat({ name, taskTypes }: PluginHeartbeat, now: number): boolean {
    if (name === this.ownName) return false;
    const before = this.#heardAt.size;
    for (const taskType of taskTypes) this.#heardAt.set(taskType, now);
    return this.#heardAt.size !== before;
  }

  taskTypes(now: number): ReadonlySet<string> {
    for (const [taskType, at] of this.#heardAt) if (now - at >= this.forgetMs) this.#heardAt.delete(taskType);
    return new Set(this.#heardAt.keys());
  }
}
