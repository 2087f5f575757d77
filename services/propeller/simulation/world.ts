import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { Invariant } from "./invariants.js";
import type { SimulationOptions } from "./options.js";
import type { Random } from "./random.js";
import type { CatalogAndRecovery } from "./shared-catalog.js";
import type { AdminService } from "./services/admin-service.js";
import type { PluginHeartbeats } from "./services/plugin-heartbeats.js";
import type { Faults } from "./world/faults.js";
import type { Fleet } from "./processes/fleet.js";
import type { Schedule } from "./world/schedule.js";

/** Name of the first execution of a world. */
export const ROOT = "exec";

/** End of the unfair phase of the schedule, ms. */
export const FAULTS_END_MS = 180_000;

/** State shared by the executions of one world. */
export interface World {
  readonly options: SimulationOptions;
  readonly random: Random;
  readonly schedule: Schedule;
  readonly faults: Faults;
  /** Messages are never lost, and events alone must suffice. */
  readonly lossless: boolean;
  readonly blobs: Map<string, LiteralMap>;
  readonly shared: CatalogAndRecovery;
  readonly service: AdminService;
  /** The propellers that share the executions; undefined where each has its own process. */
  readonly fleet: Fleet | undefined;
  /**
   * Plugin services that come and go and send heartbeats; undefined where they are always
   * available.
   */
  readonly announcements: PluginHeartbeats | undefined;
  violate(invariant: Invariant, text: string): void;
  log(text: () => string): void;
}
