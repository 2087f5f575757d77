import type { PluginReplicaJson } from "@flyte-ts/idl/flytets/admin/v1/cluster_pb";
import { readTimeMs } from "../../format/time.js";

/** Time without a heartbeat after which a process counts as silent, ms: three were lost. */
const SILENT_MS = 35_000;

/** State of a plugin service. */
export interface ServiceState {
  /** Processes that send heartbeats. */
  readonly answering: number;
  /** Time of the last heartbeat of all. */
  readonly lastMs: number | undefined;
}

export function serviceState(replicas: readonly PluginReplicaJson[], nowMs: number): ServiceState {
  const heard = replicas.flatMap(({ heardAt }) => readTimeMs(heardAt) ?? []);
  return {
    answering: heard.filter((atMs) => nowMs - atMs < SILENT_MS).length,
    lastMs: heard.length === 0 ? undefined : Math.max(...heard),
  };
}
