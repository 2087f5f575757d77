import type { GetOverviewResponse, OverviewService } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { checkName, invalidArgument } from "../platform/index.js";
import type { OverviewDeps } from "./deps.js";
import { readOverview } from "./read-overview.js";
import { RecentAnswers } from "./recent-answers.js";

const DEFAULT_HOURS = 24;
const MAX_HOURS = 168;

/** Overviews of projects and domains. */
export function overviewRpcs(deps: OverviewDeps): ServiceImplementation<typeof OverviewService> {
  const answers = new RecentAnswers<GetOverviewResponse>(deps.clock);
  return {
    async getOverview({ project, domain, hours }) {
      checkName(project, "project");
      checkName(domain, "domain");
      if (hours > MAX_HOURS) throw invalidArgument(`invalid value for hours: must be at most ${MAX_HOURS}`);
      const period = hours === 0 ? DEFAULT_HOURS : hours;
      return answers.get(JSON.stringify([project, domain, period]), () => readOverview(deps, { project, domain }, period));
    },
  };
}
