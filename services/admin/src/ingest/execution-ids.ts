import type { Queryable } from "@flyte-ts/postgres";
import type { ExecutionName } from "../execution/state.js";

const CAPACITY = 100_000;

const keyOf = ({ project, domain, name }: ExecutionName): string => `${project}\n${domain}\n${name}`;

/** Row numbers of executions by name. A number never changes, so what is known is kept. */
export class ExecutionIds {
  readonly #known = new Map<string, bigint>();

  /** For each name, in order, the number; undefined where there is no such execution (yet). */
  async resolve(db: Queryable, names: readonly ExecutionName[]): Promise<readonly (bigint | undefined)[]> {
    const unknown = new Map<string, ExecutionName>();
    for (const name of names) {
      const key = keyOf(name);
      if (!this.#known.has(key)) unknown.set(key, name);
    }
    if (unknown.size > 0) await this.#load(db, [...unknown.values()]);
    return names.map((name) => this.#known.get(keyOf(name)));
  }

  async #load(db: Queryable, names: readonly ExecutionName[]): Promise<void> {
    const { rows } = await db.query<{ id: bigint; project: string; domain: string; name: string }>({
      name: "find-execution-ids",
      text: `SELECT e.id, e.execution_project AS project, e.execution_domain AS domain, e.execution_name AS name
        FROM unnest($1::text[], $2::text[], $3::text[]) AS given (project, domain, name)
        JOIN executions e ON e.execution_project = given.project AND e.execution_domain = given.domain AND e.execution_name = given.name`,
      values: [names.map(({ project }) => project), names.map(({ domain }) => domain), names.map(({ name }) => name)],
    });
    for (const row of rows) this.#known.set(keyOf(row), row.id);
    // The oldest go first; executions that still report come back with one look-up.
    for (const key of this.#known.keys()) {
      if (this.#known.size <= CAPACITY) break;
      this.#known.delete(key);
    }
  }
}
