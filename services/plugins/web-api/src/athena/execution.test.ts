import { integerLiteral, literalMap } from "@flyte-ts/domain/literal";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskEvent, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AthenaServer, athenaRefusal } from "../stand-in/server/athena-server.fixture.js";
import { fastTime } from "../stand-in/server/fast-time.fixture.js";
import type { Fault } from "../stand-in/server/http-stand-in.fixture.js";
import { outcome, ServiceProcess } from "../stand-in/server/service.fixture.js";
import { hiveRequest, prestoRequest } from "../stand-in/tasks.fixture.js";

// The service and the official SDK against a server that executes queries, over HTTP.
let server: AthenaServer;
let service: ServiceProcess;
let write: (uri: string, bytes: Uint8Array) => Promise<unknown>;

beforeEach(async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
  server = new AthenaServer({ write: (uri, bytes) => write(uri, bytes), slots: 5 });
  const endpoint = await server.start();
  service = await new ServiceProcess({ athena: { region: "us-east-1", endpoint }, outageMs: 86_400_000 }, fastTime(20)).start();
  write = (uri, bytes) => service.store.put(uri, bytes);
});

afterEach(async () => {
  await service.stop();
  await server.stop();
  vi.unstubAllEnvs();
});

const WAIT = { timeout: 60_000, interval: 20 };

const query = (statement: string, over: Partial<TaskRequest> = {}): TaskRequest => {
  const request = prestoRequest(over);
  if (request.template?.custom !== undefined) request.template.custom.statement = statement;
  return request;
};
const resultUri = ({ outputs }: TaskEvent): string => {
  const { value } = outputs?.literals.results?.value ?? {};
  return value !== undefined && "value" in value && value.value.case === "structuredDataset" ? value.value.value.uri : "";
};
const resultText = (end: TaskEvent) => Buffer.from(service.store.blobs.get(resultUri(end)) ?? []).toString();
/** Fails the first call of an operation. */
const failFirst = (operation: string, fault: Fault) => {
  server.fault = (called, calls) => (called === operation && calls === 1 ? fault : undefined);
};
const hold = (): (() => void) => {
  let release = () => {};
  server.gate = new Promise<void>((resolve) => (release = resolve));
  return release;
};
const runs = () => vi.waitFor(() => expect(server.running).toBe(1), WAIT);

it("a query of presto runs with its inputs, and its output names the file of its rows", async () => {
  server.database.exec("CREATE TABLE db.letters (letter TEXT, count INTEGER); INSERT INTO db.letters VALUES ('a', 3), ('b', 5)");
  const request = query("SELECT letter, count FROM letters WHERE count >= {{ .inputs.least }}", {
    inputs: literalMap([["least", integerLiteral(4)]]),
  });
  await service.send(request);
  const end = await service.end();
  expect(outcome(end)).toBe("SUCCEEDED");
  expect(resultUri(end)).toMatch(new RegExp(`^${request.rawOutputPrefix}/[-0-9a-f]{36}\\.csv$`));
  expect(resultText(end)).toBe('"letter","count"\n"b","5"\n');
  expect(end.event?.metadata?.externalResources).toMatchObject([{ externalId: server.queries[0]?.id, phase: Phase.SUCCEEDED }]);
});

it("a query of hive runs in the database of its cluster label", async () => {
  await service.send(hiveRequest("SELECT 'x' AS one, NULL AS none"));
  expect(resultText(await service.end())).toBe('"one","none"\n"x",\n');
});

it.each([
  ["a failing statement", query("SELECT missing"), /^FAILED: retryable USER FAILED: SYNTAX_ERROR: .*no such column: missing/],
  [
    "a workgroup that does not exist",
    prestoOf({ routingGroup: "none" }),
    /^FAILED: permanent USER InvalidRequestException: .*WorkGroup none/,
  ],
  ["a database that does not exist", prestoOf({ schema: "none" }), /^FAILED: retryable USER FAILED: SCHEMA_NOT_FOUND: /],
])("%s is an error of the user", async (_, request, expected) => {
  await service.send(request);
  expect(outcome(await service.end())).toMatch(expected);
});

