import { readFileSync } from "node:fs";
import type { FlyteClient } from "@flyte-ts/client";
import { collectionLiteral, floatLiteral, literalMap } from "@flyte-ts/domain/literal";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ExecutionName } from "../stack/executions.js";
import { startStack } from "../stack/stack-fixture.js";
import { connectToStack, type StackClient } from "../stack/use-stack.js";
import { endOfCase, startCase } from "./case-runs.js";
import { EXAMPLE_CASES, type ExampleCase, registerExamples } from "./example-runs.js";
import { start, waitFor } from "./registered-executions.js";

let stackClient: StackClient;
let client: FlyteClient;
/** Address of the namespace of the pods. */
let namespaceUrl: string;
let versionOf: (name: string) => string;
const executions = new Map<ExampleCase, ExecutionName>();

/** Registers the examples and starts an execution of each. */
beforeAll(async () => {
  const stack = await startStack();
  stackClient = connectToStack(stack);
  ({ client } = stackClient);
  namespaceUrl = `${/server: (\S+)/.exec(readFileSync(stack.kubeconfig, "utf8"))?.[1] ?? ""}/api/v1/namespaces/flytesnacks-development`;
  for (const { secrets = {} } of EXAMPLE_CASES) await createSecrets(secrets);
  versionOf = registerExamples(stack);
  for (const example of EXAMPLE_CASES) executions.set(example, await startCase(client, example, versionOf(example.name)));
}, 400_000);
afterAll(async () => {
  await stackClient.close();
}, 60_000);

/** Creates Kubernetes Secrets: `group/key` is a key of the Secret `group`. */
async function createSecrets(secrets: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, value] of Object.entries(secrets)) {
    const [group = "", key = ""] = path.split("/");
    const [, namespaces = "", namespace = ""] = /^(.*)\/([^/]+)$/.exec(namespaceUrl) ?? [];
    await createObject(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await createObject(`${namespaceUrl}/secrets`, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: group },
      stringData: { [key]: value },
    });
  }
}

const CONFLICT = 409;

/** Creates an object of Kubernetes unless it exists. */
async function createObject(url: string, object: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(object) });
  if (!response.ok && response.status !== CONFLICT) throw new Error(await response.text());
}

const succeeding = EXAMPLE_CASES.filter(({ error }) => error === undefined);
const failing = EXAMPLE_CASES.filter(({ error }) => error !== undefined);

test.each(succeeding)("$name $inputs has the same outputs on a server as in this process", { timeout: 300_000 }, async (example) => {
  const { phase, error, outputs } = await endOfCase(client, executions.get(example) as ExecutionName, example);
  expect({ phase, error }).toEqual({ phase: "SUCCEEDED", error: "" });
  expect({ outputs }).toMatchObject({ outputs: example.outputs });
});

test.each(failing)("$name $inputs fails on a server as in this process", { timeout: 300_000 }, async (example) => {
  const { phase, error } = await endOfCase(client, executions.get(example) as ExecutionName, example);
  expect(phase).toBe("FAILED");
  expect(error).toContain(example.error);
});

test("a call that asks for a GPU waits for a node with the accelerator of its task", { timeout: 300_000 }, async () => {
  const inputs = literalMap([["values", collectionLiteral([floatLiteral(1)])]]);
  const name = "tasks.pods.onGpu";
  const id = await start(client, { name, version: versionOf(name), kind: ResourceType.LAUNCH_PLAN, inputs });
  const selector = `labelSelector=execution-id%3D${id.name}`;
  const podSpecs = async () => {
    const { items } = (await (await fetch(`${namespaceUrl}/pods?${selector}`)).json()) as {
      readonly items: readonly { readonly spec: object }[];
    };
    return items.map(({ spec }) => spec);
  };
  const expression = { key: "k8s.amazonaws.com/accelerator", operator: "In", values: ["nvidia-tesla-t4"] };
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } };
  await expect
    .poll(podSpecs, { timeout: 120_000 })
    .toMatchObject([{ affinity: { nodeAffinity }, containers: [{ resources: { limits: { "nvidia.com/gpu": "1" } } }] }]);
  await client.admin.terminateExecution({ id, cause: "no node has a GPU" });
  expect((await waitFor(client, id)).phase).toBe("ABORTED");
});
