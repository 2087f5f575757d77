import { ABSENT, type PathStep } from "../differences.js";
import {
  allNodes,
  type InBoth,
  inNode,
  ownValue,
  type RecordedError,
  type RecordedExecution,
  type RecordedNode,
  valueAt,
} from "./run-record.js";

/**
 * A node whose container exited with a code that Go FlytePropeller treated as an interruption in
 * some attempts.
 */
interface PresumedInterruption {
  readonly id: string;
  readonly exit: string;
  readonly their: RecordedNode;
  readonly our: RecordedNode;
  /** Additional attempts that Go FlytePropeller made, one per presumed interruption. */
  readonly extraAttempts: number;
}

/**
 * Covers differences that exist because Go FlytePropeller treated the exit of a container as an
 * interruption of its pod: code and kind, the additional attempt with its pod, and attempt counts.
 * An additional attempt and its pod must equal our last attempt's.
 */
export function interruptedByExit(leaf: InBoth): boolean {
  return findPresumedInterruption(leaf.their, leaf.our).some(
    (node) => inNodeItself(leaf, node) || inError(leaf, node) || inStatus(leaf, node) || inPod(leaf, node),
  );
}

function findPresumedInterruption(their: RecordedExecution, our: RecordedExecution): PresumedInterruption[] {
  const ours = new Map(allNodes(our.nodes));
  return allNodes(their.nodes).flatMap(([id, theirNode]): PresumedInterruption[] => {
    const ourNode = ours.get(id);
    const exits = [...(theirNode.tasks ?? []), ...(ourNode?.tasks ?? [])].map(({ closure }) => exitOf(closure?.error));
    const [exit] = exits;
    const interruptions = theirNode.tasks?.filter(({ closure }) => isInterruption(closure?.error)).length ?? 0;
    if (ourNode?.closure?.phase !== "FAILED" || theirNode.closure?.phase !== "FAILED" || interruptions === 0) return [];
    if (exit === undefined || exits.some((each) => each !== exit) || !ourNode.tasks?.every(({ closure }) => isOwnFailure(closure?.error)))
      return [];
    const more = (theirNode.tasks?.length ?? 0) - ourNode.tasks.length;
    // The interruption budget may fail the node before its own retries are used up.
    return more < 0 || more > interruptions ? [] : [{ id, exit, their: theirNode, our: ourNode, extraAttempts: more }];
  });
}

const exitOf = (error: RecordedError | undefined): string | undefined =>
  /terminated with exit code \((\d+)\)\. Reason \[Error\]/.exec(error?.message ?? "")?.[1];

const isInterruption = (error: RecordedError | undefined): boolean => error?.code === "Interrupted" && error.kind === "SYSTEM";
const isOwnFailure = (error: RecordedError | undefined): boolean => error?.code === "Error" && error.kind === "USER";

/** Covers leaves below the node: its attempts, and the folder of its checkpoints. */
function inNodeItself({ rest, recorded, observed }: InBoth, node: PresumedInterruption): boolean {
  const { node: way = [], rest: [part, index, ...leaf] = [] } = inNode(rest) ?? {};
  if (way.at(-1) !== node.id) return false;
  if (part === "closure" && index === "task_node_metadata") return leaf[0] === "checkpoint_uri" && sameButAttempt(recorded, observed);
  const [place, count] = [Number(index), node.our.tasks?.length ?? 0];
  if (part !== "tasks") return false;
  if (place < count) {
    const field = /^closure\/error\/(code|kind)$/.exec(leaf.join("/"))?.[1];
    return (
      isInterruption(node.their.tasks?.[place]?.closure?.error) &&
      recorded === (field === "code" ? "Interrupted" : "SYSTEM") &&
      field !== undefined
    );
  }
  if (observed !== ABSENT) return false;
  if (leaf.join("/") === "id/retry_attempt") return recorded === place;
  if (/^closure\/error\/(code|kind)$/.test(leaf.join("/"))) return true;
  return sameButAttempt(recorded, valueAt(node.our.tasks?.at(-1), leaf));
}

