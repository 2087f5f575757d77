import { BoundedMap } from "@flyte-ts/async";
import type { Queryable } from "@flyte-ts/postgres";
import { namespaceOf } from "../../platform/index.js";
import { type executionIds, executionQueries } from "../../executions/index.js";

/** Maximum of cached executions; an evicted one that still reports costs one query. */
const CAPACITY = 100_000;

const keyOf = ({ project, domain, name }: executionIds.ExecutionName): string => `${project}\n${domain}\n${name}`;

interface KnownExecution {
  readonly id: bigint;
  /** Final once the execution has events. */
  readonly cluster: string;
  /** `namespace/name` of the execution's resource. */
  readonly workflowKey: string;
  readonly acceptedSecond: bigint;
}

/** Execution and sender of an event. */
export interface Reported {
  readonly execution: executionIds.ExecutionName;
  readonly cluster?: string | undefined;
  readonly workflowKey?: string | undefined;
  readonly acceptedSecond?: bigint | undefined;
}

/**
 * Cache of the row ids of executions by name. The row of a name may be deleted, by any replica, and
 * the name be given to a new one: each batch checks its cached ids, which costs a fifth of a search
 * by name.
 */
export class ExecutionIds {
  readonly #known = new BoundedMap<string, KnownExecution>(CAPACITY);

  /** `namespaceTemplate`: template of the namespace of a project and domain. */
  constructor(private readonly namespaceTemplate: string) {}

  /**
   * Returns the id of each event's execution, in order; undefined where the execution does not
   * exist (yet), or the resource of a deleted one of its name sent the event; "foreign" where
   * another data plane or another resource than the execution's sent it.
   */
  async resolve(db: Queryable, reported: readonly Reported[]): Promise<readonly (bigint | "foreign" | undefined)[]> {
    const keys = reported.map(({ execution }) => keyOf(execution));
    await this.#forgetDeleted(db, keys);
    // An execution may have moved to another cluster since it was cached, before its launch.
    await this.#load(db, reported, ({ cluster }, index) => {
      const known = this.#known.get(keys[index] as string);
      return known === undefined || !isOwnCluster(known, cluster);
    });
    return reported.map(({ cluster, workflowKey, acceptedSecond }, index) => {
      const known = this.#known.get(keys[index] as string);
      if (known === undefined || (acceptedSecond !== undefined && acceptedSecond !== known.acceptedSecond)) return undefined;
      const isOwn = isOwnCluster(known, cluster) && (workflowKey === undefined || workflowKey === known.workflowKey);
      return isOwn ? known.id : "foreign";
    });
  }

  /** Removes the executions with these keys whose rows were deleted. */
  async #forgetDeleted(db: Queryable, keys: readonly string[]): Promise<void> {
    const cached = new Map<bigint, string>();
    for (const key of keys) {
      const known = this.#known.get(key);
      if (known !== undefined) cached.set(known.id, key);
    }
    if (cached.size === 0) return;
    for (const id of await executionQueries.findMissingIds(db, [...cached.keys()])) this.#known.delete(cached.get(id) as string);
  }

  /** Loads the executions of the chosen events. */
  async #load(db: Queryable, reported: readonly Reported[], isChosen: (event: Reported, index: number) => boolean): Promise<void> {
    const names = new Map(reported.filter(isChosen).map(({ execution }) => [keyOf(execution), execution]));
    if (names.size === 0) return;
    for (const row of await executionQueries.findExecutionIds(db, [...names.values()])) {
      const { id, cluster, project, domain, name, acceptedSecond } = row;
      const workflowKey = `${namespaceOf(this.namespaceTemplate, project, domain)}/${name}`;
      this.#known.set(keyOf(row), { id, cluster, workflowKey, acceptedSecond });
    }
  }
}

/** An execution from the time of a single data plane has no cluster. */
function isOwnCluster(known: KnownExecution, cluster: string | undefined): boolean {
  return cluster === undefined || known.cluster === "" || known.cluster === cluster;
}
