import { ABSENT, type PathStep } from "../differences.js";
import {
  inExecution,
  isEmpty,
  ownValue,
  type RecordedExecution,
  type RecordedNode,
  type RecordedPod,
  type RunDifference,
  valueAt,
} from "./run-record.js";

/**
 * Covers a pod of a child execution that Go Flyte's record lists under the parent and ours under
 * the child, if it is the same pod except for its owner labels.
 */
export function movedPod({ at, recorded, observed, theirs, ours }: RunDifference): boolean {
  const { execution = [], rest: [list, name, ...leaf] = [] } = inExecution(at) ?? {};
  if (list !== "pods") return false;
  const [their, our] = [valueAt(theirs, execution), valueAt(ours, execution)] as (RecordedExecution | undefined)[];
  const parent = parentOf(execution);
  const [theirParent, ourParent] = [valueAt(theirs, parent ?? []), valueAt(ours, parent ?? [])] as (RecordedExecution | undefined)[];
  if (name === undefined) {
    const [theirPods, ourPods] = [Object.keys(their?.pods ?? {}), Object.keys(our?.pods ?? {})];
    // A record without pods has a marker in their place.
    const childWithout =
      isEmpty(recorded) && observed === ABSENT && all(ourPods, (each) => ownValue(theirParent?.pods, each) !== undefined);
    const parentWithout = recorded === ABSENT && isEmpty(observed) && all(theirPods, (each) => ofChild(our, each) !== undefined);
    return parent === undefined ? parentWithout : childWithout || parentWithout;
  }
  const stands = recorded === ABSENT ? ownValue(theirParent?.pods, String(name)) : ofChild(our, String(name));
  const other = recorded === ABSENT ? ownValue(ourParent?.pods, String(name)) : ofChild(their, String(name));
  if (stands === undefined || other !== undefined || (recorded !== ABSENT && observed !== ABSENT)) return false;
  if (ownValue(recorded === ABSENT ? their?.pods : our?.pods, String(name)) !== undefined) return false;
  const [value, twin] = [recorded === ABSENT ? observed : recorded, valueAt(stands, leaf)];
  const holder = recorded === ABSENT ? our : their;
  return isOwner(leaf) ? value === holder?.cr?.labels?.[String(leaf[1])] : JSON.stringify(value) === JSON.stringify(twin);
}

/** Returns the path of the execution that launched the one at this path. */
function parentOf(execution: readonly PathStep[]): readonly PathStep[] | undefined {
  return execution.at(-1) === "child_execution" ? inExecution([...execution.slice(0, -1), ""])?.execution : undefined;
}

/** Finds a pod among the child executions of an execution. */
function ofChild(execution: RecordedExecution | undefined, name: string): RecordedPod | undefined {
  return childrenOf(execution?.nodes).flatMap((child) => ownValue(child.pods, name) ?? ofChild(child, name) ?? [])[0];
}

function childrenOf(nodes: RecordedExecution["nodes"]): RecordedExecution[] {
  return Object.values(nodes ?? {}).flatMap((node: RecordedNode) => [
    ...(typeof node.child_execution === "object" ? [node.child_execution] : []),
    ...childrenOf(node.children),
  ]);
}

const all = (names: readonly string[], holds: (name: string) => boolean): boolean => names.length > 0 && names.every(holds);

/**
 * Reports whether the path is one of the labels that name the owning execution and its workflow.
 */
function isOwner([labels, label, ...more]: readonly PathStep[]): boolean {
  return labels === "labels" && (label === "execution-id" || label === "workflow-name") && more.length === 0;
}
