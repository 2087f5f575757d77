import { TimeZones } from "@flyte-ts/schedules";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { ScheduleService } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import { type Channel, createClient } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import { type Outcome, outcomeOf } from "./outcome.js";
import { runRequest } from "./run.js";
import { readSchedule, type Schedule, scheduleName } from "./schedule.js";

/** The active schedules at some time. */
export interface ScheduleList {
  readonly revision: string;
  readonly schedules: readonly Schedule[];
}

export interface StartResult {
  readonly outcome: Outcome;
  /** Reason of a refusal. */
  readonly reason?: string;
}

/** Admin, which holds the schedules and creates executions. */
export interface AdminClient {
  /** Undefined while the given revision is current. */
  listIfChanged(known: string | undefined): Promise<ScheduleList | undefined>;
  /**
   * Starts the run of a schedule for a time (ms since the epoch); idempotent.
   *
   * @throws when it may succeed later, or may have succeeded.
   */
  start(schedule: Schedule, at: number, deadlineMs: number): Promise<StartResult>;
}

/** Admin over RPC. */
export function createAdminClient({ channel, logger }: { channel: Channel; logger: Logger }): AdminClient {
  const admin = createClient({ channel, service: AdminService });
  const schedules = createClient({ channel, service: ScheduleService });
  const zones = new TimeZones();
  return {
    async listIfChanged(known) {
      const response = await schedules.listSchedules(known === undefined ? {} : { knownRevision: known });
      if (response.revision === known) return undefined;
      const read: Schedule[] = [];
      for (const listed of response.schedules) {
        const schedule = readSchedule(listed, { zones, zone: response.timeZone });
        if (schedule !== undefined) read.push(schedule);
        else
          logger.warn(
            { launchPlan: listed.launchPlan && scheduleName(listed.launchPlan) },
            "a schedule never runs: its expression is invalid",
          );
      }
      return { revision: response.revision, schedules: read };
    },
    async start(schedule, at, deadlineMs) {
      try {
        await admin.createExecution(runRequest(schedule, at), { deadlineMs });
        return { outcome: "started" };
      } catch (failure) {
        return { outcome: outcomeOf(failure), reason: String(failure) };
      }
    },
  };
}
