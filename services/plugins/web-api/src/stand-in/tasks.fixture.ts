import { create, type JsonObject } from "@bufbuild/protobuf";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { type TaskTemplate, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { sampleRequest } from "@flyte-ts/task-plugin/harness";

export interface SampleTask {
  readonly type: string;
  readonly custom?: JsonObject;
  readonly target?: TaskTemplate["target"];
  /** Outputs by name; the type may be absent. */
  readonly outputs?: Readonly<Record<string, LiteralType["type"] | undefined>>;
  readonly config?: Readonly<Record<string, string>>;
}

/** A request with a template as flytekit writes it. */
export function taskRequest({ type, custom, target, outputs = {}, config = {} }: SampleTask, over: Partial<TaskRequest> = {}): TaskRequest {
  const request = sampleRequest(type, over);
  request.template = create(TaskTemplateSchema, {
    ...(request.template?.id && { id: request.template.id }),
    type,
    ...(custom && { custom }),
    ...(target && { target }),
    config,
    interface: create(TypedInterfaceSchema, {
      outputs: {
        variables: Object.fromEntries(
          Object.entries(outputs).map(([name, kind]) => [name, kind === undefined ? {} : { type: { type: kind } }]),
        ),
      },
    }),
  });
  return request;
}

export const sql = (statement: string): TaskTemplate["target"] => ({
  case: "sql",
  value: { $typeName: "flyteidl.core.Sql", statement, dialect: 0 },
});

const DATASET: LiteralType["type"] = {
  case: "structuredDatasetType",
  value: {
    $typeName: "flyteidl.core.StructuredDatasetType",
    columns: [],
    format: "",
    externalSchemaType: "",
    externalSchemaBytes: new Uint8Array(),
  },
};

export const prestoRequest = (over: Partial<TaskRequest> = {}): TaskRequest =>
  taskRequest(
    { type: "presto", custom: { statement: "SELECT 1", schema: "db", routingGroup: "", catalog: "" }, outputs: { results: DATASET } },
    over,
  );

/** A query of HiveServer2, with results unless `outputs` says otherwise. */
export const hiveRequest = (
  query = "SELECT 1",
  over: Partial<TaskRequest> = {},
  outputs: SampleTask["outputs"] = { results: DATASET },
): TaskRequest => taskRequest({ type: "hive", custom: { clusterLabel: "db", query: { query } }, outputs }, over);

export const bigQueryRequest = (over: Partial<TaskRequest> = {}): TaskRequest =>
  taskRequest(
    {
      type: "bigquery_query_job_task",
      custom: { ProjectID: "p1", Location: "EU", Domain: null },
      target: sql("SELECT 1"),
      outputs: { results: DATASET },
    },
    over,
  );

/** Container of a task that runs in a queue of AWS Batch. */
export const batchContainer = (queue = "queue-1"): TaskTemplate["target"] =>
  create(TaskTemplateSchema, {
    target: {
      case: "container",
      value: {
        image: "registry.example.com/team/image:v1",
        args: ["pyflyte-execute", "--output-prefix", "{{.outputPrefix}}/0"],
        config: queue === "" ? [] : [{ key: "dynamic_queue", value: queue }],
      },
    },
  }).target;

export const batchRequest = (over: Partial<TaskRequest> = {}): TaskRequest =>
  taskRequest({ type: "aws-batch", custom: {}, target: batchContainer(), outputs: { o0: undefined } }, over);

export const arrayRequest = (size: number, custom: JsonObject = {}): TaskRequest =>
  taskRequest({ type: "container_array", custom: { size: String(size), ...custom }, target: batchContainer(), outputs: { o0: undefined } });
