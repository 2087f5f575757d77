import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { findLaunchPlan, type StoredLaunchPlan } from "./find.js";

/** What of a launch plan never changes. */
export type LaunchPlanVersion = Pick<StoredLaunchPlan, "rowId" | "workflowRowId"> & {
  readonly launchPlan: Pick<StoredLaunchPlan["launchPlan"], "id" | "spec"> & {
    readonly closure?: Pick<NonNullable<StoredLaunchPlan["launchPlan"]["closure"]>, "expectedInputs">;
  };
};

/** Bytes of all that are kept, as they are stored; decoded they take some times as much. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Versions of launch plans that executions were made of, as they were registered: but for their state they never change. Readers must not either. */
export class KnownVersions {
  readonly #known = new Map<string, { readonly version: LaunchPlanVersion; readonly bytes: number }>();
  #bytes = 0;

  constructor(
    private readonly db: Queryable,
    private readonly maxBytes = MAX_BYTES,
  ) {}

  async find(id: Identifier): Promise<LaunchPlanVersion | undefined> {
    const key = [id.project, id.domain, id.name, id.version].join("\n");
    const known = this.#known.get(key);
    if (known !== undefined) {
      // To the end of the queue: the one that nobody asked for longest goes first.
      this.#known.delete(key);
      this.#known.set(key, known);
      return known.version;
    }
    const found = await findLaunchPlan(this.db, id);
    if (found !== undefined) this.#keep(key, found);
    return found;
  }

  #keep(key: string, version: StoredLaunchPlan): void {
    // Somebody who asked at the same time may have been first.
    if (this.#known.has(key)) return;
    const bytes = key.length + version.encodedBytes;
    this.#known.set(key, { version, bytes });
    this.#bytes += bytes;
    for (const [oldest, dropped] of this.#known) {
      if (this.#bytes <= this.maxBytes) break;
      this.#known.delete(oldest);
      this.#bytes -= dropped.bytes;
    }
  }
}
