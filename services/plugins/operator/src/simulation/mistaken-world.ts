import type { ManualTime } from "@flyte-ts/async/manual-time";
import type { KubeObject, ResourceRef } from "@flyte-ts/kubernetes";
import type { Plugin } from "@flyte-ts/task-plugin";
import { OperatorWorld } from "./operator-world.js";

/** Mistakes of a controller of jobs, which the simulation has to find. */
export type Mistake = "forgetsUnansweredCreations" | "createsUnderNewNames" | "pretendsAborted" | "abortsWithoutWaiting" | "neverReports";

/** A simulated cluster whose plugin makes a mistake. */
export class MistakenWorld extends OperatorWorld {
  constructor(
    taskType: string,
    private readonly mistake: Mistake,
  ) {
    super(taskType, mistake === "forgetsUnansweredCreations" ? { creationSettlesWithinMs: 0 } : {});
    if (mistake === "createsUnderNewNames") this.#createUnderNewNames();
    if (mistake === "abortsWithoutWaiting") this.#deleteWithoutEffect();
  }

  override plugin(clock: ManualTime): Plugin {
    const plugin = super.plugin(clock);
    switch (this.mistake) {
      case "pretendsAborted":
        return { ...plugin, abort: () => Promise.resolve({ phase: "ABORTED" }), finalize: () => Promise.resolve() };
      case "neverReports":
        return {
          ...plugin,
          start: (host) => plugin.start?.({ ...host, publishStatus: () => Promise.resolve() }),
          reconcile: async (request) => {
            await plugin.reconcile(request);
            return { phase: "RUNNING" };
          },
        };
      default:
        return plugin;
    }
  }

  override startCount(): number {
    return this.api.totalStarts;
  }

  /** Names each creation differently, so that no later one finds an earlier job. */
  #createUnderNewNames(): void {
    const create = this.api.create.bind(this.api);
    let creations = 0;
    this.api.create = <T extends KubeObject>(ref: ResourceRef, object: KubeObject): Promise<T> =>
      create<T>(ref, { ...object, metadata: { ...object.metadata, name: `${object.metadata.name}-${creations++}` } });
  }

  /** Takes the answer of a deletion for its effect: every job seems gone at once. */
  #deleteWithoutEffect(): void {
    this.api.delete = () => Promise.resolve(true);
    this.api.get = () => Promise.resolve(undefined);
  }
}
