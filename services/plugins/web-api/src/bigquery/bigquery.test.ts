import { create } from "@bufbuild/protobuf";
import {
  booleanLiteral,
  collectionLiteral,
  datetimeLiteral,
  floatLiteral,
  integerLiteral,
  literalMap,
  mapLiteral,
  stringLiteral,
} from "@flyte-ts/domain/literal";
import { type Literal, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { SqlSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bigQueryOver } from "../stand-in/apis.fixture.js";
import { FakeBigQuery } from "../stand-in/fake-bigquery.fixture.js";
import { MemoryStore } from "@flyte-ts/task-plugin/harness";
import { Stage } from "../stand-in/stage.fixture.js";
import { bigQueryRequest, sql, taskRequest } from "../stand-in/tasks.fixture.js";
import { bigQueryFailure } from "./bigquery-failure.js";
import { googleError } from "./google-errors.js";
import { jobLabels } from "./labels.js";
import { queryConfiguration, targetOf } from "./query-configuration.js";
import { queryParameters } from "./query-parameters.js";

describe("the query configuration", () => {
  const requestOf = (custom: object, statement = "SELECT @a, '{{ .inputs.a }}'") =>
    taskRequest({ type: "bigquery_query_job_task", custom: custom as never, target: sql(statement) });

  it("is the task's custom, in any case, with the statement unchanged and standard SQL", () => {
    const destinationTable = { projectId: "p", datasetId: "d", tableId: "t" };
    const custom = {
      ProjectID: "p1",
      location: "EU",
      Domain: "x",
      destinationtable: destinationTable,
      priority: "BATCH",
      useLegacySql: true,
      unknown: 1,
      clustering: null,
    };
    expect(queryConfiguration(requestOf(custom), [])).toEqual({
      destinationTable,
      priority: "BATCH",
      query: "SELECT @a, '{{ .inputs.a }}'",
      useLegacySql: false,
    });
    expect(targetOf(requestOf(custom))).toEqual({ project: "p1", location: "EU" });
  });

  it("has named parameters of the inputs", () => {
    const inputs = literalMap([
      ["i", integerLiteral(3)],
      ["f", floatLiteral(1.5)],
      ["s", stringLiteral("x")],
      ["b", booleanLiteral(true)],
      ["t", datetimeLiteral(new Date("2026-01-02T03:04:05Z"))],
      ["l", collectionLiteral([integerLiteral(1), integerLiteral(2)])],
    ]);
    expect(queryConfiguration(requestOf({ ProjectID: "p1" }), queryParameters(inputs))).toMatchObject({
      parameterMode: "NAMED",
      queryParameters: [
        { name: "i", parameterType: { type: "INT64" }, parameterValue: { value: "3" } },
        { name: "f", parameterType: { type: "FLOAT64" }, parameterValue: { value: "1.5" } },
        { name: "s", parameterType: { type: "STRING" }, parameterValue: { value: "x" } },
        { name: "b", parameterType: { type: "BOOL" }, parameterValue: { value: "true" } },
        { name: "t", parameterType: { type: "TIMESTAMP" }, parameterValue: { value: "2026-01-02T03:04:05.000000Z" } },
        {
          name: "l",
          parameterType: { type: "ARRAY", arrayType: { type: "INT64" } },
          parameterValue: { arrayValues: [{ value: "1" }, { value: "2" }] },
        },
      ],
    });
  });

  it.each([
    ["a map", mapLiteral([["k", integerLiteral(1)]])],
    ["a list of several types", collectionLiteral([integerLiteral(1), stringLiteral("x")])],
    ["a list of lists", collectionLiteral([collectionLiteral([integerLiteral(1)])])],
  ])("refuses %s for good", (_, literal) => {
    expect(() => queryParameters(literalMap([["x", literal]]))).toThrow(expect.objectContaining({ name: "PermanentFailure" }));
  });

  it("keeps the microseconds of a time", () => {
    const time = timeLiteral(1_767_323_045n, 123_456_789);
    expect(queryParameters(literalMap([["t", time]]))[0]?.parameterValue).toEqual({ value: "2026-01-02T03:04:05.123456Z" });
  });

  it.each([253_402_300_800n, -62_135_596_801n, 9_000_000_000_000_000n])(
    "refuses a time that BigQuery cannot represent: %s s",
    (seconds) => {
      expect(() => queryParameters(literalMap([["t", timeLiteral(seconds)]]))).toThrow(
        expect.objectContaining({ name: "PermanentFailure" }),
      );
    },
  );

  it("needs a project and a statement", () => {
    expect(() => targetOf(requestOf({}))).toThrow("ProjectID");
    expect(() => queryConfiguration(requestOf({ ProjectID: "p" }, create(SqlSchema).statement), [])).toThrow("no SQL statement");
  });
});

/** A datetime literal, also of times that JavaScript's dates cannot express. */
function timeLiteral(seconds: bigint, nanos = 0): Literal {
  const primitive = { value: { case: "datetime" as const, value: { seconds, nanos } } };
  return create(LiteralSchema, { value: { case: "scalar", value: { value: { case: "primitive", value: primitive } } } });
}

it("labels are those of the execution in allowed characters, and the attempt's", () => {
  const labels = jobLabels(bigQueryRequest({ labels: { "execution-id": "A.b", "9x": "y", "flyte.org/X": "v" } }));
  expect(labels).toEqual({ "execution-id": "a_b", flyte_org_x: "v", "flyte-attempt": expect.stringMatching(/^[0-9a-f]{16}$/) });
});

it.each([
  ["accessDenied", "permanent USER"],
  ["billingNotEnabled", "permanent USER"],
  ["blocked", "permanent USER"],
  ["duplicate", "permanent USER"],
  ["invalid", "permanent USER"],
  ["invalidQuery", "permanent USER"],
  ["notFound", "permanent USER"],
  ["notImplemented", "permanent USER"],
  ["resourcesExceeded", "permanent USER"],
  ["responseTooLarge", "permanent USER"],
  ["stopped", "permanent USER"],
  ["timeout", "permanent USER"],
  ["quotaExceeded", "retryable USER"],
  ["rateLimitExceeded", "retryable USER"],
  ["backendError", "retryable SYSTEM"],
  ["internalError", "retryable SYSTEM"],
  ["invalidUser", "retryable SYSTEM"],
  ["resourceInUse", "retryable SYSTEM"],
  ["tableUnavailable", "retryable SYSTEM"],
  ["somethingNew", "permanent SYSTEM"],
])("a job that ends with %s fails: %s", (reason, expected) => {
  const { recoverable, details } = bigQueryFailure({ reason, message: "m" });
  expect(`${recoverable ? "retryable" : "permanent"} ${details.kind}`).toBe(expected);
  expect(details).toMatchObject({ code: reason, message: "m" });
});

it.each([
  [{ code: 400 }, "invalid", "http400"],
  [{ code: 403 }, "denied", "http403"],
  [{ code: 403, errors: [{ reason: "rateLimitExceeded" }] }, "throttled", "http403"],
  [{ code: 404 }, "missing", "http404"],
  [{ code: 503 }, "unavailable", "http503"],
  [{ code: "ECONNREFUSED" }, "unavailable", "ConnectionFailed"],
])("the error %j of the client is %s", (error, kind, code) => {
  expect(googleError(Object.assign(new Error("x"), error))).toMatchObject({ kind, code });
});

describe("a query", () => {
  let stage: Stage;
  let bigQuery: FakeBigQuery;
  beforeEach(async () => {
    bigQuery = new FakeBigQuery();
    const store = new MemoryStore();
    stage = await new Stage({ taskTypes: ["bigquery_query_job_task"], api: bigQueryOver(bigQuery, store), store }).start();
  });
  afterEach(() => stage.stop());

  it("has the generated name as its id, and its table as the output", async () => {
    await stage.send(bigQueryRequest());
    expect([...bigQuery.jobs.keys()]).toEqual(["p1/a1b2c3d4e5f6g7h8i9j0-n0-0"]);
    await stage.clock.advance(1_000);
    expect(stage.state(bigQueryRequest())).toBe("QUEUED: Query is PENDING");
    bigQuery.finish();
    await stage.clock.advance(10_000);
    const end = stage.last(bigQueryRequest());
    expect(end?.outputs?.literals.results?.value.value).toMatchObject({
      value: { case: "structuredDataset", value: { uri: "bq://p1:_anonymous.anon1" } },
    });
    expect(end?.event?.logs).toMatchObject([
      {
        name: "BigQuery Console",
        uri: "https://console.cloud.google.com/bigquery?project=p1&j=bq:EU:a1b2c3d4e5f6g7h8i9j0-n0-0&page=queryresults",
      },
    ]);
    expect(end?.event?.metadata?.pluginIdentifier).toBe("bigquery");
  });

  it("does not take the job of a deleted execution of the same name", async () => {
    const older = bigQueryRequest({ owner: { ...bigQueryRequest().owner, uid: "deleted" } as never });
    await stage.send(older);
    await stage.restart();
    await stage.send(bigQueryRequest());
    expect([...bigQuery.jobs.keys()]).toEqual([
      "p1/a1b2c3d4e5f6g7h8i9j0-n0-0",
      expect.stringMatching(/^p1\/a1b2c3d4e5f6g7h8i9j0-n0-0-[0-9a-f]{16}$/),
    ]);
  });

  it("fails with the reason of BigQuery", async () => {
    await stage.send(bigQueryRequest());
    bigQuery.finish({ reason: "invalidQuery", message: "Syntax error" });
    await stage.clock.advance(10_000);
    expect(stage.state(bigQueryRequest())).toBe("FAILED: permanent USER invalidQuery: Syntax error");
  });
});
