import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type RayJobStatus = "RUNNING" | "SUCCEEDED" | "FAILED";

export interface RayDashboards {
  /** HTTP proxy that answers for the dashboards. */
  readonly url: string;
  /** Sets the status of the Ray job of a RayJob; undefined: Ray does not know the job. */
  report(job: string, status: RayJobStatus | undefined): void;
  stop(): Promise<void>;
}

/** Call of a dashboard's jobs, as a proxy gets it: the cluster, and the id of the Ray job. */
const DASHBOARD = /^http:\/\/([^./]+)-head-svc\.[^/]+\/api\/jobs\/([^/]+)/;

/** Answers for the dashboards of all Ray heads, as an HTTP proxy. No Ray runs. */
export async function startRayDashboards(): Promise<RayDashboards> {
  const statuses = new Map<string, RayJobStatus>();
  const server = createServer((incoming, outgoing) => {
    const [, cluster = "", id = ""] = DASHBOARD.exec(incoming.url ?? "") ?? [];
    // The name of the cluster is that of the RayJob, a hyphen and five letters.
    answer(outgoing, id, statuses.get(cluster.slice(0, -6)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    report: (job, status) => void (status === undefined ? statuses.delete(job) : statuses.set(job, status)),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(outgoing: ServerResponse, id: string, status: RayJobStatus | undefined): void {
  if (status === undefined) return void outgoing.writeHead(404).end(`Job ${id} does not exist`);
  const message = status === "FAILED" ? "Job entrypoint command failed with exit code 1" : "";
  const ended = status === "RUNNING" ? {} : { end_time: Date.now() };
  const job = { submission_id: id, type: "SUBMISSION", status, message, entrypoint: "", start_time: Date.now() - 1_000, ...ended };
  // A call to stop the job gets the answer that it has been stopped.
  outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ ...job, stopped: true }));
}
