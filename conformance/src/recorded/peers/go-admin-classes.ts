import type { DifferenceClass } from "../difference-classes.js";
import { ABSENT, type PathStep } from "../differences.js";
import {
  allNodes,
  inExecution,
  inNode,
  type RecordedExecution,
  type RecordedNode,
  type RunDifference,
  valueAt,
} from "../runs/run-record.js";

const REASON =
  "Our propeller sends values with its events. Go FlyteAdmin writes them below its own prefix and tells that address, where Go FlytePropeller had written them to its folder of the node (docs/decisions/0064).";

/** Additional correct differences when our propeller runs with Go FlyteAdmin. */
export const GO_ADMIN_CLASSES: readonly DifferenceClass<RunDifference>[] = [
  {
    name: "addresses-of-offloaded-values",
    reason: REASON,
    covers: ({ at, recorded, observed, ours }) => {
      const { execution = [], rest = [] } = inExecution(at) ?? {};
      const { node: place = [], rest: leaf = [] } = inNode(rest) ?? {};
      const [our, node] = [valueAt(ours, execution), valueAt(ours, [...execution, ...place])] as [RecordedExecution?, RecordedNode?];
      const id = String(place.at(-1));
      const [kind, task] = addressed(leaf, node) ?? [];
      if (our === undefined || kind === undefined || typeof observed !== "string") return false;
      const file = /^<META>\/.+\/(inputs|outputs)\.pb$/.exec(String(recorded))?.[1];
      const address = task === undefined ? `/${id}/offloaded_${kind}` : `/${id}/${task}/offloaded_${kind}`;
      return file === kind && isOffloaded(observed, our) && observed.endsWith(address);
    },
  },
  {
    name: "offloaded-values",
    reason: REASON,
    covers: ({ at, recorded, observed, ours }) => {
      const { execution = [], rest: [list, key, ...more] = [] } = inExecution(at) ?? {};
      const our = valueAt(ours, execution) as RecordedExecution | undefined;
      if (list !== "admin_blobs" || more.length > 0 || recorded !== ABSENT || observed !== true || our === undefined) return false;
      const [, owner, kind] = /^(?:([^/]+)\/)?(?:.+\/)?offloaded_(inputs|outputs)$/.exec(String(key)) ?? [];
      if (kind === undefined) return false;
      if (owner === undefined) return kind === "outputs" && our.outputs !== undefined;
      const node = allNodes(our.nodes).find(([id]) => id === owner)?.[1];
      return node?.[kind as "inputs" | "outputs"] !== undefined;
    },
  },
];

/**
 * Returns whether an address at the path refers to inputs or outputs, and the path of their
 * attempt.
 */
function addressed(leaf: readonly PathStep[], node: RecordedNode | undefined): ["inputs" | "outputs", string?] | undefined {
  const [list, index, ...rest] = leaf[0] === "tasks" ? leaf : [undefined, undefined, ...leaf];
  const place = rest.join("/");
  const kind = place === "input_uri" ? "inputs" : place === "closure/output_uri" ? "outputs" : undefined;
  if (kind === undefined || list === undefined) return kind && [kind];
  const task = valueAt(node, ["tasks", Number(index), "id"]) as
    | { task_id?: Record<"project" | "domain" | "name" | "version", string>; retry_attempt?: number }
    | undefined;
  const { project, domain, name, version } = task?.task_id ?? {};
  return [kind, `${project}/${domain}/${name}/${version}/${task?.retry_attempt ?? 0}`];
}

/**
 * Reports whether the address is in Go FlyteAdmin's folder of the execution and a blob exists
 * there.
 */
function isOffloaded(address: string, { admin_blobs: keys }: RecordedExecution): boolean {
  const key = /^<ADMIN>\/[^/]+\/[^/]+\/<EXEC:[^>]*>\/(.+)$/.exec(address)?.[1];
  return key !== undefined && keys?.includes(key) === true;
}
