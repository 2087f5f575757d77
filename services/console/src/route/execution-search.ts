import { choiceField, choicesField, searchCodec, textField } from "./search.js";

export const EXECUTION_TABS = ["auto", "errors", "timeline", "graph", "io", "settings", "json"] as const;

/** Groups of nodes by phase, in the order in which they are counted. */
export const NODE_GROUPS = ["succeeded", "cached", "running", "waiting", "queued", "failed", "aborted", "skipped"] as const;
export type NodeGroup = (typeof NODE_GROUPS)[number];

/** State of an execution's page that is in its address. */
export const executionSearch = searchCodec({
  /** `auto`: errors of a failed execution, else the timeline. */
  tab: choiceField("tab", EXECUTION_TABS),
  /** Groups of nodes that the timeline shows; empty: all. */
  groups: choicesField("phase", NODE_GROUPS),
  /** Id of the selected node. */
  node: textField("node"),
  /** Selected attempt of the node, from 0; empty: the last one. */
  attempt: textField("attempt"),
  /** Selected item of an array node. */
  item: textField("item"),
  pane: textField("pane"),
  /** Selected kind of error. */
  error: textField("err"),
});

export type ExecutionSearch = ReturnType<typeof executionSearch.read>;
export type ExecutionTab = (typeof EXECUTION_TABS)[number];

/** Node whose pane an address opens beside its timeline or graph; its name is empty for none. */
export function shownNode({ tab, node, pane }: ExecutionSearch): { readonly node: string; readonly hasLog: boolean } {
  const isShown = node !== "" && (tab === "timeline" || tab === "graph");
  return isShown ? { node, hasLog: pane === "log" } : { node: "", hasLog: false };
}
