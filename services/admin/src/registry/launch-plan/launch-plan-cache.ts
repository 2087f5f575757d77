import { LruCache } from "@flyte-ts/async";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { findLaunchPlan, type StoredLaunchPlan } from "../store/launch-plans.js";

/** Immutable part of a launch plan. */
export type LaunchPlanVersion = Pick<StoredLaunchPlan, "rowId" | "workflowRowId"> & {
  readonly launchPlan: Pick<StoredLaunchPlan["launchPlan"], "id" | "spec"> & {
    readonly closure?: Pick<NonNullable<StoredLaunchPlan["launchPlan"]["closure"]>, "expectedInputs">;
  };
};

/** Capacity, bytes of stored size; decoded values take several times as much. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * LRU cache of launch plan versions, which are immutable except for their state. Readers must not
 * modify them.
 */
export class LaunchPlanCache {
  readonly #known: LruCache<LaunchPlanVersion>;

  constructor(
    private readonly db: Queryable,
    maxBytes = MAX_BYTES,
  ) {
    this.#known = new LruCache(maxBytes);
  }

  async find(id: Identifier): Promise<LaunchPlanVersion | undefined> {
    const key = [id.project, id.domain, id.name, id.version].join("\n");
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const found = await findLaunchPlan(this.db, id);
    if (found !== undefined) this.#known.setIfAbsent(key, found, key.length + found.encodedBytes);
    return found;
  }
}
