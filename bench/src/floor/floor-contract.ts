/** Streams, and sizes of messages as those of a fan-out of `echo` tasks, bytes. */
export const FLOOR_REQUESTS = { stream: "FLOOR_REQUESTS", subject: "floor.requests", bytes: 500 };
export const FLOOR_EVENTS = { stream: "FLOOR_EVENTS", subject: "floor.events", bytes: 300 };
/** Table with one row per leaf. */
export const FLOOR_TABLE = "CREATE TABLE leaves (leaf integer PRIMARY KEY, event bytea NOT NULL)";

/** Roles of the processes: each does what one service does for a leaf, and nothing else. */
export type FloorRole = "engine" | "plugin" | "recorder";

/** Messages to the parent process: `ready` before the work, `done` with its processor time, s. */
export interface FloorMessage {
  readonly state: "ready" | "done";
  readonly cpuSeconds: number;
}
