import { searchCodec, textField } from "./search.js";

/** State of the launch page that is in its address. */
export const launchSearch = searchCodec({
  /** Workflow, launch plan or task to launch; none of the three with an execution. */
  workflow: textField("wf"),
  launchPlan: textField("lp"),
  task: textField("task"),
  /** Empty: the active version of a launch plan, else the newest. */
  version: textField("v"),
  /** Execution whose inputs and settings the form begins with. */
  from: textField("from"),
  /** Entered values that differ from those with which the form begins, as JSON. */
  values: textField("in"),
  /** Id of these values in the storage of the tab, if they are too long for an address. */
  draft: textField("draft"),
});

export type LaunchSearch = ReturnType<typeof launchSearch.read>;
