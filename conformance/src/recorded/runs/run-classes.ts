import { compileErrors, isListMismatch } from "./compile-errors.js";
import type { DifferenceClass } from "../difference-classes.js";
import { ABSENT } from "../differences.js";
import {
  allNodes,
  inBoth,
  inExecution,
  inNode,
  isEmpty,
  nodeFile,
  ownValue,
  type RecordedError,
  type RecordedExecution,
  type RecordedNode,
  type RecordedPod,
  type RecordedStep,
  type RunDifference,
  type RunRecord,
  valueAt,
} from "./run-record.js";
import { interruptedByExit } from "./interrupted-pods.js";
import { movedPod } from "./moved-pods.js";

/** Correct differences from the way Go Flyte runs workflows. */
export const ENGINE_CLASSES: readonly DifferenceClass<RunDifference>[] = [
  {
    name: "inputs-of-executions",
    reason: "Inputs of executions are stored in the database (docs/decisions/0006).",
    covers: inBoth(({ rest: [list, file, ...more], recorded, observed, their, our }) => {
      const place = list === "admin_blobs" && (file === "inputs" || file === "user_inputs") && more.length === 0;
      return place && recorded === true && observed === ABSENT && same(their.inputs, our.inputs);
    }),
  },
  {
    name: "values-without-files",
    reason:
      "Data of nodes without a pod travels by value (docs/decisions/0004), and so do inputs and outputs of a whole map: its items have files of their own (docs/decisions/0012).",
    covers: inBoth(({ rest: [list, key, ...more], recorded, observed, their, our }) => {
      if (list !== "blobs" || more.length > 0 || recorded !== true || observed !== ABSENT) return false;
      const [theirFile, ourFile] = [nodeFile(their, String(key)), nodeFile(our, String(key))];
      if (theirFile === undefined || ourFile === undefined || hasPod(theirFile.node) || hasPod(ourFile.node)) return false;
      if (theirFile.file === "inputs.pb") return same(theirFile.node.inputs, ourFile.node.inputs);
      return /^\d+\/outputs\.pb$/.test(theirFile.file) && same(theirFile.node.outputs, ourFile.node.outputs);
    }),
  },
  {
    name: "cached-items-without-files",
    reason: "Cached items of a map read no inputs and write no outputs.",
    covers: inBoth(({ rest: [list, key, ...more], recorded, observed, their, our }) => {
      if (list !== "blobs" || more.length > 0 || recorded !== true || observed !== ABSENT) return false;
      const [theirFile, ourFile] = [nodeFile(their, String(key)), nodeFile(our, String(key))];
      const item = /^(?:\d+\/(\d+)\/\d+\/outputs|(\d+)\/\d+\/inputs)\.pb$/.exec(theirFile?.file ?? "");
      const index = Number(item?.[1] ?? item?.[2]);
      return item !== null && [theirFile, ourFile].every((file) => isArray(file?.node) && isCachedItem(file?.node, index));
    }),
  },
  {
    name: "dynamic-graph-once",
    reason: "The workflow of a dynamic node is stored once, as dynamic_compiled.pb.",
    covers: inBoth(({ rest: [list, key, ...more], recorded, observed, their, our }) => {
      if (list !== "blobs" || more.length > 0 || recorded !== true || observed !== ABSENT) return false;
      const kept = String(key).replace(/futures_compiled\.pb$/, "dynamic_compiled.pb");
      const node = nodeFile(their, String(key))?.node;
      return kept !== key && node?.metadata?.is_dynamic === true && [their, our].every(({ blobs }) => blobs?.includes(kept) === true);
    }),
  },
  {
    name: "attempt-on-pod",
    reason: "An addition of this project: a restarted plugin service needs it to report a pod that ended meanwhile.",
    covers: inBoth(({ rest: [list, name, part, key, ...more], recorded, observed, our }) => {
      const place = list === "pods" && part === "annotations" && key === "flyte.org/attempt" && more.length === 0;
      return (
        place &&
        recorded === ABSENT &&
        typeof observed === "string" &&
        dependsOnAttempt(observed, String(name), ownValue(our.pods, String(name)))
      );
    }),
  },
  {
    name: "failed-node-in-error",
    reason: "In the error input of a failure node, Go Flyte names the failure node itself; this project names the node that failed.",
    covers: inBoth(({ rest, recorded, observed, their, our }) => {
      const { node = [], rest: leaf = [] } = inNode(rest) ?? {};
      const id = node.at(-1);
      const inputs = leaf[0] === "inputs" || (leaf[0] === "tasks" && leaf[2] === "inputs");
      const place = inputs && leaf.slice(-3).join("/") === "scalar/error/failed_node_id";
      return (
        place &&
        recorded === id &&
        isFailureNode(String(id)) &&
        [their, our].every((one) => failedFirst(one, String(observed)) !== undefined)
      );
    }),
  },
  {
    name: "error-of-failure-node-after-the-workflows",
    reason:
      "In Go Flyte the error of a failed failure node replaces the workflow's own; this project keeps the workflow's and appends the other.",
    covers: inBoth(({ rest, recorded, observed, their, our }) => {
      const [kind, error] = [errorField(rest), rest.slice(0, -1)];
      if (kind === undefined) return false;
      const [theirHandler, ourHandler] = [failedHandler(their), failedHandler(our)];
      const [theirError, ourError] = [valueAt(their, error), valueAt(our, error)] as (RecordedError | undefined)[];
      if (theirHandler === undefined || ourHandler === undefined || theirError === undefined || ourError === undefined) return false;
      if (!isErrorOf(theirError, theirHandler[1])) return false;
      const first = allNodes(our.nodes).find(
        ([id, { closure }]) =>
          !isFailureNode(id) &&
          isFailed(closure?.phase) &&
          closure?.error?.code === ourError.code &&
          closure?.error?.kind === ourError.kind,
      );
      const failure = ourHandler[1].closure?.error;
      const text = `${first?.[1].closure?.error?.message}\n\nThe failure node [${ourHandler[0]}] failed too: ${failure?.code}: ${failure?.message}`;
      if (first === undefined || plainMessage(ourError.message) !== plainMessage(text)) return false;
      return kind === "timestamp"
        ? recorded !== ABSENT && observed === ABSENT
        : observed === ourError[kind] && recorded === theirError[kind];
    }),
  },
  {
    name: "inputs-refused-in-other-words",
    reason: "The code is the same; the text names the input and the rule.",
    covers: inStep(({ their, our }) => {
      const [[input, rules] = []] = REFUSED_INPUTS.flatMap(([form, words]): [string, readonly string[]][] => {
        const name = form.exec(their.message ?? "")?.[1];
        return name === undefined ? [] : [[name, words]];
      });
      return sameRefusal(their, our) && rules?.some((rule) => our.message?.startsWith(`input ${input} ${rule}`)) === true;
    }),
  },
  {
    name: "unknown-signal-by-field-names",
    reason: "The code is the same; the text contains the names of the signal identifier's fields.",
    covers: inStep(({ their, our }) => {
      const form = /^failed to validate that signal \[\{\{(\S+) (\S+) (\S+)\} (.+)\}\] exists, err: \[signal does not exist\]$/;
      const [, project, domain, name, signal] = form.exec(their.message ?? "") ?? [];
      const text = `failed to validate that signal [project:"${project}" domain:"${domain}" name:"${name}" ${signal}] exists, err: [signal does not exist]`;
      return signal !== undefined && sameRefusal(their, our) && our.message === text;
    }),
  },
  {
    name: "signal-of-another-type",
    reason:
      "The code is the same; the text names the types of the given value and of the signal, where Go FlyteAdmin prints the value and the bytes of a type.",
    covers: inStep(
      ({ their, our }) =>
        sameRefusal(their, our) &&
        /^requested signal value \[.+\] is not castable to existing signal type \[.+\]$/.test(their.message ?? "") &&
        /^requested signal value of type \[.+\] is not castable to existing signal type \[.+\]$/.test(our.message ?? ""),
    ),
  },
  {
    name: "map-over-launch-plan-compiles",
    reason: "Maps over launch plans are compiled and run; Go Flyte uses the launch plan's interface as the map's (docs/decisions/0012).",
    covers: inStep(
      ({ their, our }) => {
        const errors = compileErrors(their.message ?? "");
        const array = errors?.find(({ node }) => node !== "end-node")?.node;
        const refused = their.code === "INVALID_ARGUMENT" && errors !== undefined && array !== undefined;
        return refused && errors.every(isListMismatch) && our.code === "OK" && our.message === undefined;
      },
      ["code", "message"],
    ),
  },
  {
    name: "no-entry-for-nodes-that-never-began",
    reason: "Go Flyte leaves an empty entry in the resource's status for a node that never started.",
    covers: inBoth(({ rest: [cr, status, list, name, ...more], recorded, observed, their, our }) => {
      const place = cr === "cr" && status === "status" && list === "nodeStatus" && more.length === 0;
      const began = (one: RecordedExecution) =>
        allNodes(one.nodes).some(([id, { metadata }]) => id === name || metadata?.spec_node_id === name);
      return place && isEmpty(recorded) && observed === ABSENT && !began(their) && !began(our);
    }),
  },
  {
    name: "overwritten-artifact-without-source",
    reason:
      "When the catalog of Go Flyte knows the key already, overwriting changes an artifact, and then the node names itself as the source; this project stores it for the first time and has no source.",
    covers: (difference) =>
      inBoth(({ rest, recorded, observed, their, our, execution }) => {
        const { node = [], rest: leaf = [] } = inNode(rest) ?? {};
        const source = ["closure", "task_node_metadata", "catalog_key", "source_task_execution", "node_execution_id"];
        const id = valueAt(their, [...node, ...source]) as { node_id?: string; execution_id?: { name?: string } } | undefined;
        const place = leaf.length > source.length && source.every((step, index) => leaf[index] === step);
        if (!place || recorded === ABSENT || observed !== ABSENT || id?.node_id !== node.at(-1)) return false;
        const populated = [their, our].every((one) => isPopulated(valueAt(one, node) as RecordedNode));
        const known = storedElsewhere(difference.ours, our, valueAt(our, node) as RecordedNode);
        return populated && !known && id?.execution_id?.name === `<EXEC:${execution.at(-1)}>`;
      })(difference),
  },
  {
    name: "labels-of-child-executions",
    reason:
      "Resources of Go Flyte's child executions carry the labels that name their parent, so that a selector for the child finds the parent's; those of this project name the child.",
    covers: (difference) => {
      const { execution = [], rest = [] } = inExecution(difference.at) ?? {};
      const [cr, labels, label, ...more] = rest;
      const parent = execution.at(-1) === "child_execution" ? inExecution(execution.slice(0, -1).concat("")) : undefined;
      if (parent === undefined || cr !== "cr" || labels !== "labels" || more.length > 0) return false;
      if (label !== "execution-id" && label !== "workflow-name") return false;
      const above = valueAt(difference.theirs, parent.execution) as RecordedExecution;
      const child = valueAt(difference.ours, execution) as RecordedExecution;
      const name = label === "workflow-name" ? labelOf(child.closure?.workflow_id?.name) : ownName(child);
      return difference.recorded === above.cr?.labels?.[label] && difference.observed === name;
    },
  },
  {
    name: "pods-of-child-executions",
    reason:
      "As labels-of-child-executions: a selector for the parent finds the pods of its children in Go Flyte; in this project, a selector for the child does.",
    covers: movedPod,
  },
  {
    name: "file-for-each-item",
    reason:
      "Each item of a map reads a file of its own with lists of one, where Go Flyte has every pod read all lists; the offset, which flytekit adds to the index, leads to its place (docs/decisions/0012).",
    covers: inBoth(({ rest: [list, name, containers, place, part, key, ...more], recorded, observed, their, our }) => {
      if (list !== "pods" || containers !== "containers" || more.length > 0) return false;
      const [theirPod, ourPod] = [their, our].map((one) => ownValue(one.pods, String(name))?.containers?.[Number(place)]);
      const index = Number(valueAt(ourPod, ["env", "FLYTE_K8S_ARRAY_INDEX"]) ?? 0);
      const whole = argument(theirPod?.args, "--inputs");
      const single = whole?.replace(/\/inputs\.pb$/, `/${index}/0/inputs.pb`);
      if (single === whole || argument(ourPod?.args, "--inputs") !== single) return false;
      if (part === "args") return ourPod?.args?.[Number(key) - 1] === "--inputs" && recorded === whole && observed === single;
      return part === "env" && key === "BATCH_JOB_ARRAY_INDEX_OFFSET" && recorded === ABSENT && observed === String(-index);
    }),
  },
  {
    name: "code-of-first-failed-item",
    reason: "Go Flyte reports a map's failure without code and kind; this project reports those of its first failed item.",
    covers: inBoth(({ rest, recorded, observed, their, our }) => {
      const [place, field] = [rest.slice(0, -1), rest.at(-1)];
      if (recorded !== ABSENT || (field !== "code" && field !== "kind") || !ERROR_PATHS.test(place.join("/"))) return false;
      const [theirError, ourError] = [valueAt(their, place), valueAt(our, place)] as (RecordedError | undefined)[];
      const item = /^\[(\d+)\]: /.exec(ourError?.message ?? "")?.[1];
      if (item === undefined || theirError?.message !== ourError?.message || theirError?.code !== undefined) return false;
      if (theirError?.kind !== undefined || !matchesMessage(ourError)) return false;
      return observed === ourError?.[field] && [their, our].every((one) => hasFailedItem(one, Number(item)));
    }),
  },
  {
    name: "parents-told-by-get",
    reason:
      "GetNodeExecution returns is_parent_node for a branch whose arm has run, as ListNodeExecutions does; Go FlyteAdmin returns it only in the list.",
    covers: inBoth(({ rest, observed, their, our }) => {
      const { node = [], rest: leaf = [] } = inNode(rest) ?? {};
      if (leaf[0] !== "closure" || leaf[1] !== "metadata_of_get" || observed !== ABSENT) return false;
      const [theirNode, ourNode] = [valueAt(their, node), valueAt(our, node)] as (RecordedNode | undefined)[];
      const { is_parent_node: parent, ...others } = theirNode?.metadata ?? {};
      return (
        parent === true && same(valueAt(theirNode, ["closure", "metadata_of_get"]), others) && same(theirNode?.metadata, ourNode?.metadata)
      );
    }),
  },
  {
    name: "exit-taken-for-interruption",
    reason:
      "A container that ends with an exit code is the task's own failure: USER, Error. Go FlytePropeller reports SYSTEM, Interrupted when it observes the pod's phase before the container's, and retries once.",
    covers: inBoth(interruptedByExit),
  },
];

