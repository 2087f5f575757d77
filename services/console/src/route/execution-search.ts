import { choiceField, searchCodec, textField } from "./search.js";

export const EXECUTION_TABS = ["auto", "errors", "timeline", "graph", "io", "settings", "json"] as const;

/** State of an execution's page that is in its address. */
export const executionSearch = searchCodec({
  /** `auto`: errors of a failed execution, else the timeline. */
  tab: choiceField("tab", EXECUTION_TABS),
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
