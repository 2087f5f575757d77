import type { Slot } from "../../../platform/index.js";
import type { OutboxEntry } from "./outbox.js";

/**
 * Launch slots of this process. createExecution inserts the outbox entry as claimed and launches
 * the execution at once, without a notification, poll and read. If the process crashes, the lease
 * expires and another replica claims the entry.
 */
export interface LaunchSlots {
  /** Lease duration, ms. */
  readonly leaseMs: number;
  /**
   * Reserves a slot. Undefined: none is free, and any replica with a free slot claims the entry.
   */
  reserve(): Slot<OutboxEntry> | undefined;
}
