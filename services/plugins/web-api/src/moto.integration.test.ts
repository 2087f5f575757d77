import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BatchClient, CreateComputeEnvironmentCommand, CreateJobQueueCommand } from "@aws-sdk/client-batch";
import { create, toBinary } from "@bufbuild/protobuf";
import { systemRandom, systemTime } from "@flyte-ts/async";
import { type BlobStore, createBlobStore } from "@flyte-ts/blobstore";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { integerLiteral, literalMap } from "@flyte-ts/domain/literal";
import { ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { DesiredState, type TaskEvent, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { LocalServer } from "@flyte-ts/local-servers";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { type RunningPlugin, runPlugin } from "@flyte-ts/task-plugin";
import { collectTaskEvents } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { startMoto } from "@flyte-ts/test-servers";
import { natsFixture, type ServerFixture } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { webApiConfig } from "./config.js";
import { createControllers } from "./create-controllers.js";
import { jobRecords } from "./frame/job/job-record.js";
import { webApiPlugin } from "./plugin.js";
import { routesOf } from "./routes.js";
import { arrayRequest, batchRequest, prestoRequest } from "./stand-in/tasks.fixture.js";

// The official SDKs against moto, requests and events over a real bus.
const REGION = "us-east-1";
const logger = createLogger({ service: "test", level: "silent" });

describe("AWS Batch and Athena of moto", () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-moto-"));
  const store: BlobStore = createBlobStore({});
  let moto: LocalServer;
  let nats: ServerFixture;
  let bus: Bus;
  let events: readonly TaskEvent[] = [];
  let running: RunningPlugin;

  const serve = async () => {
    const poll = { initialMs: 200, maxMs: 1_000 };
    const access = { region: REGION, endpoint: moto.url, poll };
    const config = webApiConfig.parse({ batch: access, athena: access });
    const records = jobRecords(store);
    const controllers = await createControllers({ config, store, records, clock: systemTime, random: systemRandom, logger, env: {} });
    running = await runPlugin({ plugin: webApiPlugin({ routes: routesOf(config), controllers, records }), bus, logger, clock: systemTime });
  };
  /** Returns the request with a name and files of its own. */
  const placed = (request: TaskRequest, generatedName: string): TaskRequest => ({
    ...request,
    generatedName,
    outputPrefix: `file://${folder}/${generatedName}/0`,
  });
  const send = (request: TaskRequest, desired = DesiredState.RUN) =>
    bus.publish(taskRequestSubject(request.template?.type ?? "", request.shard), toBinary(TaskRequestSchema, { ...request, desired }));
  const eventsOf = ({ generatedName }: TaskRequest) => events.filter(({ event }) => event?.metadata?.generatedName === generatedName);
  const until = (request: TaskRequest, ...phases: readonly Phase[]): Promise<TaskEvent> =>
    vi.waitFor(
      () => {
        const found = eventsOf(request).find(({ event }) => phases.includes(event?.phase ?? 0));
        expect(
          found,
          JSON.stringify(eventsOf(request).map(({ event }) => [event?.phase, event?.reason, event?.outputResult])),
        ).toBeDefined();
        return found as TaskEvent;
      },
      { timeout: 60_000, interval: 50 },
    );
  const writeOutputs = (request: TaskRequest, index: number) => {
    const outputs = toBinary(LiteralMapSchema, literalMap([["o0", integerLiteral(index)]]));
    return store.put(`${request.outputPrefix}/${index}/outputs.pb`, outputs);
  };

  beforeAll(async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
    [moto, nats] = await Promise.all([startMoto(), natsFixture()]);
    await createQueue(moto.url);
    bus = await connectBus({ url: nats.url, name: "test", logger });
    events = await collectTaskEvents(bus);
    await serve();
  }, 600_000);

  afterAll(async () => {
    await running?.stop();
    await bus?.close();
    await nats?.stop();
    await moto?.stop();
    rmSync(folder, { recursive: true, force: true });
    vi.unstubAllEnvs();
  });

  it("runs a job, with the outputs that its program wrote", async () => {
    const request = placed(batchRequest(), "single-n0-0");
    await writeOutputs(request, 0);
    await send(request);
    const end = await until(request, Phase.SUCCEEDED, Phase.FAILED);
    expect(end.outputs?.literals.o0).toEqual(integerLiteral(0));
    expect(end.event?.metadata?.externalResources).toMatchObject([{ phase: Phase.SUCCEEDED }]);
    expect(end.event?.logs.map(({ name }) => name)).toContain("AWS Batch #0-0 (SUCCEEDED)");
  });

  it("fails with the error that its program wrote", async () => {
    const request = placed(batchRequest(), "fails-n0-0");
    const document = create(ErrorDocumentSchema, { error: { code: "USER:ValueError", message: "bad value", origin: 1 } });
    await store.put(`${request.outputPrefix}/0/error.pb`, toBinary(ErrorDocumentSchema, document));
    await send(request);
    const { event } = await until(request, Phase.FAILED, Phase.SUCCEEDED);
    expect(event?.outputResult).toMatchObject({ case: "error", value: { code: "USER:ValueError", message: "bad value" } });
  });

  it("runs an array, with lists of outputs and a resource for each item", async () => {
    const request = placed(arrayRequest(3), "array-n0-0");
    await Promise.all([0, 1, 2].map((index) => writeOutputs(request, index)));
    await send(request);
    const end = await until(request, Phase.SUCCEEDED, Phase.FAILED);
    const list = end.outputs?.literals.o0?.value;
    expect(list?.case === "collection" && list.value.literals).toEqual([0, 1, 2].map((index) => integerLiteral(index)));
    expect(end.event?.metadata?.externalResources.map(({ index }) => index)).toEqual([0, 1, 2]);
  });

  it("ends the abort of a job", async () => {
    const request = placed(batchRequest(), "abort-n0-0");
    await send(request);
    await send({ ...request, abortReason: "enough" }, DesiredState.ABORT);
    // Jobs of moto end at once, so the end may come before or after the request to stop.
    const end = await until(request, Phase.ABORTED, Phase.FAILED);
    expect(eventsOf(request).at(-1)).toEqual(end);
  });

  it("continues after a restart without a second job", async () => {
    const request = placed(batchRequest(), "again-n0-0");
    await writeOutputs(request, 0);
    await send(request);
    await until(request, Phase.QUEUED);
    await running.stop();
    await serve();
    await send(request);
    const end = await until(request, Phase.SUCCEEDED, Phase.FAILED);
    const ids = new Set(
      eventsOf(request).flatMap(({ event }) => event?.metadata?.externalResources.map(({ externalId }) => externalId) ?? []),
    );
    expect(end.event?.phase).toBe(Phase.SUCCEEDED);
    expect(ids.size).toBe(1);
  });

  it("runs a query of Athena, with the address of its results", async () => {
    const request = placed(prestoRequest(), "query-n0-0");
    await send(request);
    const end = await until(request, Phase.SUCCEEDED, Phase.FAILED);
    const results = end.outputs?.literals.results?.value;
    expect(results).toMatchObject({
      value: { value: { case: "structuredDataset", value: { uri: expect.stringContaining(request.rawOutputPrefix) } } },
    });
  });
});