/** Compares the responses of the same call in both records. */
function inStep(
  rule: (step: { readonly their: RecordedStep; readonly our: RecordedStep }) => boolean,
  fields: readonly (string | number)[] = ["message"],
): (difference: RunDifference) => boolean {
  return ({ at: [steps, index, field, ...more], theirs, ours }) => {
    if (steps !== "steps" || field === undefined || !fields.includes(field) || more.length > 0) return false;
    const [their, our] = [theirs.steps?.[Number(index)], ours.steps?.[Number(index)]];
    return their !== undefined && our !== undefined && their.call === our.call && rule({ their, our });
  };
}

const sameRefusal = (their: RecordedStep, our: RecordedStep): boolean => their.code === "INVALID_ARGUMENT" && our.code === their.code;

/** Messages of Go FlyteAdmin about inputs, and the messages of this admin for the same input. */
const REFUSED_INPUTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^invalid input (\S+)$/, ["is fixed by the launch plan and cannot be given", "is not declared"]],
  [/^expected_inputs (\S+) missing$/, ["is required and missing"]],
  [/^fixed_inputs (\S+) cannot be overridden$/, ["is fixed by the launch plan and cannot be given"]],
  [/^invalid (\S+) input wrong type\. Expected /, ["has the wrong type: expected "]],
];

