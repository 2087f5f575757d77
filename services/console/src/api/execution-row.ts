import { errorTitle } from "../format/error-title.js";
import { isGiven } from "../format/given.js";
import type { ExecutionJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { readDurationMs } from "../format/duration.js";
import { executionPhaseLook, type PhaseLook } from "../format/phase.js";
import { readTimeMs } from "../format/time.js";
import type { ExecutionKey } from "./scope.js";

/** Person or thing that started an execution. */
export interface Starter {
  readonly kind: "person" | "schedule" | "execution" | "trigger";
  readonly name: string;
}

/** An execution as lists and headers show it. */
export interface ExecutionRow {
  readonly key: ExecutionKey;
  /** Phase by its name in the API. */
  readonly phase: string;
  readonly look: PhaseLook;
  readonly workflow: string;
  readonly version: string;
  readonly launchPlan: string;
  readonly startedBy: Starter;
  readonly createdMs: number | undefined;
  readonly startedMs: number | undefined;
  /** Undefined until it has ended. */
  readonly durationMs: number | undefined;
  readonly cluster: string;
  readonly tags: readonly string[];
  /** Line of the error that says most. */
  readonly error: string;
}

export function executionRow({ id, spec, closure }: ExecutionJson): ExecutionRow {
  const { project = "", domain = "", name = "" } = id ?? {};
  const look = executionPhaseLook(closure?.phase);
  return {
    key: { project, domain, name },
    phase: closure?.phase ?? "UNDEFINED",
    look,
    workflow: closure?.workflowId?.name ?? spec?.launchPlan?.name ?? "",
    version: closure?.workflowId?.version ?? "",
    launchPlan: spec?.launchPlan?.name ?? "",
    startedBy: starterOf(spec),
    createdMs: readTimeMs(closure?.createdAt),
    startedMs: readTimeMs(closure?.startedAt),
    durationMs: look.terminal ? readDurationMs(closure?.duration) : undefined,
    cluster: spec?.metadata?.systemMetadata?.executionCluster ?? "",
    tags: spec?.tags ?? [],
    error: isGiven(closure?.error) ? errorTitle(closure.error.message ?? "", closure.error.code ?? "") : "",
  };
}

function starterOf(spec: ExecutionJson["spec"]): Starter {
  const { mode, principal = "", parentNodeExecution, referenceExecution } = spec?.metadata ?? {};
  if (mode === "SCHEDULED") return { kind: "schedule", name: "schedule" };
  if (mode === "CHILD_WORKFLOW") return { kind: "execution", name: parentNodeExecution?.executionId?.name ?? "execution" };
  if (mode === "RELAUNCH" || mode === "RECOVERED") {
    const source = referenceExecution?.name ?? "";
    return { kind: "execution", name: principal === "" ? `${mode === "RELAUNCH" ? "again" : "recovered"} ${source}`.trim() : principal };
  }
  if (mode === "TRIGGER") return { kind: "trigger", name: principal === "" ? "trigger" : principal };
  return { kind: "person", name: principal };
}

/** Icon of the kind of a starter. */
export const STARTER_ICONS = { person: "person", schedule: "calendar", execution: "repeat", trigger: "bolt" } as const;
