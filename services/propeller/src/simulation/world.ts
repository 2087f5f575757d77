import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { Invariant } from "./invariants.js";
import type { SimulationOptions } from "./options.js";
import type { Random } from "./random.js";
import type { CacheAndFormer } from "./shared-catalog.js";
import type { AdminService } from "./world/admin-service.js";
import type { Announcements } from "./world/announcements.js";
import type { Faults } from "./world/faults.js";
import type { Fleet } from "./world/fleet.js";
import type { Schedule } from "./world/schedule.js";

/** Name of the execution that a world begins with. */
export const ROOT = "exec";

/** The unfair part of the schedule ends then, ms. */
export const FAIR_FROM = 180_000;

/** What the executions of one world share. */
export interface World {
  readonly options: SimulationOptions;
  readonly random: Random;
  readonly schedule: Schedule;
  readonly faults: Faults;
  /** Nothing is lost, and events alone must do. */
  readonly clean: boolean;
  readonly blobs: Map<string, LiteralMap>;
  readonly shared: CacheAndFormer;
  readonly service: AdminService;
  /** The propellers that share out the executions; undefined where each has a process of its own. */
  readonly fleet: Fleet | undefined;
  /** Plugin services that come and go, and say so; undefined where they are always there. */
  readonly announcements: Announcements | undefined;
  violate(invariant: Invariant, text: string): void;
  note(text: () => string): void;
}