const same = (one: unknown, other: unknown): boolean => JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}

const isArray = (node: RecordedNode | undefined): boolean => node?.metadata?.is_array === true;

/** Task types whose attempts run without pods. */
const WITHOUT_POD = new Set(["echo", "core-sleep"]);

/**
 * Reports whether the attempts of a node were pods that read and wrote the node's files; pods of a
 * map task read and write those of items.
 */
function hasPod(node: RecordedNode): boolean {
  return !isArray(node) && (node.tasks ?? []).some(({ closure }) => !WITHOUT_POD.has(closure?.task_type ?? ""));
}

function isCachedItem(node: RecordedNode | undefined, index: number): boolean {
  const items = node?.tasks?.at(-1)?.closure?.metadata?.external_resources ?? [];
  return items.some((item) => (item.index ?? 0) === index && item.cache_status === "CACHE_HIT");
}

/** Reports whether another execution of the record stored the artifact of the node's cache key. */
function storedElsewhere({ executions }: RunRecord, execution: RecordedExecution, { closure }: RecordedNode): boolean {
  const key = keyName(closure);
  return Object.values(executions ?? {}).some(
    (other) => other !== execution && allNodes(other.nodes).some(([, node]) => isPopulated(node) && keyName(node.closure) === key),
  );
}

