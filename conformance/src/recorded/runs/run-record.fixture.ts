import type { RecordedError, RecordedExecution, RecordedNode, RunRecord } from "./run-record.js";

/** Values of a case that was never recorded. */
export interface NewCase {
  /** Label of the execution. */
  readonly label: string;
  /** Prefix of node ids. */
  readonly node: string;
  readonly exit: number;
  /** The failing item of a map task with four items. */
  readonly failedItem: number;
  readonly errorCode: string;
}

/** Records of the same runs, by Go Flyte and by this system. */
export interface RunPair {
  readonly theirs: RunRecord;
  readonly ours: RunRecord;
}

/** Builds runs in which every class of differences occurs. */
export function runPair(given: NewCase): RunPair {
  const pairs = [values, maps, failures, interrupted, children, dynamics, cached].map((make) => make(given));
  const join = (side: "theirs" | "ours"): RunRecord => ({
    steps: pairs.flatMap((pair) => pair[side].steps ?? []),
    executions: Object.fromEntries(pairs.flatMap((pair) => Object.entries(pair[side].executions ?? {}))),
  });
  return { theirs: join("theirs"), ours: join("ours") };
}

const integer = (value: number) => ({ literals: { o0: { scalar: { primitive: { integer: String(value) } } } } });

function values({ label, node }: NewCase): RunPair {
  const [branch, arm, echo] = [`${node}0`, `${node}0-${node}1`, `${node}2`];
  const inner: RecordedNode = {
    metadata: { spec_node_id: arm, retry_group: "0" },
    closure: { phase: "SUCCEEDED" },
    inputs: integer(1),
    outputs: integer(2),
    tasks: [{ closure: { phase: "SUCCEEDED", task_type: "echo" } }],
  };
  const taken = (got: object): RecordedNode =>
    ({
      metadata: { spec_node_id: branch, is_parent_node: true },
      closure: { phase: "SUCCEEDED", ...got },
      inputs: integer(1),
      outputs: integer(2),
      tasks: [],
      children: { [`${branch}-0-${arm}`]: inner },
    }) as RecordedNode;
  const plain: RecordedNode = {
    metadata: { spec_node_id: echo },
    closure: { phase: "SUCCEEDED" },
    inputs: integer(3),
    outputs: integer(4),
    tasks: [],
  };
  const shared = { closure: { phase: "SUCCEEDED" }, inputs: integer(1), outputs: integer(4) };
  const folder = `${branch}/data`;
  const files = [
    `${folder}/inputs.pb`,
    `${folder}/0/outputs.pb`,
    `${folder}/0/${arm}/inputs.pb`,
    `${folder}/0/${arm}/0/outputs.pb`,
    `${echo}/data/inputs.pb`,
  ];
  const never = { [`${node}9`]: {} };
  return {
    theirs: {
      steps: refusals(label).map(([call, message]) => ({ call, code: "INVALID_ARGUMENT", message })),
      executions: {
        [label]: {
          ...shared,
          admin_blobs: ["inputs", "user_inputs"],
          blobs: files,
          cr: { status: { nodeStatus: { [branch]: { phase: 5 }, ...never } } },
          nodes: { [branch]: taken({ metadata_of_get: { spec_node_id: branch } }), [echo]: plain },
        } as RecordedExecution,
      },
    },
    ours: {
      steps: refusals(label).map(([call, , message]) =>
        message === undefined ? { call, code: "OK" } : { call, code: "INVALID_ARGUMENT", message },
      ),
      executions: {
        [label]: {
          ...shared,
          blobs: [],
          cr: { status: { nodeStatus: { [branch]: { phase: 5 } } } },
          nodes: { [branch]: taken({}), [echo]: plain },
        },
      },
    },
  };
}

/**
 * Calls with the responses of Go Flyte and of this system; undefined where this system succeeds.
 */
function refusals(label: string): [string, string, string?][] {
  const signal = (id: string) => `failed to validate that signal [${id}] exists, err: [signal does not exist]`;
  return [
    ["fixed given", "invalid input rate", "input rate is fixed by the launch plan and cannot be given"],
    ["missing", "expected_inputs rate missing", "input rate is required and missing"],
    ["unknown signal", signal(`{{p d <EXEC:${label}>} go}`), signal(`project:"p" domain:"d" name:"<EXEC:${label}>" go`)],
    [
      "wrong type",
      "requested signal value [scalar:{primitive:{integer:3}}] is not castable to existing signal type [[8 3]]",
      "requested signal value of type [simple:INTEGER] is not castable to existing signal type [simple:STRING]",
    ],
    [
      "map over a launch plan",
      "failed to compile workflow for [name:\"w\"] with err: Collected Errors: 1\n\tError 0: Code: MismatchingTypes, Node Id: n4, Description: The output variable 'xs' has type [collection_type:{simple:STRING}], but it's assigned to the input variable 'plan.s' which has type type [simple:STRING].\n",
    ],
  ];
}

