import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { afterEach, describe, expect, it } from "vitest";
import { hiveOver } from "../stand-in/apis.fixture.js";
import { FakeHive } from "../stand-in/fake-hive.fixture.js";
import { lostConnection } from "../stand-in/faults.fixture.js";
import { MemoryStore } from "@flyte-ts/task-plugin/harness";
import { Stage } from "../stand-in/stage.fixture.js";
import { hiveRequest } from "../stand-in/tasks.fixture.js";

let stage: Stage;
let hive: FakeHive;
let store: MemoryStore;
const start = async (settings = {}) => {
  hive = new FakeHive();
  store = new MemoryStore();
  stage = await new Stage({ taskTypes: ["hive"], api: hiveOver(hive, store, settings), store }).start();
};
afterEach(() => stage.stop());
const script = hiveRequest("CREATE TEMPORARY TABLE t AS SELECT 1; INSERT INTO u SELECT * FROM t; DROP TABLE t", {}, {});
const refusedConnection = () =>
  Object.assign(new Error("fetch failed"), { cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) });

describe("a query", () => {
  it("runs in a session of its database, and its rows are Parquet at the raw output prefix", async () => {
    await start({ tagKey: "hive.query.tag", configuration: { "hive.execution.engine": "tez" } });
    const request = hiveRequest("SELECT * FROM t -- {{ .rawOutputDataPrefix }}");
    await stage.send(request);
    expect(hive.operations.map(({ statement }) => statement)).toEqual([
      "INSERT OVERWRITE DIRECTORY 's3a://bucket/data/ab/a1b2c3d4e5f6g7h8i9j0-n0-0' STORED AS PARQUET\n" +
        "SELECT * FROM t -- s3a://bucket/data/ab/a1b2c3d4e5f6g7h8i9j0-n0-0",
    ]);
    expect(Object.fromEntries([...hive.sessions.values()][0] ?? [])).toEqual({
      "use:database": "db",
      "set:hiveconf:hive.execution.engine": "tez",
      "set:hiveconf:hive.query.tag": "a1b2c3d4e5f6g7h8i9j0-n0-0",
      "set:hivevar:flyte_attempt": "a1b2c3d4e5f6g7h8i9j0-n0-0",
    });
    hive.finish();
    await stage.clock.advance(10_000);
    expect(stage.last(request)?.outputs?.literals.results?.value).toMatchObject({
      value: {
        value: {
          case: "structuredDataset",
          value: { uri: request.rawOutputPrefix, metadata: { structuredDatasetType: { format: "parquet" } } },
        },
      },
    });
  });

  it("shows the statement's handle as an external resource, as HiveServer2 logs it", async () => {
    await start();
    await stage.send(hiveRequest());
    await stage.clock.advance(2_000);
    expect(stage.state(hiveRequest())).toBe("RUNNING: Statement 1 of 1 is RUNNING");
    expect(stage.last(hiveRequest())?.event?.metadata?.externalResources).toMatchObject([
      { externalId: "20000000-0000-0000-0000-000000000000" },
    ]);
  });

  it("runs several statements one after the other in one session", async () => {
    await start();
    await stage.send(script);
    for (let step = 1; step <= 3; step++) {
      expect(hive.operations).toHaveLength(step);
      hive.finish();
      await stage.clock.advance(15_000);
    }
    expect(new Set(hive.operations.map(({ session }) => session)).size).toBe(1);
    expect(stage.state(script)).toBe("SUCCEEDED: ");
  });

  it("keeps its session until the end is recorded, and closes it then", async () => {
    await start();
    await stage.send(hiveRequest());
    hive.finish();
    await stage.clock.advance(10_000);
    expect(hive.sessions.size).toBe(1);
    await stage.finalize(hiveRequest());
    expect([hive.sessions.size, store.blobs.size]).toEqual([0, 0]);
  });

  it.each([
    ["42P01", "permanent USER HiveError42P01: no table"],
    ["22012", "permanent USER HiveError22012: no table"],
    ["08S01", "retryable USER HiveError08S01: no table"],
    ["53000", "retryable SYSTEM HiveError53000: no table"],
    ["", "retryable USER HiveError: no table"],
  ])("fails by its cause with SQLSTATE %j", async (sqlState, expected) => {
    await start();
    await stage.send(hiveRequest());
    hive.finish("ERROR", { sqlState, message: "no table\n\tat org.apache.hive.Driver.run(Driver.java:1)" });
    await stage.clock.advance(10_000);
    expect(stage.state(hiveRequest())).toBe(`FAILED: ${expected}\n`.trimEnd());
  });

  it.each([
    ["CANCELED", "retryable USER ABORTED: the statement was canceled in HiveServer2"],
    ["TIMEDOUT", "retryable USER TIMEDOUT: the statement exceeded HiveServer2's time limit of queries"],
  ] as const)("fails and may be retried when it is %s in HiveServer2", async (state, expected) => {
    await start();
    await stage.send(hiveRequest());
    hive.finish(state);
    await stage.clock.advance(10_000);
    expect(stage.state(hiveRequest())).toBe(`FAILED: ${expected}`);
  });

  it("fails for good when HiveServer2 refuses it, and waits while HiveServer2 is full", async () => {
    await start();
    hive.refusal = { sqlState: "", message: "The background threadpool cannot accept new task for execution, please retry the operation" };
    await stage.send(hiveRequest());
    expect(stage.state(hiveRequest())).toContain("QUEUED: cannot create the job, trying again: The background");
    hive.refusal = { sqlState: "42000", message: "line 1:7 bad" };
    await stage.clock.advance(60_000);
    expect(stage.state(hiveRequest())).toBe("FAILED: permanent USER HiveError42000: cannot create the job in hive: line 1:7 bad");
    await stage.finalize(hiveRequest());
    expect([hive.sessions.size, store.blobs.size]).toEqual([0, 0]);
  });

  it("closes its session when the end is recorded, also one that came before an abort", async () => {
    await start();
    await stage.send(hiveRequest());
    hive.finish();
    await stage.send(hiveRequest(), DesiredState.ABORT);
    await stage.clock.advance(10_000);
    expect(stage.state(hiveRequest())).toBe("SUCCEEDED: ");
    await stage.finalize(hiveRequest());
    expect([hive.sessions.size, store.blobs.size]).toEqual([0, 0]);
  });
});

