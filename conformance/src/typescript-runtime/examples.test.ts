import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { FlyteClient } from "@flyte-ts/client";
import { collectionLiteral, floatLiteral, literalMap } from "@flyte-ts/domain/literal";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { create } from "@bufbuild/protobuf";
import { decodeOutputs, type Definition, definitionOf, encodeInputs, LocalFileStore } from "@flyte-ts/sdk/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ExecutionName } from "../stack/executions.js";
import { runPython, startStack } from "../stack/stack-fixture.js";
import { connectToStack, type StackClient } from "../stack/use-stack.js";
import { root } from "../repository.js";
import { runCommand, versionIn } from "./project.js";
import { answerGates, start, waitFor } from "./registered-executions.js";

// The examples are a project of their own: their types are those of its TypeScript.
interface ExampleCase {
  readonly name: string;
  readonly entity: Parameters<typeof definitionOf>[0];
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly outputs?: unknown;
  readonly error?: string;
  readonly signals?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, string>>;
}
const EXAMPLES = join(root, "examples", "typescript");
/** A project of its own: it refers to entities of Python, which must be registered before. */
const MIXED = join(EXAMPLES, "src", "mixed");
const { CASES } = (await import(pathToFileURL(join(EXAMPLES, "src", "cases.ts")).href)) as { readonly CASES: readonly ExampleCase[] };

let stackClient: StackClient;
let client: FlyteClient;
let folder: string;
/** Address of the namespace of the pods. */
let namespaceUrl: string;
/** Version of the examples. */
let version: string;
const executions = new Map<ExampleCase, ExecutionName>();

/** Registers the examples and starts an execution of each. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-examples-"));
  const stack = await startStack();
  stackClient = connectToStack(stack);
  ({ client } = stackClient);
  const endpoint = `localhost:${stack.api}`;
  namespaceUrl = `${/server: (\S+)/.exec(readFileSync(stack.kubeconfig, "utf8"))?.[1] ?? ""}/api/v1/namespaces/flytesnacks-development`;
  for (const { secrets = {} } of CASES) await createSecrets(secrets);
  const scope = ["-p", "flytesnacks", "-d", "development"];
  runPython({ stack, folder: MIXED }, "pyflyte", ["register", ...scope, "--version", "v1", "pipelines"]);
  const register = (project: string) => versionIn(runCommand({ folder: project, endpoint }, ["register"]));
  const versions = { flows: register(EXAMPLES), mixed: register(MIXED) };
  version = versions.flows;
  for (const example of CASES) {
    const definition = definitionOf(example.entity);
    const inputs = await encodeInputs(definition, example.inputs, new LocalFileStore(folder));
    const kind = definition.kind === "task" ? ResourceType.TASK : ResourceType.LAUNCH_PLAN;
    const registered = example.name.startsWith("references.") ? versions.mixed : versions.flows;
    executions.set(example, await start(client, { name: example.name, version: registered, kind, inputs }));
  }
}, 400_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
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

async function outputsOf(id: ExecutionName, definition: Definition): Promise<unknown> {
  const { fullOutputs } = await client.admin.getExecutionData({ id });
  return decodeOutputs(definition, fullOutputs ?? create(LiteralMapSchema), new LocalFileStore(folder));
}

const succeeding = CASES.filter(({ error }) => error === undefined);
const failing = CASES.filter(({ error }) => error !== undefined);

test.each(succeeding)("$name $inputs has the same outputs on a server as in this process", { timeout: 300_000 }, async (example) => {
  const id = executions.get(example) as ExecutionName;
  await answerGates(client, id, example.signals ?? {});
  const { phase, error } = await waitFor(client, id);
  expect({ phase, error }).toEqual({ phase: "SUCCEEDED", error: "" });
  expect({ outputs: await outputsOf(id, definitionOf(example.entity)) }).toMatchObject({ outputs: example.outputs });
});

test.each(failing)("$name $inputs fails on a server as in this process", { timeout: 300_000 }, async (example) => {
  const { phase, error } = await waitFor(client, executions.get(example) as ExecutionName);
  expect(phase).toBe("FAILED");
  expect(error).toContain(example.error);
});

test("a call that asks for a GPU waits for a node with the accelerator of its task", { timeout: 300_000 }, async () => {
  const inputs = literalMap([["values", collectionLiteral([floatLiteral(1)])]]);
  const id = await start(client, { name: "tasks.pods.onGpu", version, kind: ResourceType.LAUNCH_PLAN, inputs });
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