const isPopulated = ({ closure }: RecordedNode): boolean => closure?.task_node_metadata?.cache_status === "CACHE_POPULATED";

/** The dataset and tag by which the cache finds an artifact. */
function keyName(closure: RecordedNode["closure"]): string {
  const { dataset_id: dataset, artifact_tag: tag } = closure?.task_node_metadata?.catalog_key ?? {};
  return JSON.stringify([sorted(dataset), tag?.name]);
}

/**
 * Reports whether an annotation depends on the pod's own attempt: its name, and the files in the
 * container's arguments.
 */
function dependsOnAttempt(annotation: string, podName: string, pod: RecordedPod | undefined): boolean {
  const text = Buffer.from(annotation, "base64").toString("latin1");
  const args = pod?.containers?.flatMap((each) => each.args ?? []);
  const files = ["--inputs", "--output-prefix"].flatMap((flag) => argument(args, flag) ?? []);
  return [podName, ...files].every((name) => text.includes(name.replace(/^.*>/, "")));
}

function argument(args: readonly string[] | null | undefined, flag: string): string | undefined {
  const index = args?.indexOf(flag) ?? -1;
  return index < 0 ? undefined : args?.[index + 1];
}

/** flytekit gives the failure node of a workflow such an id. */
const isFailureNode = (id: string): boolean => /^fn\d+$/.test(id);