it("queries beyond Athena's own limit are queued there, and all of them end", async () => {
  const release = hold();
  const requests = Array.from({ length: 20 }, (_, index) => query(`SELECT ${index} AS value`, { generatedName: `a-n${index}-0` }));
  await Promise.all(requests.map((request) => service.send(request)));
  await vi.waitFor(() => expect(service.bus.events.map(({ event }) => event?.reason)).toContain("Query is QUEUED"), WAIT);
  expect(server.queries.filter(({ state }) => state === "RUNNING")).toHaveLength(5);
  release();
  const ends = await service.endsOf(requests);
  expect(new Set(ends.map(outcome))).toEqual(new Set(["SUCCEEDED"]));
  expect(ends.map(resultText)).toEqual(requests.map((_, index) => `"value"\n"${index}"\n`));
  expect(server.queries).toHaveLength(20);
}, 60_000);

describe("a temporary fault is waited for with a reason, and one query is started", () => {
  const faults: readonly (readonly [string, Fault])[] = [
    ["TooManyRequestsException", athenaRefusal("TooManyRequestsException")],
    ["ThrottlingException", athenaRefusal("ThrottlingException")],
    ["429", athenaRefusal("SomeException", 429)],
    ["500", athenaRefusal("InternalServerException", 500)],
    ["503", athenaRefusal("ServiceUnavailableException", 503)],
    ["a lost answer", "lost"],
  ];

  it.each(faults)("StartQueryExecution: %s", async (_, fault) => {
    failFirst("StartQueryExecution", fault);
    await service.send(query("SELECT 1 AS one"));
    expect(outcome(await service.end())).toBe("SUCCEEDED");
    expect(service.reasonsOf(query(""))).toContain("cannot create the job, trying again: ");
    expect([server.queries.length, server.calls.get("StartQueryExecution")]).toEqual([1, 2]);
  });

  it.each(faults)("GetQueryExecution: %s", async (_, fault) => {
    const release = hold();
    failFirst("GetQueryExecution", fault);
    await service.send(query("SELECT 1 AS one"));
    await vi.waitFor(() => expect(service.reasonsOf(query(""))).toContain("cannot read the state of the job, trying again: "), WAIT);
    release();
    expect(outcome(await service.end())).toBe("SUCCEEDED");
    expect([server.queries.length, server.calls.get("StartQueryExecution")]).toEqual([1, 1]);
  });
});

describe("an abort", () => {
  it.each<readonly [string, Fault]>([
    ["stops the query", undefined],
    ["whose answer is lost stops the query", "lost"],
    ["that is throttled is repeated", athenaRefusal("ThrottlingException")],
    ["that meets 503 is repeated", athenaRefusal("ServiceUnavailableException", 503)],
  ])("%s", async (_, fault) => {
    hold();
    failFirst("StopQueryExecution", fault);
    await service.send(query("SELECT 1"));
    await runs();
    await service.send({ ...query("SELECT 1"), abortReason: "enough" }, DesiredState.ABORT);
    expect([(await service.end()).event?.phase, server.running]).toEqual([Phase.ABORTED, 0]);
  });

  it("from outside is a failure for which a retry helps", async () => {
    hold();
    await service.send(query("SELECT 1"));
    await runs();
    Object.assign(server.queries[0] ?? {}, { state: "CANCELLED", reason: "Query was cancelled by user" });
    expect(outcome(await service.end())).toBe("FAILED: retryable USER ABORTED: Query was cancelled by user");
  });
});

describe("after a restart", () => {
  it("a query is followed to its end, with the plugin state or without", async () => {
    const release = hold();
    const requests = ["a-n0-0", "a-n1-0"].map((generatedName) => query("SELECT 1 AS one", { generatedName }));
    for (const request of requests) await service.send(request);
    await vi.waitFor(() => expect(server.running).toBe(2), WAIT);
    await service.restart();
    const [recorded, unrecorded] = requests as [TaskRequest, TaskRequest];
    const pluginState = service.eventsOf(recorded).at(-1)?.pluginState ?? new Uint8Array();
    await service.send({ ...recorded, pluginState });
    await service.send(unrecorded);
    release();
    expect((await service.endsOf(requests)).map(outcome)).toEqual(["SUCCEEDED", "SUCCEEDED"]);
    expect(server.queries).toHaveLength(2);
  });

  it("an abort stops a query whose start had no answer", async () => {
    hold();
    server.fault = (operation) => (operation === "StartQueryExecution" ? "lost" : undefined);
    await service.send(query("SELECT 1"));
    await runs();
    await service.restart();
    await service.send(query("SELECT 1"), DesiredState.ABORT);
    expect([(await service.end()).event?.phase, server.running]).toEqual([Phase.ABORTED, 0]);
  });
});

function prestoOf(custom: Readonly<Record<string, string>>): TaskRequest {
  const request = prestoRequest();
  Object.assign(request.template?.custom ?? {}, custom);
  return request;
}
