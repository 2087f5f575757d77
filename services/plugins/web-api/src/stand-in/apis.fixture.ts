import { AthenaApi } from "../athena/athena-api.js";
import { BatchApi } from "../batch/batch-api.js";
import { BatchCalls } from "../batch/batch-calls.js";
import { BigQueryApi } from "../bigquery/bigquery-api.js";
import { batchSettings } from "../config/api-settings.js";
import type { Endpoint } from "../frame/call/endpoint.js";
import { HiveApi } from "../hive/hive-api.js";
import { HiveClient } from "../hive/hive-client.js";
import type { HiveQuerySettings } from "../hive/hive-query.js";
import { TrinoApi } from "../trino/trino-api.js";
import { TrinoClient } from "../trino/trino-client.js";
import type { FakeAthena } from "./fake-athena.fixture.js";
import type { FakeBatch } from "./fake-batch.fixture.js";
import type { FakeBigQuery } from "./fake-bigquery.fixture.js";
import type { FakeHive } from "./fake-hive.fixture.js";
import type { FakeTrino } from "./fake-trino.fixture.js";
import type { MemoryStore } from "@flyte-ts/task-plugin/harness";

// The APIs of a process, each over its stand-in.

export const athenaOver = (athena: FakeAthena, store: MemoryStore) => (endpoint: Endpoint) =>
  new AthenaApi({
    client: athena,
    endpoint,
    blobs: { get: store.get },
    region: "eu-west-1",
    defaults: { defaultWorkGroup: "primary", defaultCatalog: "AwsDataCatalog" },
  });

export const batchOver = (batch: FakeBatch, store: MemoryStore) => (endpoint: Endpoint) =>
  new BatchApi({
    calls: new BatchCalls(batch, endpoint),
    store,
    place: { region: "eu-west-1" },
    settings: batchSettings.parse({}),
  });

export const bigQueryOver = (bigQuery: FakeBigQuery, store: MemoryStore) => (endpoint: Endpoint) =>
  new BigQueryApi({ calls: bigQuery.calls(endpoint), blobs: { get: store.get } });

export const trinoOver = (trino: FakeTrino, store: MemoryStore) => (endpoint: Endpoint) =>
  new TrinoApi({
    client: new TrinoClient({ endpoint: "http://trino.example.com", user: "flyte" }, endpoint, trino.fetch),
    blobs: { get: store.get },
    settings: { defaultCatalog: "hive", resultCatalog: "hive", resultSchema: "flyte_temporary_tables" },
  });

export const hiveOver =
  (hive: FakeHive, store: MemoryStore, settings: Partial<HiveQuerySettings> = {}) =>
  (endpoint: Endpoint) =>
    new HiveApi({
      client: new HiveClient({ endpoint: "http://hive.example.com/cliservice", user: "flyte" }, endpoint, hive.fetch),
      store,
      settings: { s3Scheme: "s3a", configuration: {}, tagKey: "", ...settings },
    });
