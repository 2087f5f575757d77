import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { integerLiteral, literalMap } from "@flyte-ts/domain/literal";
import { ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { SecurityContextSchema } from "@flyte-ts/idl/flyteidl/core/security_pb";
import { DesiredState, type TaskEvent } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { awsRefusal, type BatchProgram, BatchServer } from "../stand-in/server/batch-server.fixture.js";
import { ServiceProcess } from "../stand-in/server/service.fixture.js";
import { arrayRequest, batchRequest } from "../stand-in/tasks.fixture.js";

// The official SDK against a server that runs each container, over HTTP.
const ITEMS = 5_000;
let server: BatchServer;
let service: ServiceProcess;
/** Result of a container after it has written its outputs. */
let exitCode: (index: number, program: BatchProgram) => number | Promise<number>;

/** Writes outputs as flytekit's entry point does, at the index that the environment names. */
async function program(call: BatchProgram): Promise<number> {
  const { command, environment } = call;
  const index = Number(environment[environment.BATCH_JOB_ARRAY_INDEX_VAR_NAME ?? ""] ?? 0);
  const prefix = command.at(-1)?.replace(/\/0$/, "");
  const code = await exitCode(index, call);
  if (code !== 0) {
    const document = create(ErrorDocumentSchema, { error: { code: "USER:ValueError", message: `bad item ${index}`, origin: 1, kind: 1 } });
    await service.store.put(`${prefix}/${index}/error.pb`, toBinary(ErrorDocumentSchema, document));
  } else await service.store.put(`${prefix}/${index}/outputs.pb`, toBinary(LiteralMapSchema, literalMap([["o0", integerLiteral(index)]])));
  return code;
}

beforeEach(async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
  exitCode = () => 0;
  server = new BatchServer({ run: program });
  const endpoint = await server.start();
  service = await new ServiceProcess({ batch: { region: "us-east-1", endpoint, poll: { initialMs: 100, maxMs: 500 } } }).start();
});

afterEach(async () => {
  await service.stop();
  await server.stop();
  vi.unstubAllEnvs();
});

const errorOf = ({ event }: TaskEvent) => (event?.outputResult.case === "error" ? event.outputResult.value : undefined);

it("a job runs in the queue and with the role of its task, and its outputs at /0 become those of the attempt", async () => {
  const request = batchRequest();
  const roleArn = "arn:aws:iam::1:role/tasks";
  await service.send({ ...request, securityContext: create(SecurityContextSchema, { runAs: { iamRole: roleArn } }) });
  const end = await service.end();
  expect(end.outputs?.literals.o0).toEqual(integerLiteral(0));
  expect(service.store.blobs.has(`${request.outputPrefix}/outputs.pb`)).toBe(true);
  const [job] = server.jobs.values();
  expect(job?.input.jobQueue).toBe("queue-1");
  expect(server.definitions.get(job?.input.jobDefinition ?? "")?.containerProperties?.jobRoleArn).toBe(roleArn);
});

it(`an array of ${ITEMS} shows its children's states and ends with a list of their outputs`, async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  exitCode = async (index) => {
    if (index >= 1_000) await gate;
    return 0;
  };
  await service.send(arrayRequest(ITEMS));
  const middle = await vi.waitFor(
    () => {
      const last = service.lastEvent();
      expect(last?.event?.reason).toContain("1000 SUCCEEDED");
      return last;
    },
    { timeout: 100_000, interval: 100 },
  );
  expect(middle?.event?.reason).toBe("Items of the array: 1000 SUCCEEDED, 64 RUNNING, 3936 RUNNABLE");
  expect(middle?.event?.metadata?.externalResources).toHaveLength(500);
  release();
  const end = await service.end();
  expect(end.event?.phase).toBe(Phase.SUCCEEDED);
  const bytes = service.store.blobs.get(`${arrayRequest(ITEMS).outputPrefix}/outputs.pb`) ?? new Uint8Array();
  const list = fromBinary(LiteralMapSchema, bytes).literals.o0?.value;
  expect(list?.case === "collection" && list.value.literals).toEqual(Array.from({ length: ITEMS }, (_, index) => integerLiteral(index)));
  expect(end.event?.metadata?.externalResources.every(({ phase }) => phase === Phase.SUCCEEDED)).toBe(true);
  // Children that have ended are not described again.
  expect(server.calls.get("describejobs") ?? 0).toBeLessThan(500);
}, 120_000);

it("an array succeeds with enough items, and fails with the items' errors without", async () => {
  exitCode = (index) => (index % 10 === 0 ? 1 : 0);
  await service.send(arrayRequest(200, { minSuccessRatio: 0.9 }));
  expect((await service.end()).event?.phase).toBe(Phase.SUCCEEDED);
  service.bus.published.length = 0;
  await service.send({ ...arrayRequest(200, { minSuccessRatio: 0.95 }), generatedName: "second-n0-0", outputPrefix: "s3://bucket/second" });
  const error = errorOf(await service.end());
  expect(error?.code).toBe("USER:ValueError");
  expect(error?.message).toContain("180 SUCCEEDED");
  expect(error?.message).toContain("[0]: bad item 0\n[10]: bad item 10");
});

it(`the abort of an array of ${ITEMS} stops all of its children`, async () => {
  let stopped = 0;
  exitCode = (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => (stopped++, resolve(137)), { once: true }));
  await service.send(arrayRequest(ITEMS));
  await service.until(Phase.RUNNING);
  await service.send({ ...arrayRequest(ITEMS), abortReason: "enough" }, DesiredState.ABORT);
  expect((await service.end()).event?.phase).toBe(Phase.ABORTED);
  expect([server.open, stopped, [...server.jobs.values()][0]?.terminated]).toEqual([0, 64, "enough"]);
}, 120_000);

it.each([429, 500, 503])(
  "status %d is waited for with a reason, and one job is created",
  async (status) => {
    server.fault = (path, calls) => {
      const error = status === 429 ? "TooManyRequestsException" : "ServerException";
      return calls === 1 && ["submitjob", "describejobs"].includes(path) ? awsRefusal(status, error) : undefined;
    };
    await service.send(batchRequest());
    expect((await service.end()).event?.phase).toBe(Phase.SUCCEEDED);
    expect(server.jobs.size).toBe(1);
    expect(service.bus.events.map(({ event }) => event?.reason).join("\n")).toContain("cannot create the job, trying again");
  },
  120_000,
);

it("a lost answer of SubmitJob creates no second job", async () => {
  server.fault = (path, calls) => (path === "submitjob" && calls === 1 ? "lost" : undefined);
  await service.send(batchRequest());
  expect((await service.end()).event?.phase).toBe(Phase.SUCCEEDED);
  expect([server.jobs.size, server.calls.get("submitjob")]).toEqual([1, 1]);
}, 60_000);
