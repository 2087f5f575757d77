import { create } from "@bufbuild/protobuf";
import { literalMap, stringLiteral } from "@flyte-ts/domain/literal";
import { SchemaTypeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { describe, expect, it } from "vitest";
import { awsError } from "../aws/aws-errors.js";
import { awsSdkError } from "../stand-in/faults.fixture.js";
import { prestoRequest, taskRequest } from "../stand-in/tasks.fixture.js";
import { queryTask } from "../task/query-task.js";
import { templateRenderer } from "../task/render.js";
import { resultOutputs } from "../task/result-outputs.js";
import { observeQuery } from "./observe-query.js";
import { clientRequestToken, startQueryInput } from "./start-query.js";

const defaults = { defaultWorkGroup: "primary", defaultCatalog: "AwsDataCatalog" };
const inputOf = (request: TaskRequest) =>
  startQueryInput(request, queryTask(request.template, templateRenderer(request, request.inputs ?? literalMap([]))), defaults);

describe("StartQueryExecution", () => {
  it("has the fields of a presto task, with templates replaced", () => {
    const custom = {
      statement: "SELECT * FROM t WHERE ds = '{{ .Inputs.ds }}' -- {{ .rawOutputDataPrefix }} $(x)",
      schema: "db_{{ .inputs.ds }}",
      routingGroup: "group",
      catalog: "cat",
      unknown: 1,
    };
    const inputs = literalMap([["ds", stringLiteral("$(1)")]]);
    expect(inputOf(taskRequest({ type: "presto", custom }, { inputs }))).toEqual({
      ClientRequestToken: expect.stringMatching(/^a1b2c3d4e5f6g7h8i9j0-n0-0-[0-9a-f]{64}$/),
      QueryString: "SELECT * FROM t WHERE ds = '$(1)' -- s3://bucket/data/ab/a1b2c3d4e5f6g7h8i9j0-n0-0 $(x)",
      QueryExecutionContext: { Database: "db_$(1)", Catalog: "cat" },
      ResultConfiguration: { OutputLocation: "s3://bucket/data/ab/a1b2c3d4e5f6g7h8i9j0-n0-0" },
      WorkGroup: "group",
    });
  });

  it("has the query and the cluster label of a hive task, in field names too, and the defaults", () => {
    const custom = { cluster_label: "db", query: { query: "SELECT 1", timeout_sec: 0, retryCount: 2 } };
    expect(inputOf(taskRequest({ type: "hive", custom }))).toMatchObject({
      QueryString: "SELECT 1",
      QueryExecutionContext: { Database: "db", Catalog: "AwsDataCatalog" },
      WorkGroup: "primary",
    });
  });

  it("has a token of 32 to 128 characters that differs for another execution of the same name", () => {
    const request = prestoRequest();
    const other = prestoRequest({ owner: { ...request.owner, uid: "another" } as never });
    expect(clientRequestToken(request)).toBe(clientRequestToken(prestoRequest()));
    expect(clientRequestToken(other)).not.toBe(clientRequestToken(request));
    expect(clientRequestToken(prestoRequest({ generatedName: "n".repeat(200) }))).toHaveLength(128);
  });

  it.each([
    [{ type: "presto", custom: { schema: "db" } }, "no query"],
    [{ type: "presto", custom: { statement: "SELECT 1" } }, "names no database"],
    [{ type: "hive", custom: { query: { query: "SELECT 1" } } }, "names no database"],
    [{ type: "presto", custom: { statement: 3 } }, "custom is not a flyteidl.plugins.PrestoQuery"],
    [{ type: "presto", custom: { statement: "{{ .inputs.absent }}", schema: "db" } }, 'no input "absent"'],
  ])("refuses %j for good", (task, message) => {
    const inputs = literalMap([["x", stringLiteral("y")]]);
    expect(() => inputOf(taskRequest(task, { inputs }))).toThrow(
      expect.objectContaining({ name: "PermanentFailure", message: expect.stringContaining(message) }),
    );
  });
});

describe("a query that is", () => {
  const observe = (State: string, status: object = {}, region = "eu-west-1") =>
    observeQuery({ QueryExecutionId: "id", Status: { State: State as never, ...status } }, region);

  it.each(["QUEUED", "RUNNING"])("%s is RUNNING, with a link and an external resource", (state) => {
    const observation = observe(state);
    expect(observation).toMatchObject({ state: "RUNNING", reason: `Query is ${state}` });
    expect(observation.details.externalResources).toMatchObject([{ externalId: "id" }]);
    expect(observation.details.logs).toMatchObject([
      {
        name: "Athena Query Console",
        uri: "https://eu-west-1.console.aws.amazon.com/athena/home?force&region=eu-west-1#query/history/id",
        ShowWhilePending: true,
      },
    ]);
    expect(observe(state, {}, "us-gov-west-1").details.logs?.[0]?.uri).toContain("console.amazonaws-us-gov.com");
  });

  it.each([
    ["FAILED", { StateChangeReason: "why" }, { code: "FAILED", kind: "USER", message: "why" }, undefined],
    ["FAILED", { StateChangeReason: "down", AthenaError: { ErrorCategory: 1 } }, { code: "FAILED", kind: "SYSTEM" }, undefined],
    ["CANCELLED", {}, { code: "ABORTED", kind: "USER" }, true],
  ])("%s %j fails with a retry", (state, status, details, stopped) => {
    const observation = observe(state, status);
    expect(observation).toMatchObject({ state: "FAILED", failure: { recoverable: true, details }, ...(stopped && { stopped }) });
  });
});

describe("the output `results`", () => {
  const outputsOf = (outputs: Parameters<typeof taskRequest>[0]["outputs"]) =>
    resultOutputs(taskRequest({ type: "presto", ...(outputs && { outputs }) }), "s3://b/q.csv", "csv");

  it("is a schema or a structured dataset of CSV, as the interface says", () => {
    const type = create(SchemaTypeSchema, { columns: [{ name: "a", type: 0 }] });
    expect(outputsOf({ results: { case: "schema", value: type } })?.literals.results?.value.value).toMatchObject({
      value: { case: "schema", value: { uri: "s3://b/q.csv", type } },
    });
    const request = prestoRequest();
    expect(resultOutputs(request, "s3://b/q.csv", "csv")?.literals.results?.value.value).toMatchObject({
      value: { case: "structuredDataset", value: { uri: "s3://b/q.csv", metadata: { structuredDatasetType: { format: "csv" } } } },
    });
  });

  it("is absent where the interface declares none, or another type", () => {
    expect(outputsOf({})).toBeUndefined();
    expect(outputsOf({ other: { case: "simple", value: 1 } })).toBeUndefined();
    expect(outputsOf({ results: { case: "simple", value: 1 } })).toBeUndefined();
  });
});

it.each([
  [awsSdkError("ThrottlingException", 400), "throttled"],
  [awsSdkError("TooManyRequestsException", 429), "throttled"],
  [awsSdkError("InternalServerException", 500), "unavailable"],
  [awsSdkError("ExpiredTokenException", 403), "unavailable"],
  [Object.assign(new Error("no credentials"), { name: "CredentialsProviderError" }), "unavailable"],
  [Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }), "unavailable"],
  [awsSdkError("AccessDeniedException", 403), "denied"],
  [awsSdkError("InvalidRequestException", 400), "invalid"],
])("the AWS error %s is %s", (error, kind) => {
  expect(awsError(error)).toMatchObject({ kind, code: error.name });
});