describe("losing the answer", () => {
  it("starts the first statement again after it was stopped with its session", async () => {
    await start();
    hive.faults.add(answered(), { kind: "lose", error: lostConnection() });
    await stage.send(hiveRequest());
    expect(hive.running).toBe(1);
    await stage.clock.advance(60_000);
    expect(hive.operations.map(({ state }) => state)).toEqual(["CLOSED", "RUNNING"]);
  });

  it("fails the attempt as the system's error for a later statement, which is stopped", async () => {
    await start();
    await stage.send(script);
    hive.finish();
    hive.faults.add(answered(), { kind: "lose", error: lostConnection() });
    await stage.clock.advance(15_000);
    expect(stage.state(script)).toContain("FAILED: retryable SYSTEM HiveStatementLost: statement 2 was started");
    expect(hive.running).toBe(0);
  });

  it.each([["refused connection", refusedConnection()]])("is none after a %s: the later statement is started again", async (_, error) => {
    await start();
    await stage.send(script);
    hive.finish();
    hive.faults.add(answered(), { kind: "refuse", error });
    await stage.clock.advance(30_000);
    expect(hive.operations.map(({ state }) => state)).toEqual(["FINISHED", "RUNNING"]);
  });
});

describe("a restart", () => {
  it("continues with the recorded statement, also where the plugin state is older", async () => {
    await start();
    await stage.send(script);
    const early = stage.last(script)?.pluginState ?? new Uint8Array();
    hive.finish();
    await stage.clock.advance(15_000);
    expect(hive.operations).toHaveLength(2);
    await stage.restart();
    await stage.send({ ...script, pluginState: early });
    hive.finish();
    await stage.clock.advance(30_000);
    expect(hive.operations.map(({ statement }) => statement.split(" ")[0])).toEqual(["CREATE", "INSERT", "DROP"]);
  });

  it("between the start and its record stops the statement, and starts it again", async () => {
    await start();
    hive.faults.add(answered(), { kind: "lose", error: lostConnection() });
    await stage.send(hiveRequest());
    await stage.restart();
    await stage.send(hiveRequest());
    expect(hive.operations.map(({ state }) => state)).toEqual(["CLOSED", "RUNNING"]);
  });

  it("does not keep an abort from stopping a statement whose start has no record", async () => {
    await start();
    hive.faults.add(answered(), { kind: "lose", error: lostConnection() });
    await stage.send(hiveRequest());
    await stage.restart();
    await stage.send(hiveRequest(), DesiredState.ABORT);
    await stage.clock.advance(10_000);
    expect([hive.running, hive.sessions.size]).toEqual([0, 0]);
    expect(stage.state(hiveRequest())).toContain("ABORTED");
  });
});

it("an abort between two statements starts none", async () => {
  await start();
  await stage.send(script);
  hive.finish();
  await stage.send(script, DesiredState.ABORT);
  await stage.clock.advance(10_000);
  expect([hive.operations.length, hive.sessions.size]).toEqual([1, 0]);
  expect(stage.state(script)).toContain("ABORTED");
});

it("neither credentials nor other secrets are in plugin states and events", async () => {
  await start();
  await stage.send(hiveRequest());
  expect(hive.headers.get("authorization")).toBe(`Basic ${Buffer.from("flyte:anonymous").toString("base64")}`);
  const published = stage.bus.published.map(({ data }) => Buffer.from(data).toString("latin1")).join("");
  expect(published).not.toContain("anonymous");
});

/** A fault of no call: the next one is answered. */
function answered() {
  return { kind: "none" as const };
}
