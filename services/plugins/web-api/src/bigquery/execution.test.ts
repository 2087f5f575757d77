import { BigQuery } from "@google-cloud/bigquery";
import { PassThroughClient } from "google-auth-library";
import { integerLiteral, literalMap, stringLiteral } from "@flyte-ts/domain/literal";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskEvent, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BigQueryServer, googleRefusal } from "../stand-in/server/bigquery-server.fixture.js";
import { fastTime } from "../stand-in/server/fast-time.fixture.js";
import type { Fault } from "../stand-in/server/http-stand-in.fixture.js";
import { outcome, ServiceProcess } from "../stand-in/server/service.fixture.js";
import { bigQueryRequest, sql } from "../stand-in/tasks.fixture.js";

// The service and the official client against a server that executes queries, over HTTP.
let server: BigQueryServer;
let service: ServiceProcess;
let endpoint: string;

beforeEach(async () => {
  server = new BigQueryServer();
  endpoint = await server.start();
  service = await new ServiceProcess({ bigquery: { endpoint, anonymous: true }, outageMs: 86_400_000 }, fastTime(20)).start();
});

afterEach(async () => {
  await service.stop();
  await server.stop();
});

const WAIT = { timeout: 60_000, interval: 20 };

const query = (statement: string, over: Partial<TaskRequest> = {}): TaskRequest => {
  const request = bigQueryRequest(over);
  if (request.template !== undefined) request.template.target = sql(statement);
  return request;
};
const resultUri = ({ outputs }: TaskEvent): string => {
  const { value } = outputs?.literals.results?.value ?? {};
  return value !== undefined && "value" in value && value.value.case === "structuredDataset" ? value.value.value.uri : "";
};
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

it("a query runs with its parameters, and its output names the table that has its rows", async () => {
  server.database.exec("CREATE TABLE letters (letter TEXT, count INTEGER); INSERT INTO letters VALUES ('a', 3), ('b', 5)");
  const inputs = literalMap([
    ["least", integerLiteral(4)],
    ["prefix", stringLiteral("it's ")],
  ]);
  const request = query("SELECT @prefix || letter AS letter, count FROM letters WHERE count >= @least", { inputs });
  await service.send(request);
  const end = await service.end();
  expect(outcome(end)).toBe("SUCCEEDED");
  const [, projectId = "", datasetId = "", tableId = ""] = /^bq:\/\/([^:]+):([^.]+)\.(.+)$/.exec(resultUri(end)) ?? [];
  const reader = new BigQuery({ projectId, apiEndpoint: endpoint, authClient: new PassThroughClient() as never });
  const [{ numRows }] = await reader.dataset(datasetId).table(tableId).getMetadata();
  const [rows] = await reader.job(request.generatedName, { location: "EU" }).getQueryResults();
  expect([numRows, rows]).toEqual(["1", [{ letter: "it's b", count: 5 }]]);
});

it("the output is the table that the task names", async () => {
  const request = query("SELECT 1 AS one");
  const custom = { ProjectID: "p1", Location: "EU", destinationTable: { projectId: "p1", datasetId: "d", tableId: "t" } };
  if (request.template !== undefined) request.template.custom = custom;
  await service.send(request);
  expect(resultUri(await service.end())).toBe("bq://p1:d.t");
});

describe("errors of the user are permanent", () => {
  it.each([
    ["a statement with a syntax error, which is refused at once", "SELEC 1", /invalidQuery: Syntax error: near "SELEC"/],
    ["a statement that fails while it runs", "SELECT json('{')", /invalidQuery: malformed JSON/],
  ])("%s", async (_, statement, text) => {
    await service.send(query(statement));
    const end = outcome(await service.end());
    expect(end).toMatch(/^FAILED: permanent USER /);
    expect(end).toMatch(text);
    expect(server.inserted).toBe(1);
  });

  it("a refused request", async () => {
    const request = query("SELECT 1");
    if (request.template !== undefined) request.template.custom = { ProjectID: "p1", Location: "somewhere-else" };
    await service.send(request);
    expect(outcome(await service.end())).toMatch(/^FAILED: permanent USER http400: .*Invalid location/);
  });

  it("missing rights, unlike a rate that is exceeded", async () => {
    failFirst("jobs.insert", googleRefusal(403, "accessDenied", "Access Denied: Project p1"));
    await service.send(query("SELECT 1"));
    expect(outcome(await service.end())).toMatch(/^FAILED: permanent USER http403: .*Access Denied/);
    expect(server.inserted).toBe(0);
  });
});

