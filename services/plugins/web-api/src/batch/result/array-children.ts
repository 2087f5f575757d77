import type { JobDetail } from "@aws-sdk/client-batch";
import type { BatchCalls } from "../batch-calls.js";
import type { BatchJob } from "../batch-job.js";

/** Number of children that are shown, for events are limited to 1 MiB. All of them are counted. */
export const MAX_SHOWN_CHILDREN = 500;

interface Known {
  /** AWS's summary of the children's states when they were last read. */
  summary: string;
  readonly children: JobDetail[];
}

/** States of the children of arrays, read again when AWS's summary of an array changes. */
export class ArrayChildren {
  readonly #known = new Map<string, Known>();

  constructor(private readonly calls: Pick<BatchCalls, "describeJobs">) {}

  /** @throws ApiError */
  async of({ jobId, size }: BatchJob, { arrayProperties, status }: JobDetail): Promise<readonly JobDetail[]> {
    if (size <= 1) return [];
    const known = this.#known.get(jobId) ?? { summary: "", children: [] };
    const summary = JSON.stringify([arrayProperties?.statusSummary, status]);
    // Without a summary, changes of the children cannot be detected.
    if (known.summary !== summary || arrayProperties?.statusSummary === undefined) {
      const indexes = Array.from({ length: Math.min(size, MAX_SHOWN_CHILDREN) }, (_, index) => index);
      const open = indexes.filter((index) => !hasEnded(known.children[index]));
      for (const detail of await this.calls.describeJobs(open.map((index) => `${jobId}:${index}`))) {
        const index = detail.arrayProperties?.index ?? Number(detail.jobId?.split(":")[1]);
        if (Number.isInteger(index)) known.children[index] = reduced(detail, index);
      }
      known.summary = summary;
      this.#known.set(jobId, known);
    }
    return known.children.filter((child) => child !== undefined);
  }

  forget({ jobId }: BatchJob): void {
    this.#known.delete(jobId);
  }
}

function hasEnded(child: JobDetail | undefined): boolean {
  return child?.status === "SUCCEEDED" || child?.status === "FAILED";
}

/** Keeps what is shown: the whole detail repeats the command and the environment. */
function reduced({ jobId, status, attempts, container, statusReason }: JobDetail, index: number): JobDetail {
  const logStream = (stream: string | undefined) => ({ container: stream === undefined ? {} : { logStreamName: stream } });
  return {
    jobId,
    status,
    statusReason,
    arrayProperties: { index },
    attempts: attempts?.map((attempt) => logStream(attempt.container?.logStreamName)),
    ...logStream(container?.logStreamName),
  } as JobDetail;
}
