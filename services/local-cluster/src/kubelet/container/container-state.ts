import { createHash } from "node:crypto";
import type { ContainerProcess } from "./container-process.js";
import type { ContainerSpec } from "./container-spec.js";
import type { Run } from "../pod/plan-pod.js";

/** Reason why a container cannot be started, and the time of the next try. */
export interface BlockedStart {
  readonly reason: string;
  readonly message: string;
  readonly retryAt: number;
  /** Number of consecutive failed pulls. */
  readonly pulls: number;
}

/** State of one container in its pod's worker. */
export interface ContainerState {
  readonly spec: ContainerSpec;
  run: Run | undefined;
  previous: Run | undefined;
  process: ContainerProcess | undefined;
  blocked: BlockedStart | undefined;
}

/** Container id in the format of container runtimes. */
export function containerId(podUid: string, name: string, attempt: number): string {
  return `process://${createHash("sha256").update(`${podUid}/${name}/${attempt}`).digest("hex")}`;
}
