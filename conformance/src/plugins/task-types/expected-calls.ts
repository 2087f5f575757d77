import { expect } from "vitest";
import { PROGRAM } from "./comparable.js";
import { IMAGE } from "./expected-pods.js";

/** Calls that create the job of a task, by task. */
export const EXPECTED_CALLS: Readonly<Record<string, readonly { readonly operation: string; readonly body: object }[]>> = {
  "light_tasks.aws_batch": [
    {
      operation: "RegisterJobDefinition",
      body: {
        jobDefinitionName: "task",
        type: "container",
        platformCapabilities: ["EC2"],
        containerProperties: {
          image: IMAGE,
          resourceRequirements: [
            { type: "VCPU", value: "1" },
            { type: "MEMORY", value: "100" },
          ],
        },
      },
    },
    {
      operation: "SubmitJob",
      body: {
        jobName: expect.stringMatching(/^e-aws-batch-/),
        jobQueue: "queue-1",
        jobDefinition: "arn:definition:1",
        schedulingPriorityOverride: 7,
        parameters: { p: "v", flyteAttempt: expect.stringContaining("/e-aws-batch-") },
        containerOverrides: {
          command: PROGRAM,
          environment: expect.arrayContaining([
            { name: "FLYTE_FAIL_ON_ERROR", value: "true" },
            { name: "FLYTE_INTERNAL_EXECUTION_ID", value: "e-aws-batch" },
          ]),
          resourceRequirements: [
            { type: "VCPU", value: "1" },
            { type: "MEMORY", value: "128" },
          ],
        },
        retryStrategy: { attempts: 1 },
        propagateTags: true,
        tags: { team: "one" },
        timeout: { attemptDurationSeconds: 259_200 },
      },
    },
  ],
  athena: [athenaQuery("athena", { QueryString: "SELECT 7", WorkGroup: "group" }, "catalog")],
  hive: [athenaQuery("hive", { QueryString: "SELECT 7 FROM t", WorkGroup: "primary" }, "AwsDataCatalog")],
  bigquery: [
    {
      operation: "jobs.insert",
      body: {
        configuration: {
          query: {
            query: "SELECT @a",
            maximumBytesBilled: "10",
            useLegacySql: false,
            parameterMode: "NAMED",
            queryParameters: [{ name: "a", parameterType: { type: "INT64" }, parameterValue: { value: "7" } }],
          },
        },
        jobReference: { projectId: "a-project", jobId: expect.stringMatching(/^e-bigquery-/), location: "EU" },
      },
    },
  ],
};

function athenaQuery(task: string, fields: object, catalog: string) {
  return {
    operation: "StartQueryExecution",
    body: {
      ...fields,
      ClientRequestToken: expect.stringMatching(new RegExp(`^e-${task}-.{32,}$`)),
      QueryExecutionContext: { Database: "db", Catalog: catalog },
      ResultConfiguration: { OutputLocation: expect.stringMatching(/^s3:\/\/my-s3-bucket\/data\//) },
    },
  };
}
