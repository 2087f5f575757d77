import type { GetOverviewResponseJson } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import { formatCount } from "../../../format/count.js";
import { errorTitle } from "../../../format/error-title.js";
import { EXECUTION_PHASES, type PhaseLook } from "../../../format/phase.js";
import { readTimeMs } from "../../../format/time.js";
import { executionsSearch } from "../../../route/executions-search.js";
import type { RawSearch } from "../../../route/search.js";

/** Page that explains an item, below the project and domain. */
export interface ItemPage {
  readonly to: "/executions" | "/executions/$name" | "/automation" | "/launchPlans/$name";
  readonly name?: string;
  readonly search: RawSearch;
}

/** Act that settles an item. */
export type ItemAct =
  | { readonly kind: "recover"; readonly execution: string }
  | { readonly kind: "decide"; readonly execution: string; readonly signalId: string }
  | { readonly kind: "open"; readonly text: string };

/** Something that waits for a person. */
export interface AttentionItem {
  readonly id: string;
  readonly look: PhaseLook;
  readonly title: string;
  readonly detail: string;
  readonly sinceMs: number | undefined;
  readonly page: ItemPage;
  readonly act: ItemAct;
  /** A later run has succeeded. */
  readonly isPast?: boolean;
}

const FAILED = EXECUTION_PHASES.FAILED;
const QUEUED = EXECUTION_PHASES.QUEUED;
const ASKS: PhaseLook = { kind: "ask", word: "Waits for an answer", terminal: false };
const REFUSED: PhaseLook = { kind: "stop", word: "Refused", terminal: true };
const OVERDUE: PhaseLook = { kind: "wait", word: "Overdue", terminal: false };

/** Returns what waits for a person: failures first, those that a later run settled last. */
export function attentionItems(overview: GetOverviewResponseJson): readonly AttentionItem[] {
  const failures = failureItems(overview);
  return [
    ...failures.filter(({ isPast }) => isPast !== true),
    ...signalItems(overview),
    ...waitItems(overview),
    ...firingItems(overview),
    ...scheduleItems(overview),
    ...failures.filter(({ isPast }) => isPast === true),
  ];
}

function failureItems({ failures = [] }: GetOverviewResponseJson): readonly AttentionItem[] {
  return failures.map(({ workflow = "", code = "", message = "", count = 0, executions = [], lastAt, succeededSince }) => {
    const [execution = ""] = executions;
    const isOne = count === 1;
    return {
      id: `failure ${workflow} ${execution}`,
      look: FAILED,
      title: isOne ? `${workflow} failed` : `${workflow} failed ${count === 2 ? "twice" : `${formatCount(count)} times`}`,
      detail: errorTitle(message, code),
      sinceMs: readTimeMs(lastAt),
      page: isOne ? executionPage(execution) : executionsPage({ phases: ["FAILED", "TIMED_OUT"], workflow }),
      act: isOne ? { kind: "recover", execution } : { kind: "open", text: `${formatCount(count)} runs` },
      isPast: succeededSince === true,
    };
  });
}

function signalItems({ signals = [] }: GetOverviewResponseJson): readonly AttentionItem[] {
  return signals.map(({ execution = "", workflow = "", signalId = "", type, since }) => {
    const isApproval = type?.simple === "BOOLEAN";
    return {
      id: `signal ${execution} ${signalId}`,
      look: ASKS,
      title: isApproval ? `${workflow} waits for approval` : `${workflow} waits for a value`,
      detail: `${signalId} · ${execution}`,
      sinceMs: readTimeMs(since),
      page: executionPage(execution),
      act: isApproval ? { kind: "decide", execution, signalId } : { kind: "open", text: "Answer" },
    };
  });
}

function waitItems({ waits = [] }: GetOverviewResponseJson): readonly AttentionItem[] {
  return waits.map(({ reason = "", count = 0, executions = [], since }) => {
    const [execution = ""] = executions;
    const isOne = count === 1;
    return {
      id: `wait ${reason}`,
      look: QUEUED,
      title: isOne ? `${execution} waits` : `${formatCount(count)} executions wait`,
      detail: reason,
      sinceMs: readTimeMs(since),
      page: isOne ? executionPage(execution) : executionsPage({ phases: ["QUEUED", "RUNNING"] }),
      act: { kind: "open", text: isOne ? "Open" : "Queue" },
    };
  });
}

function firingItems({ refusedFirings = [] }: GetOverviewResponseJson): readonly AttentionItem[] {
  return refusedFirings.map(({ trigger = "", count = 0, reason = "", lastAt }) => ({
    id: `firing ${trigger}`,
    look: REFUSED,
    title: `${trigger} fires into refusals`,
    detail: reason,
    sinceMs: readTimeMs(lastAt),
    page: { to: "/automation", search: { tab: "firings" } },
    act: { kind: "open", text: count === 1 ? "1 firing" : `${formatCount(count)} firings` },
  }));
}

function scheduleItems({ overdueSchedules = [] }: GetOverviewResponseJson): readonly AttentionItem[] {
  return overdueSchedules.map(({ launchPlan, scheduledAt }) => ({
    id: `schedule ${launchPlan?.name ?? ""}`,
    look: OVERDUE,
    title: `${launchPlan?.name ?? ""} is overdue`,
    detail: "Its scheduled run has not started",
    sinceMs: readTimeMs(scheduledAt),
    page: { to: "/launchPlans/$name", name: launchPlan?.name ?? "", search: {} },
    act: { kind: "open", text: "Schedule" },
  }));
}

const executionPage = (name: string): ItemPage => ({ to: "/executions/$name", name, search: {} });

function executionsPage(filters: Partial<ReturnType<typeof executionsSearch.read>>): ItemPage {
  return { to: "/executions", search: executionsSearch.write({ ...executionsSearch.read({}), ...filters }) };
}
