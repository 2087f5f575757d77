import { createHash } from "node:crypto";
import type { ContainerProcess } from "./container-process.js";
import type { ContainerSpec } from "./container-spec.js";
import type { Run } from "../pod/plan-pod.js";

/** Why a container is not started, and when to try again. */
export interface BlockedStart {
  readonly reason: string;
  readonly message: string;
  readonly retryAt: number;
  /** Failed pulls in a row. */
  readonly pulls: number;
}

/** What the worker of a pod knows of one container. */
export interface ContainerState {
  readonly spec: ContainerSpec;
  run: Run | undefined;
  previous: Run | undefined;
  process: ContainerProcess | undefined;
  blocked: BlockedStart | undefined;
}

/** An id in the form of a container runtime's. */
export function containerId(podUid: string, name: string, attempt: number): string {
  return `process://${createHash("sha256").update(`${podUid}/${name}/${attempt}`).digest("hex")}`;
}
