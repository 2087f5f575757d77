import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A call that a service of the cloud has received. */
export interface RecordedCall {
  /** Name of the operation. */
  readonly operation: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** AWS Batch, Athena and BigQuery over HTTP: they record calls, and every job succeeds at once. */
export interface CloudServices {
  readonly url: string;
  readonly calls: readonly RecordedCall[];
  stop(): Promise<void>;
}

interface Answer {
  readonly operation: string;
  readonly answer: object;
}

/** @param onBatchJob called for each job of AWS Batch before it succeeds */
export async function startCloudServices(onBatchJob: (command: readonly string[]) => Promise<void>): Promise<CloudServices> {
  const calls: RecordedCall[] = [];
  const jobs = new Map<string, Record<string, unknown>>();
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const content = await text(request);
    const body = (content === "" ? {} : JSON.parse(content)) as Record<string, unknown>;
    const target = String(request.headers["x-amz-target"] ?? "");
    const path = new URL(request.url ?? "/", "http://cloud").pathname;
    const { operation, answer } = athena(target, body) ?? batch(path, body, jobs) ?? bigQuery(request.method, path, body);
    calls.push({ operation, body });
    if (operation === "SubmitJob") await onBatchJob((body.containerOverrides as { readonly command: readonly string[] }).command);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function athena(target: string, body: Record<string, unknown>): Answer | undefined {
  const operation = /^AmazonAthena\.(\w+)$/.exec(target)?.[1];
  if (operation === undefined) return undefined;
  const query = (id: string) => ({
    QueryExecutionId: id,
    Status: { State: "SUCCEEDED" },
    ResultConfiguration: { OutputLocation: `s3://my-s3-bucket/results/${id}.csv` },
  });
  switch (operation) {
    case "StartQueryExecution":
      return { operation, answer: { QueryExecutionId: body.ClientRequestToken } };
    case "BatchGetQueryExecution":
      return { operation, answer: { QueryExecutions: (body.QueryExecutionIds as string[]).map(query) } };
    case "GetQueryExecution":
      return { operation, answer: { QueryExecution: query(String(body.QueryExecutionId)) } };
    default:
      return { operation, answer: { QueryExecutionIds: [] } };
  }
}

function batch(path: string, body: Record<string, unknown>, jobs: Map<string, Record<string, unknown>>): Answer | undefined {
  switch (path) {
    case "/v1/registerjobdefinition":
      return { operation: "RegisterJobDefinition", answer: { jobDefinitionArn: "arn:definition:1", jobDefinitionName: "d", revision: 1 } };
    case "/v1/submitjob": {
      const jobId = `job-${jobs.size}`;
      jobs.set(jobId, body);
      return { operation: "SubmitJob", answer: { jobId, jobName: body.jobName } };
    }
    case "/v1/describejobs": {
      const found = (body.jobs as string[]).map((jobId) => ({ ...jobs.get(jobId), jobId, status: "SUCCEEDED", attempts: [] }));
      return { operation: "DescribeJobs", answer: { jobs: found } };
    }
    case "/v1/listjobs":
      return { operation: "ListJobs", answer: { jobSummaryList: [] } };
    default:
      return undefined;
  }
}

function bigQuery(method: string | undefined, path: string, body: Record<string, unknown>): Answer {
  const destinationTable = { projectId: "a-project", datasetId: "anonymous", tableId: "results" };
  const status = { state: "DONE" };
  if (method === "POST") return { operation: "jobs.insert", answer: { ...body, status } };
  const jobId = path.split("/").at(-1);
  const jobReference = { projectId: "a-project", jobId, location: "EU" };
  return { operation: "jobs.get", answer: { jobReference, configuration: { query: { destinationTable } }, status } };
}
