import { BoundedMap } from "@flyte-ts/async";
import type { Queryable } from "@flyte-ts/postgres";
import { type executionIds, executionQueries } from "../../executions/index.js";

/** Maximum of cached executions; an evicted one that still reports costs one query. */
const CAPACITY = 100_000;

const keyOf = ({ project, domain, name }: executionIds.ExecutionName): string => `${project}\n${domain}\n${name}`;

interface KnownExecution {
  readonly id: bigint;
  /** Final once the execution has events. */
  readonly cluster: string;
}

/** Cache of the row ids of executions by name. Ids never change. */
export class ExecutionIds {
  readonly #known = new BoundedMap<string, KnownExecution>(CAPACITY);

  /** Returns the id of each name, in order; undefined where the execution does not exist (yet). */
  async resolve(db: Queryable, names: readonly executionIds.ExecutionName[]): Promise<readonly (bigint | undefined)[]> {
    const unknown = new Map<string, executionIds.ExecutionName>();
    for (const name of names) {
      const key = keyOf(name);
      if (!this.#known.has(key)) unknown.set(key, name);
    }
    if (unknown.size > 0) await this.#load(db, [...unknown.values()]);
    return names.map((name) => this.#known.get(keyOf(name))?.id);
  }

  /**
   * Returns the indexes of items from another data plane than their execution's. Call it after
   * `resolve`.
   */
  async findWrongCluster(
    db: Queryable,
    reported: readonly { readonly execution: executionIds.ExecutionName; readonly cluster?: string | undefined }[],
  ): Promise<ReadonlySet<number>> {
    const isElsewhere = (index: number): boolean => {
      const { execution, cluster } = reported[index] as (typeof reported)[number];
      const known = cluster === undefined ? undefined : this.#known.get(keyOf(execution))?.cluster;
      // An execution from the time of a single data plane has no cluster.
      return known !== undefined && known !== "" && known !== cluster;
    };
    const suspects = [...reported.keys()].filter(isElsewhere);
    if (suspects.length === 0) return new Set();
    // The execution may have moved to another cluster since it was cached, before its launch.
    await this.#load(
      db,
      suspects.flatMap((index) => reported[index]?.execution ?? []),
    );
    return new Set(suspects.filter(isElsewhere));
  }

  async #load(db: Queryable, names: readonly executionIds.ExecutionName[]): Promise<void> {
    for (const row of await executionQueries.findExecutionIds(db, names)) this.#known.set(keyOf(row), { id: row.id, cluster: row.cluster });
  }
}
