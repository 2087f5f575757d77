import { type Queryable, textArray } from "@flyte-ts/postgres";
import type { ExecutionName } from "../execution/state.js";

const CAPACITY = 100_000;

const keyOf = ({ project, domain, name }: ExecutionName): string => `${project}\n${domain}\n${name}`;

interface Known {
  readonly id: bigint;
  /** Final when events come of it. */
  readonly cluster: string;
}

/** Row numbers of executions by name. A number never changes, so what is known is kept. */
export class ExecutionIds {
  readonly #known = new Map<string, Known>();

  /** For each name, in order, the number; undefined where there is no such execution (yet). */
  async resolve(db: Queryable, names: readonly ExecutionName[]): Promise<readonly (bigint | undefined)[]> {
    const unknown = new Map<string, ExecutionName>();
    for (const name of names) {
      const key = keyOf(name);
      if (!this.#known.has(key)) unknown.set(key, name);
    }
    if (unknown.size > 0) await this.#load(db, [...unknown.values()]);
    return names.map((name) => this.#known.get(keyOf(name))?.id);
  }

  /** The places of those that were not given to the data plane which speaks of them. Call it when they are resolved. */
  async elsewhere(
    db: Queryable,
    told: readonly { readonly execution: ExecutionName; readonly cluster?: string | undefined }[],
  ): Promise<ReadonlySet<number>> {
    const isElsewhere = (index: number): boolean => {
      const { execution, cluster } = told[index] as (typeof told)[number];
      const known = cluster === undefined ? undefined : this.#known.get(keyOf(execution))?.cluster;
      // An execution of the time when there was one data plane alone names none.
      return known !== undefined && known !== "" && known !== cluster;
    };
    const suspects = [...told.keys()].filter(isElsewhere);
    if (suspects.length === 0) return new Set();
    // It may have been moved since, before its launch.
    await this.#load(
      db,
      suspects.flatMap((index) => told[index]?.execution ?? []),
    );
    return new Set(suspects.filter(isElsewhere));
  }

  async #load(db: Queryable, names: readonly ExecutionName[]): Promise<void> {
    const { rows } = await db.query<{ id: bigint; project: string; domain: string; name: string; cluster: string }>({
      name: "find-execution-ids",
      text: `SELECT e.id, e.cluster, e.execution_project AS project, e.execution_domain AS domain, e.execution_name AS name
        FROM unnest($1::text[], $2::text[], $3::text[]) AS given (project, domain, name)
        JOIN executions e ON e.execution_project = given.project AND e.execution_domain = given.domain AND e.execution_name = given.name`,
      values: [
        textArray(names.map(({ project }) => project)),
        textArray(names.map(({ domain }) => domain)),
        textArray(names.map(({ name }) => name)),
      ],
    });
    for (const row of rows) this.#known.set(keyOf(row), { id: row.id, cluster: row.cluster });
    // The oldest go first; executions that still report come back with one look-up.
    for (const key of this.#known.keys()) {
      if (this.#known.size <= CAPACITY) break;
      this.#known.delete(key);
    }
  }
}
