import type { DeletingCluster } from "../../../clusters/index.js";
import { deletionQueue, type executionIds } from "../../../executions/index.js";
import type { ClaimedRow } from "../../../platform/index.js";
import type { AutomationDeps } from "../../deps.js";
import type { RetentionMetrics } from "./metrics.js";

export interface DeletionDeps extends Pick<AutomationDeps, "db" | "blobs" | "config" | "clock" | "random" | "logger"> {
  readonly clusters: readonly DeletingCluster[];
  readonly sleep: (ms: number) => Promise<void>;
  readonly metrics: RetentionMetrics;
}

/** The row id is the execution's. */
export interface ClaimedDeletion extends executionIds.ExecutionName, ClaimedRow {
  readonly root: bigint;
  readonly confirmed: boolean;
  readonly keepsRawOutputs: boolean;
  readonly byPolicy: boolean;
  readonly requestedBy: string;
  readonly rawOutputPrefix: string;
  readonly cluster: string;
  readonly acceptedAt: Date;
}

/** Lease duration, ms. When it expires, another worker may claim the deletion. */
export const LEASE_MS = 120_000;

/** Claims roots first, whose trees are checked again before anything is deleted. */
export async function claimDeletions(
  { db, clock, config }: Pick<DeletionDeps, "db" | "clock" | "config">,
  limit: number,
): Promise<readonly ClaimedDeletion[]> {
  const now = clock();
  const rows = await deletionQueue.claimDueDeletions(db, { now, leaseEnd: new Date(now.getTime() + LEASE_MS), limit });
  return rows.map((row) => ({
    id: row.id,
    root: row.root_id,
    confirmed: row.confirmed,
    keepsRawOutputs: row.keeps_raw_outputs,
    byPolicy: row.by_policy,
    requestedBy: row.requested_by,
    attempts: row.attempts,
    project: row.project,
    domain: row.domain,
    name: row.name,
    rawOutputPrefix: row.raw_output_prefix || config.storage.rawOutputPrefix,
    cluster: row.cluster,
    acceptedAt: new Date(Number(row.accepted_ns / 1_000_000n)),
  }));
}

export const nameOf = ({ project, domain, name }: executionIds.ExecutionName) => `${project}/${domain}/${name}`;
