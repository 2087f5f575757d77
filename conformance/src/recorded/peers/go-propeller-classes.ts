import type { DifferenceClass } from "../difference-classes.js";
import { ENGINE_CLASSES } from "../runs/run-classes.js";
import { allNodes, type RunDifference, type RunRecord } from "../runs/run-record.js";

const EXIT = "exit-taken-for-interruption";

/** Additional correct differences when Go FlytePropeller runs with our admin. */
export const GO_PROPELLER_CLASSES: readonly DifferenceClass<RunDifference>[] = [
  {
    name: "interruption-in-place-of-exit",
    reason:
      "Go FlytePropeller reports a container's exit or an interruption of its pod, whichever it observes first: the exit in the records, and the interruption here.",
    covers: ({ path, at, recorded, observed, theirs, ours }) =>
      reportsExit(ours) &&
      ENGINE_CLASSES.some(
        ({ name, covers }) => name === EXIT && covers({ path, at, recorded: observed, observed: recorded, theirs: ours, ours: theirs }),
      ),
  },
];

/**
 * Code and kind of the errors that an attempt reports for an exited container: its own failure, or
 * an interruption.
 */
const REPORTED_ERRORS = new Set(["Error USER", "Interrupted SYSTEM"]);

function reportsExit({ executions }: RunRecord): boolean {
  const attempts = Object.values(executions ?? {}).flatMap(({ nodes }) => allNodes(nodes).flatMap(([, { tasks }]) => tasks ?? []));
  const errors = attempts.flatMap(({ closure }) => closure?.error ?? []);
  return errors.every(
    ({ code, kind, message }) => !message?.includes("terminated with exit code") || REPORTED_ERRORS.has(`${code} ${kind}`),
  );
}
