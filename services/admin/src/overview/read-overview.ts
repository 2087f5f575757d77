import { create, fromBinary } from "@bufbuild/protobuf";
import { timestampFromDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { LiteralTypeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import {
  type GetOverviewResponse,
  GetOverviewResponseSchema,
  PendingSignalSchema,
  RefusedFiringsSchema,
} from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import type { ActiveSchedule, NextRun } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import { nextRuns } from "../automation/index.js";
import { findActiveSchedules } from "../registry/index.js";
import type { OverviewDeps } from "./deps.js";
import { groupFailures } from "./group-failures.js";
import { groupWaits } from "./group-waits.js";
import { findOverdue } from "./overdue-schedules.js";
import { countPeriods } from "./period-counts.js";
import type { Scope } from "./store/scope.js";
import { findRefusedFirings } from "./store/automation.js";
import { findFailures } from "./store/failures.js";
import { countOpen, findPendingSignals, findWaits } from "./store/open-executions.js";
import { findWorkflowRuns } from "./store/workflow-runs.js";
import { markSucceeded, startDelays, workflowHealth } from "./workflow-health.js";

const HOUR_MS = 3_600_000;
const NEXT_RUNS = 10;

/** Reads an overview. Statements run one after the other: a caller takes one connection. */
export async function readOverview({ db, config, clock }: OverviewDeps, scope: Scope, hours: number): Promise<GetOverviewResponse> {
  const now = clock();
  const since = new Date(now.getTime() - hours * HOUR_MS);
  const zone = config.schedules.timeZone;
  const schedules = await findActiveSchedules(db, config, scope);
  const runs = await findWorkflowRuns(db, scope);
  const failures = groupFailures(await findFailures(db, scope, since));
  markSucceeded(failures, runs);
  const signals = await findPendingSignals(db, scope);
  const firings = await findRefusedFirings(db, scope, since);
  return create(GetOverviewResponseSchema, {
    asOf: timestampFromDate(now),
    open: await countOpen(db, scope),
    ...(await countPeriods(db, scope, { now, hours })),
    ...startDelays(runs),
    failures,
    signals: signals.map((row) =>
      create(PendingSignalSchema, {
        execution: row.execution_name,
        workflow: row.workflow_name,
        signalId: row.signal_id,
        type: fromBinary(LiteralTypeSchema, row.type),
        since: timestampFromDate(row.created_at),
      }),
    ),
    waits: groupWaits(await findWaits(db, scope)),
    refusedFirings: firings.map(({ name, count, reason, last_at: lastAt }) =>
      create(RefusedFiringsSchema, { trigger: name, count, reason, lastAt: timestampFromDate(lastAt) }),
    ),
    overdueSchedules: await findOverdue(db, scope, schedules, { zone, now }),
    workflows: workflowHealth(runs),
    nextRuns: nextOfEach(schedules, zone, now),
  });
}

/** Returns the next run of the schedules that are due first. */
function nextOfEach(schedules: readonly ActiveSchedule[], zone: string, now: Date): NextRun[] {
  return schedules
    .flatMap((schedule) => nextRuns([schedule], { zone, after: now.getTime(), limit: 1 }))
    .sort((one, other) => dueMs(one) - dueMs(other))
    .slice(0, NEXT_RUNS);
}

function dueMs({ scheduledAt }: NextRun): number {
  return scheduledAt === undefined ? 0 : timestampMs(scheduledAt);
}
