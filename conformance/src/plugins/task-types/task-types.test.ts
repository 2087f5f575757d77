import { fromJson } from "@bufbuild/protobuf";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { comparable } from "./comparable.js";
import { EXPECTED_CALLS } from "./expected-calls.js";
import { EXPECTED_CUSTOMS } from "./expected-customs.js";
import { EXPECTED_JOBS } from "./expected-jobs.js";
import { ELASTIC_ONE_NODE, EXPECTED_TEMPLATES } from "./expected-templates.js";
import { CONNECTOR_TYPES, Platform } from "./platform.fixture.js";

const TIMEOUT_MS = 300_000;

const ROLE = { template: { metadata: { labels: { team: "one" }, annotations: { note: "two" } } } };
/** Labels and annotations of a task's `PodTemplate`. */
const TEMPLATE_METADATA = { pytorchReplicaSpecs: { Master: ROLE, Worker: ROLE } };

// Tasks of stock flytekit plugins run through admin, propeller and the plugin services to their
// end. Operators and services of clouds are stand-ins that record what they get.
describe.skipIf(process.env["TASK_TYPES"] !== "full")("task types of flytekit's plugins", () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await Platform.start();
    await platform.register(["light_tasks.py", "pod_tasks.py", "client_tasks.py"]);
  }, 900_000);
  afterAll(() => platform?.stop());

  test.concurrent.each(Object.entries(EXPECTED_TEMPLATES))("%s", { timeout: TIMEOUT_MS }, async (name, expected) => {
    const { type, target, custom, config, ...template } = await platform.template(name);
    expect({ type, version: template.taskTypeVersion, target: target.case, config }).toEqual(expected);
    expect(custom).toEqual(EXPECTED_CUSTOMS[name]?.value);
    const { message } = EXPECTED_CUSTOMS[name] ?? {};
    // Throws for a field that the message does not have.
    if (message !== undefined) fromJson(message, custom ?? {});
    const { execution, outputs } = await platform.run(name);
    expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0], JSON.stringify(execution.closure?.outputResult.value)).toBe("SUCCEEDED");
    expect(Object.keys(outputs)).toEqual([target.case === "container" || target.case === "k8sPod" ? "o0" : "results"]);

    const job = platform.jobs.get(execution.id?.name ?? "");
    expect(comparable(job?.spec)).toEqual(EXPECTED_JOBS[name]?.(job?.metadata.name ?? ""));
    expect(job?.spec ?? {}).toMatchObject(name === "pod_tasks.pytorch_pod" ? TEMPLATE_METADATA : {});
    const calls = platform.cloud.calls.map(({ operation, body }) => ({ operation, body: comparable(body) }));
    expect(calls).toEqual(expect.arrayContaining([...(EXPECTED_CALLS[name] ?? [])]));
    const created = platform.connector.requests.filter(({ template }) => template?.type === type);
    const received = created.map(({ template, inputs }) => {
      const given = { target: template?.target.case, custom: template?.custom, config: template?.config };
      return { ...given, inputs: Object.keys(inputs?.literals ?? {}) };
    });
    expect(received).toEqual(CONNECTOR_TYPES.includes(type) ? [{ target: target.case, custom, config, inputs: ["a"] }] : []);
  });

  test("an elastic task with one node is a pod", async () => {
    const { type, taskTypeVersion: version, target, custom, config } = await platform.template("pod_tasks.elastic_one_node");
    expect({ type, version, target: target.case, config }).toEqual(ELASTIC_ONE_NODE);
    expect(custom).toBeUndefined();
  });
});