/** Creates the queue of the tasks, with the role and the machines that AWS demands. */
async function createQueue(endpoint: string): Promise<void> {
  const roleArn = await createRole(endpoint);
  const client = new BatchClient({ region: REGION, endpoint });
  const machines = new CreateComputeEnvironmentCommand({
    computeEnvironmentName: "machines",
    type: "UNMANAGED",
    state: "ENABLED",
    serviceRole: roleArn,
  });
  const { computeEnvironmentArn: computeEnvironment } = await client.send(machines);
  const queue = {
    jobQueueName: "queue-1",
    state: "ENABLED" as const,
    priority: 1,
    computeEnvironmentOrder: [{ order: 1, computeEnvironment }],
  };
  await client.send(new CreateJobQueueCommand(queue));
  client.destroy();
}

async function createRole(endpoint: string): Promise<string> {
  const response = await fetch(endpoint, {
    method: "POST",
    headers: {
      Authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${REGION}/iam/aws4_request, SignedHeaders=host, Signature=0`,
      "Content-Type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams({
      Action: "CreateRole",
      Version: "2010-05-08",
      RoleName: "batch",
      AssumeRolePolicyDocument: "{}",
    }).toString(),
  });
  const [, arn = ""] = /<Arn>([^<]+)<\/Arn>/.exec(await response.text()) ?? [];
  return arn;
}
