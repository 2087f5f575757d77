import {
  type BatchClient,
  DescribeJobsCommand,
  type JobDetail,
  type JobSummary,
  ListJobsCommand,
  type ListJobsRequest,
  RegisterJobDefinitionCommand,
  type RegisterJobDefinitionRequest,
  SubmitJobCommand,
  type SubmitJobRequest,
  TerminateJobCommand,
} from "@aws-sdk/client-batch";
import { callAws } from "../aws/aws-errors.js";
import type { Endpoint } from "../frame/call/endpoint.js";

/** Maximum number of ids of one DescribeJobs. */
export const MAX_IDS = 100;

/** The calls of AWS Batch, each through the endpoint. @throws ApiError */
export class BatchCalls {
  constructor(
    private readonly client: Pick<BatchClient, "send">,
    private readonly endpoint: Endpoint,
  ) {}

  /** Returns the ARN of the definition. */
  async registerJobDefinition(input: RegisterJobDefinitionRequest): Promise<string> {
    const answer = await this.endpoint.write("RegisterJobDefinition", (abortSignal) =>
      callAws(() => this.client.send(new RegisterJobDefinitionCommand(input), { abortSignal })),
    );
    return answer.jobDefinitionArn ?? "";
  }

  /** Returns the id of the job. */
  async submitJob(input: SubmitJobRequest): Promise<string> {
    const answer = await this.endpoint.write("SubmitJob", (abortSignal) =>
      callAws(() => this.client.send(new SubmitJobCommand(input), { abortSignal })),
    );
    return answer.jobId ?? "";
  }

  async terminateJob(jobId: string, reason: string): Promise<void> {
    await this.endpoint.write("TerminateJob", (abortSignal) =>
      callAws(() => this.client.send(new TerminateJobCommand({ jobId, reason }), { abortSignal })),
    );
  }

  /** Describes jobs, 100 per call; unknown ones are missing in the answer. */
  async describeJobs(ids: readonly string[]): Promise<readonly JobDetail[]> {
    const details: JobDetail[] = [];
    for (let from = 0; from < ids.length; from += MAX_IDS) {
      const jobs = ids.slice(from, from + MAX_IDS);
      const answer = await this.endpoint.read("DescribeJobs", (abortSignal) =>
        callAws(() => this.client.send(new DescribeJobsCommand({ jobs }), { abortSignal })),
      );
      details.push(...(answer.jobs ?? []));
    }
    return details;
  }

  /** Lists the first page of jobs. */
  async listJobs(input: ListJobsRequest): Promise<readonly JobSummary[]> {
    const answer = await this.endpoint.read("ListJobs", (abortSignal) =>
      callAws(() => this.client.send(new ListJobsCommand(input), { abortSignal })),
    );
    return answer.jobSummaryList ?? [];
  }
}
