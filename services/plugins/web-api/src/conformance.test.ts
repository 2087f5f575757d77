import { toBinary } from "@bufbuild/protobuf";
import { integerLiteral, literalMap } from "@flyte-ts/domain/literal";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { pluginConformance, type PluginEnvironment } from "@flyte-ts/task-plugin/harness";
import { describe, expect, it } from "vitest";
import { athenaOver, batchOver, bigQueryOver, hiveOver, trinoOver } from "./stand-in/apis.fixture.js";
import { FakeAthena } from "./stand-in/fake-athena.fixture.js";
import { FakeBatch } from "./stand-in/fake-batch.fixture.js";
import { FakeBigQuery } from "./stand-in/fake-bigquery.fixture.js";
import { FakeHive } from "./stand-in/fake-hive.fixture.js";
import { FakeTrino } from "./stand-in/fake-trino.fixture.js";
import { MemoryStore } from "./stand-in/memory-store.fixture.js";
import { webApiProcess } from "./stand-in/process.fixture.js";
import { batchContainer, batchRequest, bigQueryRequest, hiveRequest, prestoRequest, taskRequest } from "./stand-in/tasks.fixture.js";

function athenaWorld(): PluginEnvironment {
  const athena = new FakeAthena();
  const api = athenaOver(athena, new MemoryStore());
  return {
    plugin: (clock) => webApiProcess({ clock, taskTypes: ["presto"], api }),
    request: prestoRequest,
    invalidRequest: () => taskRequest({ type: "presto", custom: { statement: "SELECT 1" } }),
    complete: async (_, clock) => {
      athena.finish("SUCCEEDED");
      await clock.advance(30_000);
    },
    startCount: () => athena.queries.length,
    isRunning: () => athena.running > 0,
  };
}

function batchWorld(): PluginEnvironment {
  const batch = new FakeBatch();
  const store = new MemoryStore();
  const outputs = toBinary(LiteralMapSchema, literalMap([["o0", integerLiteral(1)]]));
  return {
    plugin: (clock) => webApiProcess({ clock, taskTypes: ["aws-batch"], api: batchOver(batch, store) }),
    request: batchRequest,
    invalidRequest: () => taskRequest({ type: "aws-batch", target: batchContainer("") }),
    complete: async (request, clock) => {
      store.blobs.set(`${request.outputPrefix}/0/outputs.pb`, outputs);
      batch.finish("SUCCEEDED");
      await clock.advance(30_000);
    },
    startCount: () => batch.jobs.length,
    isRunning: () => batch.running > 0,
  };
}

function bigQueryWorld(): PluginEnvironment {
  const bigQuery = new FakeBigQuery();
  const api = bigQueryOver(bigQuery, new MemoryStore());
  return {
    plugin: (clock) => webApiProcess({ clock, taskTypes: ["bigquery_query_job_task"], api }),
    request: bigQueryRequest,
    invalidRequest: () => taskRequest({ type: "bigquery_query_job_task", custom: {} }),
    complete: async (_, clock) => {
      bigQuery.finish();
      await clock.advance(30_000);
    },
    startCount: () => bigQuery.starts,
    isRunning: () => bigQuery.running > 0,
  };
}

function hiveWorld(): PluginEnvironment {
  const hive = new FakeHive();
  const api = hiveOver(hive, new MemoryStore());
  return {
    plugin: (clock) => webApiProcess({ clock, taskTypes: ["hive"], api }),
    request: () => hiveRequest(),
    invalidRequest: () => hiveRequest(""),
    complete: async (_, clock) => {
      hive.finish();
      await clock.advance(30_000);
    },
    startCount: () => hive.operations.length,
    isRunning: () => hive.running > 0,
  };
}

function trinoWorld(): PluginEnvironment {
  const trino = new FakeTrino();
  const api = trinoOver(trino, new MemoryStore());
  return {
    plugin: (clock) => webApiProcess({ clock, taskTypes: ["presto"], api }),
    request: prestoRequest,
    invalidRequest: () => taskRequest({ type: "presto", custom: { schema: "db" } }),
    complete: async (_, clock) => {
      await clock.advance(5_000);
      trino.finish();
      await clock.advance(30_000);
    },
    startCount: () => trino.startsOf("SELECT 1"),
    isRunning: () => trino.running > 0,
  };
}

describe.each([
  ["Athena", athenaWorld],
  ["AWS Batch", batchWorld],
  ["BigQuery", bigQueryWorld],
  ["HiveServer2", hiveWorld],
  ["Trino", trinoWorld],
])("%s keeps the contract of plugins", (_, world) => {
  it.each(pluginConformance(world))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
