import type { WorkflowSpec } from "./build/workflow.js";
import type { Faults } from "./world/faults.js";
import type { ServiceBug } from "./world/admin-service.js";
import type { ShellBug } from "./world/propeller.js";

/** Deliberate mistakes: of the shell, of the plugin service, of admin, of the engine. */
export type PlantedBug = ShellBug | ServiceBug | "pluginLeavesAborted" | "forgetsFollowers" | "forgetsChildren";

export interface SimulationOptions {
  readonly seed: number;
  /** A deliberate mistake. */
  readonly bug?: PlantedBug;
  readonly workflow?: WorkflowSpec;
  /** Instead of what the seed gives. */
  readonly faults?: Partial<Faults>;
  /** Collect what happens, as text. */
  readonly trace?: boolean;
}