/** Covers the error of the node where the node and the execution show it. */
function inError({ rest, recorded, observed, their, our }: InBoth, node: PresumedInterruption): boolean {
  const [place, field] = [rest.slice(0, -1), rest.at(-1)];
  if (rest.slice(-2).join("/") === "closure/listed_error_message_length") return inNode(rest)?.node.at(-1) === node.id;
  if (place.at(-1) !== "error") return false;
  const within = inNode(rest)?.node ?? (place.slice(0, 3).join("/") === "cr/status/nodeStatus" ? [place[3] as PathStep] : undefined);
  if (within !== undefined && within.at(-1) !== node.id) return false;
  const [theirError, ourError] = [valueAt(their, place), valueAt(our, place)] as (RecordedError | undefined)[];
  if (exitOf(theirError) !== node.exit || exitOf(ourError) !== node.exit || ourError?.kind !== "USER") return false;
  const [theirCode, ourCode] = [theirError?.code?.replace(EXHAUSTED, ""), ourError.code?.replace(EXHAUSTED, "")];
  if (ourCode !== "Error" || (theirCode !== "Interrupted" && theirCode !== "Error")) return false;
  if (field === "message") return sameButAttempt(recorded, observed);
  return theirCode === "Interrupted" && (field === "code" || (field === "kind" && recorded === "SYSTEM"));
}

const EXHAUSTED = /^RetriesExhausted\|/;

/** Covers attempt counts in the status of the resource. */
function inStatus({ rest: [cr, status, list, id, field, ...leaf], recorded, observed }: InBoth, node: PresumedInterruption): boolean {
  if (cr !== "cr" || status !== "status" || list !== "nodeStatus" || id !== node.id || leaf.length > 0) return false;
  const [theirs, ours] = [recorded, observed].map((count) => (count === ABSENT ? 0 : count));
  if (field === "attempts") return theirs === Number(ours) + node.extraAttempts;
  const interruptions = node.their.tasks?.filter(({ closure }) => isInterruption(closure?.error)).length ?? 0;
  return field === "systemFailures" && ours === 0 && Number(theirs) > 0 && Number(theirs) <= interruptions;
}

/** Covers the remaining pod, which belongs to the last attempt and so has another number. */
function inPod({ rest: [list, name, ...leaf], recorded, observed, their, our }: InBoth, node: PresumedInterruption): boolean {
  if (list !== "pods" || node.extraAttempts === 0) return false;
  const [theirName, ourName] = [podOf(their, node), podOf(our, node)];
  const other = recorded === ABSENT && name === ourName ? valueAt(ownValue(their.pods, theirName ?? ""), leaf) : undefined;
  const twin = observed === ABSENT && name === theirName ? valueAt(ownValue(our.pods, ourName ?? ""), leaf) : other;
  if (theirName === undefined || ourName === undefined || twin === undefined) return false;
  const value = recorded === ABSENT ? observed : recorded;
  const before = valueAt(ownValue(recorded === ABSENT ? our.pods : their.pods, String(name)), [
    ...leaf.slice(0, -1),
    Number(leaf.at(-1)) - 1,
  ]);
  if (leaf.at(-1) === "FLYTE_ATTEMPT_NUMBER") return value === /\d+$/.exec(String(name))?.[0];
  return before === "--prev-checkpoint" ? leadsToAttemptBefore(value, String(name)) : sameButAttempt(value, twin);
}

/** Reports whether a checkpoint belongs to the attempt before that of the pod, or is absent. */
function leadsToAttemptBefore(checkpoint: unknown, podName: string): boolean {
  const [, pod, attempt] = /^(.*-)(\d+)$/.exec(podName) ?? [];
  return attempt === "0" ? checkpoint === '""' : String(checkpoint).endsWith(`/${pod}${Number(attempt) - 1}/_flytecheckpoints`);
}

/** Returns the name of the pod of the node's last attempt, if it exited with the code. */
function podOf({ pods }: RecordedExecution, { id, exit }: PresumedInterruption): string | undefined {
  const found = Object.entries(pods ?? {}).find(
    ([name, pod]) => name.replace(/-\d+$/, "").endsWith(`>-${id}`) && String(pod.exit?.[0]) === exit,
  );
  return found?.[0];
}

/** Compares texts that contain an attempt number. */
function sameButAttempt(one: unknown, other: unknown): boolean {
  const text = (value: unknown): string | undefined =>
    JSON.stringify(value)
      ?.replaceAll(/(>-[\w-]*-)\d+(?=[\]/"]|$)/g, "$1#")
      .replaceAll(/(\/data\/)\d+/g, "$1#")
      .replace(/\[\d+\/\d+\] currentAttempt done\. Last Error: (USER|SYSTEM)::/, "[#] ");
  return text(one) === text(other);
}