function maps({ label, node, failedItem }: NewCase): RunPair {
  const [id, name] = [`${node}0`, `${label} map`];
  const message = `[${failedItem}]: Trace:\n\n    Traceback (most recent call last):\n    KeyError: 'x'`;
  const coded = { code: "USER:RuntimeError", kind: "USER", message };
  const items = Array.from({ length: 4 }, (_, index) => ({
    index,
    phase: index === failedItem ? "FAILED" : "SUCCEEDED",
    cache_status: index === 0 ? "CACHE_HIT" : "CACHE_POPULATED",
  }));
  const folder = `<META>/<NS>-<EXEC:${name}>/${id}/data`;
  const execution = (error: RecordedError, pods: RecordedExecution["pods"], blobs: readonly string[]): RecordedExecution => ({
    closure: { phase: "FAILED", error },
    cr: {
      status: {
        error,
        nodeStatus: { [id]: { error, arrayNodeStatus: { executionError: error.kind ? { ...error, kind: 1 as never } : error } } },
      },
    },
    blobs,
    pods,
    nodes: {
      [id]: {
        metadata: { spec_node_id: id, is_array: true },
        closure: { phase: "FAILED", error },
        inputs: integer(1),
        tasks: [{ closure: { phase: "FAILED", error, task_type: "container_array", metadata: { external_resources: items } } }],
      },
    },
  });
  const pod = (index: number, inputs: string, more: object) => ({
    [`<EXEC:${name}>-${id}-0-n${index}-0`]: {
      containers: [
        {
          args: ["run", "--inputs", inputs, "--output-prefix", `${folder}/0/${index}/0`],
          env: { FLYTE_K8S_ARRAY_INDEX: String(index), ...more },
        },
      ],
    },
  });
  const cachedFiles = [`${id}/data/0/0/inputs.pb`, `${id}/data/0/0/0/outputs.pb`, `${id}/data/inputs.pb`];
  return {
    theirs: {
      executions: {
        [name]: execution({ message }, { ...pod(1, `${folder}/inputs.pb`, {}), ...pod(2, `${folder}/0/dn0/inputs.pb`, {}) }, cachedFiles),
      },
    },
    ours: {
      executions: {
        [name]: execution(
          coded,
          {
            ...pod(1, `${folder}/1/0/inputs.pb`, { BATCH_JOB_ARRAY_INDEX_OFFSET: "-1" }),
            ...pod(2, `${folder}/0/dn0/2/0/inputs.pb`, { BATCH_JOB_ARRAY_INDEX_OFFSET: "-2" }),
          },
          [],
        ),
      },
    },
  };
}

function failures({ label, node, errorCode }: NewCase): RunPair {
  const [id, name] = [`${node}0`, `${label} handler`];
  const own = { code: errorCode, kind: "USER", message: "it broke" };
  const handler = { code: "USER:RuntimeError", kind: "USER", message: "so did the handler" };
  const both = { ...own, message: "it broke\n\nThe failure node [fn0] failed too: USER:RuntimeError: so did the handler" };
  const execution = (error: RecordedError, failed: string): RecordedExecution => ({
    closure: { phase: "FAILED", error },
    cr: { status: { error } },
    nodes: {
      [id]: { metadata: { spec_node_id: id }, closure: { phase: "FAILED", error: own } },
      fn0: {
        metadata: { spec_node_id: "fn0" },
        closure: { phase: "FAILED", error: handler },
        inputs: { literals: { failure: { scalar: { error: { failed_node_id: failed } } } } },
      },
    },
  });
  return {
    theirs: { executions: { [name]: execution({ ...handler, timestamp: "<TIME>" }, "fn0") } },
    ours: { executions: { [name]: execution(both, id) } },
  };
}

function interrupted({ label, node, exit }: NewCase): RunPair {
  const [id, name] = [`${node}0`, `${label} exit`];
  const message = (attempt: number) =>
    `\r\n[<EXEC:${name}>-${id}-${attempt}] terminated with exit code (${exit}). Reason [Error]. Message: \n<LOG TAIL>`;
  const attempt = (number: number, error: object) => ({
    id: { task_id: { name: "t" }, ...(number > 0 && { retry_attempt: number }) },
    closure: {
      phase: "FAILED",
      task_type: "python-task",
      error: { ...error, message: message(number) },
      metadata: { generated_name: `<EXEC:${name}>-${id}-${number}` },
    },
  });
  const [user, system] = [
    { code: "Error", kind: "USER" },
    { code: "Interrupted", kind: "SYSTEM" },
  ];
  const execution = (last: number, status: object, tasks: RecordedNode["tasks"]): RecordedExecution => {
    const error = {
      code: "RetriesExhausted|Error",
      kind: "USER",
      message: `[1/1] currentAttempt done. Last Error: USER::${message(last)}`,
    };
    return {
      closure: { phase: "FAILED", error },
      cr: { status: { error, nodeStatus: { [id]: { phase: 6, error, ...status } } } },
      nodes: {
        [id]: {
          metadata: { spec_node_id: id },
          closure: {
            phase: "FAILED",
            error,
            task_node_metadata: { checkpoint_uri: `<RAW>/<EXEC:${name}>-${id}-${last}/_flytecheckpoints` } as never,
          },
          ...(tasks && { tasks }),
        },
      },
      pods: {
        [`<EXEC:${name}>-${id}-${last}`]: {
          labels: { "node-id": id },
          exit: [exit],
          phase: "Failed",
          containers: [
            {
              args: [
                "run",
                "--output-prefix",
                `<META>/${id}/data/${last}`,
                "--prev-checkpoint",
                last === 0 ? '""' : `<RAW>/<EXEC:${name}>-${id}-${last - 1}/_flytecheckpoints`,
              ],
              env: { FLYTE_ATTEMPT_NUMBER: String(last) },
            } as never,
          ],
        },
      },
    };
  };
  return {
    theirs: { executions: { [name]: execution(1, { attempts: 1, systemFailures: 1 }, [attempt(0, system), attempt(1, user)]) } },
    ours: { executions: { [name]: execution(0, {}, [attempt(0, user)]) } },
  };
}