const isFailed = (phase: string | undefined): boolean => phase === "FAILED" || phase === "TIMED_OUT";

/** Returns the failed node with that name, unless it is the failure node. */
function failedFirst({ nodes }: RecordedExecution, id: string): RecordedNode | undefined {
  const node = ownValue(nodes, id);
  return !isFailureNode(id) && isFailed(node?.closure?.phase) ? node : undefined;
}

function failedHandler({ nodes }: RecordedExecution): [string, RecordedNode] | undefined {
  return Object.entries(nodes ?? {}).find(([id, { closure }]) => isFailureNode(id) && isFailed(closure?.phase));
}

/** Returns the field of an execution's own error at the path. */
function errorField(rest: readonly (string | number)[]): "code" | "kind" | "message" | "timestamp" | undefined {
  return /^(?:closure|cr\/status)\/error\/(code|kind|message|timestamp)$/.exec(rest.join("/"))?.[1] as ReturnType<typeof errorField>;
}

const isErrorOf = (error: RecordedError, { closure }: RecordedNode): boolean =>
  error.code === closure?.error?.code && plainMessage(error.message) === plainMessage(closure?.error?.message);

const plainMessage = (message: string | undefined): string => (message ?? "").trim();

/**
 * Paths of a map task's error: in the execution, the node and the attempt, and their counterparts
 * in the status of the resource.
 */
const ERROR_PATHS =
  /^(closure\/error|cr\/status\/error|cr\/status\/nodeStatus\/[^/]+\/(error|arrayNodeStatus\/executionError)|nodes\/.*\/closure\/error)$/;

/** Reports whether code and kind belong to the message of the error. */
function matchesMessage(error: RecordedError | undefined): boolean {
  const [kind, code, message] = [kindName(error?.kind), error?.code?.replace(/^RetriesExhausted\|/, "") ?? "", error?.message ?? ""];
  const raised = /^(USER|SYSTEM):\w+$/.exec(code)?.[1];
  if (raised !== undefined) return kind === raised && message.includes("Traceback (most recent call last)");
  const reason = /terminated with exit code \(\d+\)\. Reason \[(\w+)\]/.exec(message)?.[1];
  return reason !== undefined && code === reason && kind === "USER";
}

/** Some fields of a resource's status hold the number of the enumeration. */
const kindName = (kind: unknown): unknown => (kind === 1 ? "USER" : kind === 2 ? "SYSTEM" : kind);

/**
 * Reports whether an array of the execution, or of one that it started, has this item among the
 * failed ones.
 */
function hasFailedItem(execution: RecordedExecution, item: number): boolean {
  return allNodes(execution.nodes).some(([, node]) => {
    const items = node.tasks?.flatMap(({ closure }) => closure?.metadata?.external_resources ?? []) ?? [];
    const failed = isArray(node) && items.some(({ index, phase }) => (index ?? 0) === item && phase === "FAILED");
    return failed || (typeof node.child_execution === "object" && hasFailedItem(node.child_execution, item));
  });
}

/** Converts a name as Kubernetes restricts it for a label. */
const labelOf = (name: string | undefined): string | undefined => name?.replaceAll(/[^A-Za-z0-9-]/g, "-").slice(0, 63);

/** Reads the masked name of an execution from the path of its data directory. */
function ownName({ cr }: RecordedExecution): string | undefined {
  const folder = (cr?.status as { dataDir?: string } | undefined)?.dataDir;
  return /<EXEC:[^>]*>$/.exec(folder ?? "")?.[0];
}
