import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type Match, Match_Kind as Kind, MatchSchema, type SearchService } from "@flyte-ts/idl/flytets/admin/v1/search_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { phaseNames } from "../executions/index.js";
import { checkName, invalidArgument, type PlatformDeps } from "../platform/index.js";
import { parseText } from "./parse-text.js";
import { findExecutions, type FoundExecutionRow } from "./store/executions.js";
import { findNames, type NameRow } from "./store/names.js";

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 50;

const KINDS: Readonly<Record<number, Kind>> = {
  [ResourceType.WORKFLOW]: Kind.WORKFLOW,
  [ResourceType.LAUNCH_PLAN]: Kind.LAUNCH_PLAN,
  [ResourceType.TASK]: Kind.TASK,
};

/** Search for names in a project and domain. */
export function searchRpcs({ db }: Pick<PlatformDeps, "db">): ServiceImplementation<typeof SearchService> {
  return {
    async search({ project, domain, text, limit }) {
      checkName(project, "project");
      checkName(domain, "domain");
      if (limit > MAX_LIMIT) throw invalidArgument(`invalid value for limit: must be at most ${MAX_LIMIT}`);
      const searched = { scope: { project, domain }, ...parseText(text), limit: limit === 0 ? DEFAULT_LIMIT : limit };
      const names = await findNames(db, searched);
      const executions = await findExecutions(db, searched);
      return { matches: [...names.map(nameMatch), ...executions.map(executionMatch)] };
    },
  };
}

function nameMatch({ resource_type: type, name }: NameRow): Match {
  return create(MatchSchema, { kind: KINDS[type] ?? Kind.KIND_UNSPECIFIED, name });
}

function executionMatch(row: FoundExecutionRow): Match {
  return create(MatchSchema, {
    kind: Kind.EXECUTION,
    name: row.execution_name,
    workflow: row.workflow_name,
    phase: phaseNames.workflowPhaseOf(row.phase),
    createdAt: timestampFromDate(row.created_at),
  });
}
