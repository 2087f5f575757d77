import { EXECUTION_PHASES, type ExecutionPhase } from "../format/phase.js";
import { choiceField, choicesField, searchCodec, textField } from "./search.js";

const { UNDEFINED: _, ...KNOWN } = EXECUTION_PHASES;

/** Phases that the list can be filtered by. */
export const FILTER_PHASES = Object.keys(KNOWN) as readonly Exclude<ExecutionPhase, "UNDEFINED">[];

/** State of the list of executions that is in its address. */
export const executionsSearch = searchCodec({
  phases: choicesField("phase", FILTER_PHASES),
  /** Executions that were created within this time. */
  within: choiceField("in", ["any", "1h", "24h", "7d", "30d"]),
  workflow: textField("wf"),
  version: textField("v"),
  launchPlan: textField("lp"),
  startedBy: textField("by"),
  tag: textField("tag"),
  cluster: textField("cluster"),
  /** At least this long: `90s`, `1h30m`. */
  longerThan: textField("min"),
  /** Part of the name. */
  text: textField("q"),
  order: choiceField("sort", ["newest", "oldest", "longest"]),
  archived: choiceField("archived", ["no", "yes"]),
});

export type ExecutionsSearch = ReturnType<typeof executionsSearch.read>;
