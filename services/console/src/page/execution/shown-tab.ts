import type { PhaseLook } from "../../format/phase.js";
import type { ExecutionTab } from "../../route/execution-search.js";

interface TabTitle {
  readonly id: Exclude<ExecutionTab, "auto">;
  readonly title: string;
  /** Its key. */
  readonly key: string;
}

/** Views of an execution in their order. */
export const TAB_TITLES: readonly TabTitle[] = [
  { id: "errors", title: "Errors", key: "e" },
  { id: "timeline", title: "Timeline", key: "t" },
  { id: "graph", title: "Graph", key: "t g" },
  { id: "io", title: "Inputs & outputs", key: "i" },
  { id: "settings", title: "Settings", key: "s" },
  { id: "json", title: "JSON", key: "J" },
];

/** Returns the view that is shown: failed executions open at Errors, others at Timeline. */
export function shownTab(chosen: ExecutionTab, look: PhaseLook | undefined): TabTitle["id"] | undefined {
  if (chosen !== "auto") return chosen;
  if (look === undefined) return undefined;
  return look.kind === "bad" ? "errors" : "timeline";
}
