import { expect, test } from "vitest";
import { Classification } from "../difference-classes.js";
import { differences } from "../differences.js";
import type { RunRecord } from "./run-record.js";
import { WARM_POD_CLASSES } from "./warm-pod-classes.js";

const OWN = "<EXEC:run>-n0-0";
const WARM = "warm-0c338690e9-2433514e-o";

/** A record with one attempt of a task. */
function record({ pods, message, logContext }: { pods: object; message: string; logContext?: object }): RunRecord {
  const closure = { phase: "FAILED", error: { message }, ...(logContext && { log_context: logContext }) };
  return { executions: { run: { pods: pods as never, nodes: { n0: { tasks: [{ closure } as never] } } } } };
}

const recorded = (program: string) =>
  record({
    pods: { [OWN]: { containers: [{ args: [program, "--inputs", "in.pb"], env: { ATTEMPT: "0" } }], phase: "Failed" } },
    message: `[${OWN}] terminated with exit code (3); pods "${OWN}" not found`,
  });

const warm = (changes: { message?: string; podName?: string; pods?: object } = {}) =>
  record({
    pods: changes.pods ?? {},
    message: changes.message ?? `[task] terminated with exit code (3); pods "${WARM}" not found`,
    logContext: {
      primary_pod_name: changes.podName ?? WARM,
      pods: [{ pod_name: WARM, namespace: "<NS>", primary_container_name: "task", containers: [{ container_name: "task" }] }],
    },
  });

function open(theirs: RunRecord, ours: RunRecord): string[] {
  const found = differences(theirs, ours).map((difference) => ({ ...difference, theirs, ours }));
  return new Classification(WARM_POD_CLASSES).add("case", found).map(({ path }) => path);
}

test("classes of warm pods cover an attempt that ran in one", () => {
  expect(open(recorded("pyflyte-execute"), warm())).toEqual([]);
});

/** A prewarmed pod that serves the attempt. */
const taken = ({ phase = "Failed", attempt = "0" } = {}) => ({
  [WARM]: {
    annotations: {
      "flyte.org/warm-assignment": JSON.stringify({ command: ["pyflyte-execute", "--inputs", "in.pb"], env: { ATTEMPT: attempt } }),
    },
    labels: { "flyte.org/warm": "taken" },
    containers: [{ name: "task", args: null, command: ["python3"] }],
    phase,
  },
});

test("classes of warm pods cover a prewarmed pod", () => {
  expect(open(recorded("pyflyte-execute"), warm({ pods: taken() }))).toEqual([]);
});

test.each([
  ["another phase of a prewarmed pod", "pyflyte-execute", { pods: taken({ phase: "Succeeded" }) }, `/executions/run/pods/${WARM}/phase`],
  ["a prewarmed pod of another attempt", "pyflyte-execute", { pods: taken({ attempt: "1" }) }, `/executions/run/pods/${WARM}/phase`],
  ["a pod of a container task", "sh", {}, "/executions/run/pods"],
  [
    "another exit code",
    "pyflyte-execute",
    { message: "[task] terminated with exit code (4)" },
    "/executions/run/nodes/n0/tasks[0]/closure/error/message",
  ],
  [
    "a pod that is not warm",
    "pyflyte-execute",
    { podName: "other" },
    "/executions/run/nodes/n0/tasks[0]/closure/log_context/primary_pod_name",
  ],
  [
    "a pod of the attempt that differs",
    "pyflyte-execute",
    { pods: { [OWN]: { phase: "Succeeded" } } },
    `/executions/run/pods/${OWN}/phase`,
  ],
])("classes of warm pods do not cover %s", (_, program, changes, path) => {
  expect(open(recorded(program), warm(changes))).toContain(path);
});