function children({ label, node }: NewCase): RunPair {
  const [id, name] = [`${node}0`, `${label} parent`];
  const child = `<EXEC:${name}/${id}>`;
  const labels = { "execution-id": `<EXEC:${name}>`, "workflow-name": "flows-parent" };
  const pod = (own: Readonly<Record<string, string>>) => ({
    [`${child}-${id}-0`]: { labels: { ...own, "node-id": id }, phase: "Succeeded", containers: [{ args: ["run"] }] },
  });
  const execution = (own: Readonly<Record<string, string>>, pods: RecordedExecution["pods"][]): RecordedExecution => ({
    closure: { phase: "SUCCEEDED", workflow_id: { name: "flows.parent" } },
    cr: { labels },
    pods: pods[0] ?? {},
    nodes: {
      [id]: {
        metadata: { spec_node_id: id },
        closure: { phase: "SUCCEEDED" },
        child_execution: {
          closure: { phase: "SUCCEEDED", workflow_id: { name: "flows.child" } },
          cr: { labels: own, status: { dataDir: `<META>/<NS>-${child}` } as never },
          pods: pods[1] ?? {},
        },
      },
      [`${node}1`]: { metadata: { spec_node_id: `${node}1` }, closure: { phase: "SUCCEEDED" }, child_execution: { pods: {}, nodes: {} } },
    },
  });
  const own = { "execution-id": child, "workflow-name": "flows-child" };
  return {
    theirs: { executions: { [name]: execution(labels, [pod(labels), {}]) } },
    ours: { executions: { [name]: execution(own, [{}, pod(own)]) } },
  };
}

function dynamics({ label, node }: NewCase): RunPair {
  const [id, name] = [`${node}0`, `${label} dynamic`];
  const graph = `${id}/data/0/dynamic_compiled.pb`;
  const podName = `<EXEC:${name}>-${id}-0`;
  const execution = (blobs: readonly string[], annotations: object): RecordedExecution => ({
    closure: { phase: "SUCCEEDED" },
    blobs,
    nodes: {
      [id]: {
        metadata: { spec_node_id: id, is_dynamic: true },
        closure: { phase: "SUCCEEDED" },
        tasks: [{ closure: { phase: "SUCCEEDED", task_type: "python-task" } }],
      },
    },
    pods: {
      [podName]: { annotations, containers: [{ args: ["run", "--inputs", `<META>/<NS>-<EXEC:${name}>/${id}/data/inputs.pb`] }] } as never,
    },
  });
  const attempt = Buffer.from(`\n\x02abc0-${id}-0 s3://b/p-abc0/${id}/data/inputs.pb`, "latin1").toString("base64");
  return {
    theirs: { executions: { [name]: execution([graph, `${id}/data/0/futures_compiled.pb`], { kept: "1" }) } },
    ours: { executions: { [name]: execution([graph], { kept: "1", "flyte.org/attempt": attempt }) } },
  };
}

function cached({ label, node }: NewCase): RunPair {
  const [id, name] = [`${node}0`, `${label} overwrite`];
  const execution = (source: object): RecordedExecution => ({
    closure: { phase: "SUCCEEDED" },
    nodes: {
      [id]: {
        metadata: { spec_node_id: id },
        closure: {
          phase: "SUCCEEDED",
          task_node_metadata: {
            cache_status: "CACHE_POPULATED",
            catalog_key: { dataset_id: { name: "t" }, artifact_tag: { name: "tag" }, ...source },
          },
        },
      },
    },
  });
  const source = {
    source_task_execution: { node_execution_id: { node_id: id, execution_id: { project: "p", domain: "d", name: `<EXEC:${name}>` } } },
  };
  return { theirs: { executions: { [name]: execution(source) } }, ours: { executions: { [name]: execution({}) } } };
}