describe("a temporary fault is waited for with a reason, and one job is created", () => {
  const faults: readonly (readonly [string, Fault])[] = [
    ["403 rateLimitExceeded", googleRefusal(403, "rateLimitExceeded")],
    ["403 quotaExceeded", googleRefusal(403, "quotaExceeded")],
    ["429", googleRefusal(429, "tooManyRequests")],
    ["500", googleRefusal(500, "internalError")],
    ["503", googleRefusal(503, "backendError")],
    ["a lost answer", "lost"],
  ];

  it.each(faults)("jobs.insert: %s", async (_, fault) => {
    failFirst("jobs.insert", fault);
    await service.send(query("SELECT 1"));
    expect(outcome(await service.end())).toBe("SUCCEEDED");
    expect(service.reasonsOf(query(""))).toContain("cannot create the job, trying again: ");
    expect([server.inserted, server.calls.get("jobs.insert")]).toEqual([1, 2]);
  });

  it.each(faults)("jobs.get: %s", async (_, fault) => {
    const release = hold();
    failFirst("jobs.get", fault);
    await service.send(query("SELECT 1"));
    await vi.waitFor(() => expect(service.reasonsOf(query(""))).toContain("cannot read the state of the job, trying again: "), WAIT);
    release();
    expect(outcome(await service.end())).toBe("SUCCEEDED");
    expect([server.inserted, server.calls.get("jobs.insert")]).toEqual([1, 1]);
  });
});

it("the quota of a job that ran is an error of the user for which a retry helps", async () => {
  hold();
  await service.send(query("SELECT 1"));
  await runs();
  const [job] = server.jobs.values();
  Object.assign(job ?? {}, { state: "DONE", errorResult: { reason: "quotaExceeded", message: "Quota exceeded: bytes scanned" } });
  expect(outcome(await service.end())).toBe("FAILED: retryable USER quotaExceeded: Quota exceeded: bytes scanned");
});

describe("an abort", () => {
  it.each<readonly [string, Fault]>([
    ["stops the query", undefined],
    ["whose answer is lost stops the query", "lost"],
    ["that meets 503 is repeated", googleRefusal(503, "backendError")],
  ])("%s", async (_, fault) => {
    hold();
    failFirst("jobs.cancel", fault);
    await service.send(query("SELECT 1"));
    await runs();
    await service.send({ ...query("SELECT 1"), abortReason: "enough" }, DesiredState.ABORT);
    expect([(await service.end()).event?.phase, server.running]).toEqual([Phase.ABORTED, 0]);
  });
});

describe("after a restart", () => {
  it("a query is followed to its end, with the plugin state or without", async () => {
    const release = hold();
    const [recorded, unrecorded] = [query("SELECT 1", { generatedName: "a-n0-0" }), query("SELECT 1", { generatedName: "a-n1-0" })];
    await service.send(recorded);
    await service.send(unrecorded);
    await vi.waitFor(() => expect(server.inserted).toBe(2), WAIT);
    await service.restart();
    const pluginState = service.eventsOf(recorded).at(-1)?.pluginState ?? new Uint8Array();
    await service.send({ ...recorded, pluginState });
    await service.send(unrecorded);
    release();
    expect((await service.endsOf([recorded, unrecorded])).map(outcome)).toEqual(["SUCCEEDED", "SUCCEEDED"]);
    expect(server.inserted).toBe(2);
  });

  it("an abort stops a query whose creation had no answer", async () => {
    hold();
    server.fault = (operation) => (operation === "jobs.insert" ? "lost" : undefined);
    await service.send(query("SELECT 1"));
    await runs();
    await service.restart();
    await service.send(query("SELECT 1"), DesiredState.ABORT);
    expect([(await service.end()).event?.phase, server.running]).toEqual([Phase.ABORTED, 0]);
  });
});

describe("a query without a location, whose datasets are outside of the US and EU,", () => {
  const unplaced = () => {
    const request = query("SELECT 1");
    if (request.template !== undefined) request.template.custom = { ProjectID: "p1", Location: null };
    return request;
  };
  beforeEach(() => {
    server.home = "europe-west3";
  });

  it.each<readonly [string, Fault]>([
    ["is created once and followed", undefined],
    ["is created once when the answer is lost", "lost"],
  ])("%s", async (_, fault) => {
    failFirst("jobs.insert", fault);
    await service.send(unplaced());
    expect(outcome(await service.end())).toBe("SUCCEEDED");
    expect([server.inserted, (await service.end()).event?.logs[0]?.uri]).toEqual([1, expect.stringContaining("bq:europe-west3:")]);
  });

  it.each([true, false])("is stopped by an abort after a restart (its creation had an answer: %s)", async (answered) => {
    hold();
    if (!answered) server.fault = (operation) => (operation === "jobs.insert" ? "lost" : undefined);
    await service.send(unplaced());
    await runs();
    await service.restart();
    await service.send(unplaced(), DesiredState.ABORT);
    expect([(await service.end()).event?.phase, server.running]).toEqual([Phase.ABORTED, 0]);
  });

  it("is followed when an earlier version recorded it without its location", async () => {
    const release = hold();
    await service.send(unplaced());
    await runs();
    await service.restart();
    const job = { project: "p1", location: "", jobId: unplaced().generatedName };
    await service.send({ ...unplaced(), pluginState: Buffer.from(JSON.stringify({ api: "bigquery", job })) });
    release();
    expect(outcome(await service.end())).toBe("SUCCEEDED");
    expect(server.inserted).toBe(1);
  });
});
