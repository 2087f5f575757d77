import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ScheduleService } from "@flyte-ts/idl/flytets/admin/v1/schedule_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { isTime } from "@flyte-ts/domain/timestamp";
import type { AutomationDeps } from "../deps.js";
import { checkLimit, checkText, invalidArgument } from "../../platform/index.js";
import { findActiveSchedules, scheduleRevision } from "../../registry/index.js";
import { nextRuns } from "./next-runs.js";

const DEFAULT_RUNS = 10;

/** Active schedules for the scheduler, and their next runs for users. */
export function scheduleRpcs({
  db,
  config,
  clock,
}: Pick<AutomationDeps, "db" | "config" | "clock">): ServiceImplementation<typeof ScheduleService> {
  return {
    async listSchedules({ knownRevision }) {
      // Reads the revision first: the next call detects changes between the two reads.
      const revision = await scheduleRevision(db, config);
      const schedules = revision === knownRevision ? [] : await findActiveSchedules(db, config);
      return { revision, schedules, timeZone: config.schedules.timeZone };
    },

    async listNextRuns({ project, domain, name, after, limit }) {
      checkText(project, "project");
      checkText(domain, "domain");
      if (name !== "") checkText(name, "name");
      if (after !== undefined && !isTime(after)) throw invalidArgument("invalid value for after: it must be a time of the years 1 to 9999");
      const most = checkLimit(limit, DEFAULT_RUNS);
      const schedules = await findActiveSchedules(db, config, { project, domain, ...(name !== "" && { name }) });
      const runs = nextRuns(schedules, {
        zone: config.schedules.timeZone,
        after: (after === undefined ? clock() : timestampDate(after)).getTime(),
        limit: most,
      });
      return { runs };
    },
  };
}
