import { toBinary } from "@bufbuild/protobuf";
import { integerLiteral, literalMap } from "@flyte-ts/domain/literal";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type JobFault, MemoryStore, type PluginEnvironment, type SimulatedEnvironment } from "@flyte-ts/task-plugin/harness";
import { athenaOver, batchOver, bigQueryOver, hiveOver, trinoOver } from "./apis.fixture.js";
import { FakeAthena } from "./fake-athena.fixture.js";
import { FakeBatch } from "./fake-batch.fixture.js";
import { FakeBigQuery } from "./fake-bigquery.fixture.js";
import { FakeHive } from "./fake-hive.fixture.js";
import { FakeTrino } from "./fake-trino.fixture.js";
import { type Faults, lostConnection } from "./faults.fixture.js";
import { webApiProcess } from "./process.fixture.js";
import { batchContainer, batchRequest, bigQueryRequest, hiveRequest, prestoRequest, taskRequest } from "./tasks.fixture.js";

export function athenaWorld(): SimulatedEnvironment {
  const athena = new FakeAthena();
  const store = new MemoryStore();
  const api = athenaOver(athena, store);
  return withFaults(athena.faults, {
    plugin: (clock) => webApiProcess({ clock, taskTypes: ["presto"], api, store }),
    request: prestoRequest,
    invalidRequest: () => taskRequest({ type: "presto", custom: { statement: "SELECT 1" } }),
    complete: async (_, clock) => {
      athena.finish("SUCCEEDED");
      await clock.advance(30_000);
    },
    startCount: () => athena.queries.length,
    isRunning: () => athena.running > 0,
  });
}

export function batchWorld(): SimulatedEnvironment {
  const batch = new FakeBatch();
  const store = new MemoryStore();
  const outputs = toBinary(LiteralMapSchema, literalMap([["o0", integerLiteral(1)]]));
  return withFaults(batch.faults, {
    plugin: (clock) => webApiProcess({ clock, taskTypes: ["aws-batch"], api: batchOver(batch, store), store }),
    request: batchRequest,
    invalidRequest: () => taskRequest({ type: "aws-batch", target: batchContainer("") }),
    complete: async (request, clock) => {
      store.blobs.set(`${request.outputPrefix}/0/outputs.pb`, outputs);
      batch.finish("SUCCEEDED");
      await clock.advance(30_000);
    },
    startCount: () => batch.jobs.length,
    isRunning: () => batch.running > 0,
  });
}

export function bigQueryWorld(): SimulatedEnvironment {
  const bigQuery = new FakeBigQuery();
  const store = new MemoryStore();
  const api = bigQueryOver(bigQuery, store);
  return withFaults(bigQuery.faults, {
    plugin: (clock) => webApiProcess({ clock, taskTypes: ["bigquery_query_job_task"], api, store }),
    request: bigQueryRequest,
    invalidRequest: () => taskRequest({ type: "bigquery_query_job_task", custom: {} }),
    complete: async (_, clock) => {
      bigQuery.finish();
      await clock.advance(30_000);
    },
    startCount: () => bigQuery.starts,
    isRunning: () => bigQuery.running > 0,
  });
}

export function hiveWorld(): SimulatedEnvironment {
  const hive = new FakeHive();
  const store = new MemoryStore();
  const api = hiveOver(hive, store);
  return withFaults(hive.faults, {
    plugin: (clock) => webApiProcess({ clock, taskTypes: ["hive"], api, store }),
    request: () => hiveRequest(),
    invalidRequest: () => hiveRequest(""),
    complete: async (_, clock) => {
      hive.finish();
      await clock.advance(30_000);
    },
    startCount: () => hive.operations.length,
    isRunning: () => hive.running > 0,
  });
}

export function trinoWorld(): SimulatedEnvironment {
  const trino = new FakeTrino();
  const store = new MemoryStore();
  const api = trinoOver(trino, store);
  return withFaults(trino.faults, {
    plugin: (clock) => webApiProcess({ clock, taskTypes: ["presto"], api, store }),
    request: prestoRequest,
    invalidRequest: () => taskRequest({ type: "presto", custom: { schema: "db" } }),
    complete: async (_, clock) => {
      await clock.advance(5_000);
      trino.finish();
      await clock.advance(30_000);
    },
    startCount: () => trino.startsOf("SELECT 1"),
    isRunning: () => trino.running > 0,
  });
}

type Observable = PluginEnvironment & Pick<SimulatedEnvironment, "startCount" | "isRunning">;

/** Number of calls that fail while the API is unavailable. */
const OUTAGE_CALLS = 20;

/** Calls of every kind meet the faults: the stand-ins do not tell creations from readings. */
function withFaults(faults: Faults, world: Observable): SimulatedEnvironment {
  const error = lostConnection();
  const add = (kind: "lose" | "refuse", count: number) => faults.add(...Array.from({ length: count }, () => ({ kind, error })));
  const inject = (fault: JobFault) => {
    if (fault === "unavailable") add("refuse", OUTAGE_CALLS);
    else add(fault === "createRefused" ? "refuse" : "lose", 1);
  };
  return { ...world, inject, heal: () => faults.clear() };
}
