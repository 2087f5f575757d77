import type { Place } from "../background/worker.js";
import type { OutboxEntry } from "./outbox.js";

/**
 * Room for launches in this process. Who accepts an execution also launches it, where there is room: what is owed is stored as taken, and
 * nobody has to be told of it, to look for it or to read it again. Should this process die, the lease ends and others take it.
 */
export interface Launches {
  /** For how long it is taken. */
  readonly leaseMs: number;
  /** Undefined: there is no room, and whoever has some will take it. */
  reserve(): Place<OutboxEntry> | undefined;
}
