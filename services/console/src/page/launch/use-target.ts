import { useQuery } from "@tanstack/react-query";
import type { Scope } from "../../api/scope.js";
import { useApp } from "../../app/app.js";
import { oneVersionQuery, planVersionsQuery, runsQuery, taskVersionsQuery, workflowPlansQuery } from "../../entity/queries.js";
import type { LaunchSearch } from "../../route/launch-search.js";
import { sourceQuery } from "./queries.js";
import { planTarget, taskTarget } from "./target.js";

/** Entity that the address names; undefined where it names an execution alone. */
export function namedEntity(
  search: LaunchSearch,
): { readonly kind: "workflow" | "launch_plan" | "task"; readonly name: string } | undefined {
  if (search.task !== "") return { kind: "task", name: search.task };
  if (search.workflow !== "") return { kind: "workflow", name: search.workflow };
  return search.launchPlan === "" ? undefined : { kind: "launch_plan", name: search.launchPlan };
}

/** Another version while a form is open would begin the form anew. */
const READ_ONCE = { staleTime: Infinity, refetchOnMount: "always", refetchOnWindowFocus: false, refetchOnReconnect: false } as const;

const NONE = { kind: "launch_plan", name: "" } as const;

/** Reads what is launched, the execution with whose values the form begins, and the latest runs. */
export function useTarget(scope: Scope, address: LaunchSearch) {
  const app = useApp();
  const source = useQuery({ ...sourceQuery(app, { ...scope, name: address.from }), enabled: address.from !== "" });
  const search = namedEntity(address) === undefined ? withSource(address, source.data?.launched) : address;
  const entity = namedEntity(search);
  const name = entity?.name ?? "";
  // The entity of an execution may be registered in another project.
  const { project = scope.project, domain = scope.domain } = (namedEntity(address) === undefined && source.data?.launched) || {};
  const place = { project, domain };
  const workflowPlans = useQuery({ ...workflowPlansQuery(app, place, name), ...READ_ONCE, enabled: entity?.kind === "workflow" });
  const plans = useQuery({ ...planVersionsQuery(app, place, name), ...READ_ONCE, enabled: entity?.kind === "launch_plan" });
  const tasks = useQuery({ ...taskVersionsQuery(app, place, name), ...READ_ONCE, enabled: entity?.kind === "task" });
  const runs = useQuery({ ...runsQuery(app, scope, entity && { kind: entity.kind, name }), enabled: entity !== undefined });
  const found = plans.data ?? workflowPlans.data;
  const listed = tasks.data ?? found;
  const { version } = search;
  const isOlder = version !== "" && listed !== undefined && listed.every(({ id }) => id?.version !== version);
  const older = useQuery({ ...oneVersionQuery(app, place, entity ?? NONE, version), ...READ_ONCE, enabled: isOlder });
  const { plans: olderPlans = [], tasks: olderTasks = [] } = older.data ?? {};
  const target =
    tasks.data !== undefined ? taskTarget([...tasks.data, ...olderTasks], search) : found && planTarget([...found, ...olderPlans], search);
  const isRead = listed !== undefined && (!isOlder || older.data !== undefined);
  return {
    search,
    target,
    isMissing: (isRead && target === undefined) || (entity === undefined && (address.from === "" || source.data !== undefined)),
    source: source.data,
    isReady: target !== undefined && (address.from === "" || source.data !== undefined),
    runs: runs.data ?? [],
    error: source.error ?? workflowPlans.error ?? plans.error ?? tasks.error ?? older.error,
  };
}

/** Address of the entity that an execution ran. */
function withSource(
  search: LaunchSearch,
  launched: { readonly resourceType?: string; readonly name?: string; readonly version?: string } | undefined,
): LaunchSearch {
  const { resourceType, name = "", version = "" } = launched ?? {};
  return { ...search, [resourceType === "TASK" ? "task" : "launchPlan"]: name, version: search.version === "" ? version : search.version };
}
