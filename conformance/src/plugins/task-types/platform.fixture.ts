import { execFileSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { createBlobStore } from "@flyte-ts/blobstore";
import { integerLiteral, literalMap } from "@flyte-ts/domain/literal";
import type { Execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralMapSchema, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { createKubeClient } from "@flyte-ts/kubernetes";
import { root } from "../../repository.js";
import { waitForEnd } from "../../stack/executions.js";
import { blobStoreKeyOf, type RunningStack, startStack } from "../../stack/stack-fixture.js";
import { connectToStack, type StackClient } from "../../stack/use-stack.js";
import { type CloudServices, startCloudServices } from "./cloud-services.fixture.js";
import { defineKinds, type JobResource, playOperators } from "./played-operators.fixture.js";
import { pluginPackages } from "./plugin-packages.fixture.js";
import { type RecordingConnector, startRecordingConnector } from "./recording-connector.fixture.js";

const SCOPE = { project: "flytesnacks", domain: "development" };
/** Task types that the connector announces. */
export const CONNECTOR_TYPES: readonly string[] = ["databricks", "snowflake"];
const TIMEOUT_MS = 240_000;
/** Output of every Python task. */
const OUTPUTS = literalMap([["o0", integerLiteral(7)]]);

/** Output of queries. */
const QUERY_OUTPUTS = literalMap([
  [
    "results",
    create(LiteralSchema, {
      value: { case: "scalar", value: { value: { case: "structuredDataset", value: { uri: "snowflake://results" } } } },
    }),
  ],
]);

/** The local stack with all plugin services, and stand-ins for what they call. */
export class Platform {
  /** Resources of operators by the name of their execution. */
  readonly jobs = new Map<string, JobResource>();
  readonly #stops: (() => Promise<unknown>)[] = [];
  #stack!: RunningStack;
  #user!: StackClient;
  cloud!: CloudServices;
  connector!: RecordingConnector;

  static async start(): Promise<Platform> {
    const platform = new Platform();
    try {
      await platform.#start();
      return platform;
    } catch (error) {
      await platform.stop();
      throw error;
    }
  }

  async #start(): Promise<void> {
    let write: (program: object) => Promise<void> = () => Promise.reject(new Error("the stack has not started"));
    this.cloud = await startCloudServices((command) => write(command));
    this.#stops.push(() => this.cloud.stop());
    this.connector = await startRecordingConnector(CONNECTOR_TYPES, (type) => (type === "databricks" ? OUTPUTS : QUERY_OUTPUTS));
    this.#stops.push(() => this.connector.stop());
    const services = "[plugin-operator, plugin-web-api, plugin-connector]";
    const stack = await startStack(["--no-example", "--services", services], settings(this.cloud.url, this.connector.address));
    this.#user = connectToStack(stack);
    this.#stops.push(this.#user.close);
    write = outputsWriter(stack);
    const client = await createKubeClient({ kubeconfig: stack.kubeconfig });
    this.#stops.push(() => Promise.resolve(client.close()));
    await defineKinds(client);
    const operators = playOperators(client, async (job) => {
      this.jobs.set(job.metadata.labels?.["execution-id"] ?? "", job);
      await write(job.spec);
    });
    this.#stops.push(() => operators.stop());
    this.#stack = stack;
  }

  /** Registers the tasks of files of `python/task_types` with stock pyflyte. */
  async register(files: readonly string[]): Promise<void> {
    const { bin, packages } = await pluginPackages();
    const python = join(root, "conformance", "python");
    const folder = join(python, "task_types");
    const args = [
      "register",
      "--version",
      "v1",
      "--non-fast",
      "--image",
      "registry.example.com/task:v1",
      ...files.map((file) => join(folder, file)),
    ];
    const env = {
      ...process.env,
      PATH: `${bin}:${process.env.PATH}`,
      PYTHONPATH: [packages, join(python, "torch_stand_in")].join(delimiter),
      PYTHONDONTWRITEBYTECODE: "1",
      FLYTE_PLATFORM_URL: `localhost:${this.#stack.api}`,
      FLYTE_PLATFORM_INSECURE: "true",
    };
    execFileSync(join(bin, "pyflyte"), args, { cwd: this.#user.folder, env, encoding: "utf8", stdio: "pipe" });
  }

  /** The task as admin has it. */
  async template(name: string): Promise<TaskTemplate> {
    const { closure } = await this.#user.client.admin.getTask({ id: taskId(name) });
    if (closure?.compiledTask?.template === undefined) throw new Error(`${name} is not registered`);
    return closure.compiledTask.template;
  }

  /** Runs a task; resolves when its execution has ended. */
  async run(name: string): Promise<{ readonly execution: Execution; readonly outputs: object }> {
    const execution = { ...SCOPE, name: `e-${name.replace(/^.*\./, "").replaceAll("_", "-")}` };
    const spec = { launchPlan: taskId(name), metadata: {} };
    const { client } = this.#user;
    await client.admin.createExecution({ ...execution, spec, inputs: literalMap([["a", integerLiteral(7)]]) });
    const ended = await waitForEnd(client, execution, TIMEOUT_MS);
    const { fullOutputs } = await client.admin.getExecutionData({ id: execution });
    return { execution: ended, outputs: fullOutputs?.literals ?? {} };
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) await stop();
  }
}

const taskId = (name: string) => ({ ...SCOPE, resourceType: ResourceType.TASK, name, version: "v1" });

/** Settings of the services, as environment variables. */
function settings(cloud: string, connector: string): Record<string, string> {
  const web = "FLYTE_TS_PLUGIN_WEB_API_";
  const poll = JSON.stringify({ initialMs: 100, maxMs: 200 });
  return {
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: "eu-west-1",
    [`${web}BATCH`]: `{endpoint: "${cloud}", poll: ${poll}}`,
    [`${web}ATHENA`]: `{endpoint: "${cloud}", poll: ${poll}}`,
    [`${web}BIGQUERY`]: `{endpoint: "${cloud}", anonymous: true, poll: ${poll}}`,
    FLYTE_TS_PLUGIN_CONNECTOR_ENDPOINTS: `[{name: recording, address: "${connector}"}]`,
    FLYTE_TS_PLUGIN_CONNECTOR_DISCOVERY: "{startDelayMs: 1000, pollIntervalMs: 1000}",
    FLYTE_TS_PLUGIN_OPERATOR_DISCOVERY_INTERVAL_MS: "1000",
    FLYTE_TS_ADMIN_QUEUES: "{executionQueues: [{dynamic: queue-1, attributes: [batch]}], workflowConfigs: [{tags: [batch]}]}",
  };
}

/** Writes the outputs of a task to the prefix that its program's arguments name. */
function outputsWriter(stack: RunningStack): (program: object) => Promise<void> {
  const s3 = { endpoint: `http://${stack.host}:${stack.blobs}`, region: "us-east-1", ...blobStoreKeyOf(stack) };
  const store = createBlobStore({ s3, azure: {} });
  return async (program) => {
    // The arguments are a list, or one text with spaces.
    const prefix = /--output-prefix(?:","| )([^" ]+)/.exec(JSON.stringify(program))?.[1];
    if (prefix === undefined) throw new Error(`no output prefix in ${JSON.stringify(program)}`);
    await store.put(`${prefix}/outputs.pb`, toBinary(LiteralMapSchema, OUTPUTS));
  };
}
