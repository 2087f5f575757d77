import type { WorkflowSpec } from "./build/workflow.js";
import type { Faults } from "./world/faults.js";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import type { CatalogBug } from "./world/catalog.js";
import type { ServiceBug } from "./world/admin-service.js";
import type { ShardBug } from "./world/replica.js";
import type { ShellBug } from "./world/effects.js";

/** Deliberate mistakes: of the shell, of the plugin service, of admin, of the engine. */
export type PlantedBug =
  | ShellBug
  | ServiceBug
  | CatalogBug
  | ShardBug
  | "forgetsTasks"
  /** Attempts that nobody serves are not given up. */
  | "waitsForEver"
  | "pluginLeavesAborted"
  | "forgetsFollowers"
  | "forgetsStarts"
  | "forgetsChildren"
  | "forgetsOutputs"
  | "forgetsBelow"
  | "forgetsItems"
  | "crowdsArrays";

export interface SimulationOptions {
  readonly seed: number;
  /** A deliberate mistake. */
  readonly bug?: PlantedBug;
  readonly workflow?: WorkflowSpec;
  /** Instead of what the seed gives. */
  readonly faults?: Partial<Faults>;
  /** How many propellers share out the executions, instead of what the seed gives; 0: each execution has a process of its own. */
  readonly propellers?: number;
  /** Whether plugin services come and go, instead of what the seed gives. */
  readonly announced?: boolean;
  /** Whether the world may have a cache and a former execution. */
  readonly plain?: boolean;
  /** Told of every event of the first execution, with what stands in the blob store then. */
  readonly onEvent?: (event: ExecutionEvent, blobs: ReadonlyMap<string, LiteralMap>) => void;
  /** Collect what happens, as text. */
  readonly trace?: boolean;
}
