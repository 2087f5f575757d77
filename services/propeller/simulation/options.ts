import type { EngineBug } from "./mutants.js";
import type { WorkflowSpec } from "./fixtures/workflow.js";
import type { Faults } from "./world/faults.js";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { CatalogBug } from "./services/catalog.js";
import type { AdminBug } from "./services/admin-service.js";
import type { ShardBug } from "./processes/replica.js";
import type { ShellBug } from "./world/effects.js";

/** Planted mistakes: of the shell, of the plugin service, of admin, of the engine. */
export type InjectedBug =
  | ShellBug
  | AdminBug
  | CatalogBug
  | ShardBug
  | "forgetsTasks"
  /** Attempts of unserved types never fail. */
  | "waitsForEver"
  | "pluginLeavesAborted"
  | EngineBug;

export interface SimulationOptions {
  readonly seed: number;
  /** Planted mistake. */
  readonly bug?: InjectedBug;
  readonly workflow?: WorkflowSpec;
  /** Overrides the faults that the seed gives. */
  readonly faults?: Partial<Faults>;
  /**
   * Number of propellers that share the executions, overriding the seed; 0: each execution has its
   * own process.
   */
  readonly propellers?: number;
  /** Lets plugin services come and go, overriding the seed. */
  readonly announced?: boolean;
  /**
   * Excludes caches and recovered executions, and by default several propellers and changing plugin
   * services.
   */
  readonly plain?: boolean;
  /** Called with every event of the first execution and the blob store's contents at that time. */
  readonly onEvent?: (event: ExecutionEvent, blobs: ReadonlyMap<string, LiteralMap>) => void;
  /** Records all occurrences, as text. */
  readonly trace?: boolean;
}
