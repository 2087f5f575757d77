import type { JobState, RemoteJobs } from "./remote-jobs.fixture.js";
import type { Api } from "./stand-in-server.fixture.js";

const STATES: Record<JobState, object> = {
  pending: { life_cycle_state: "PENDING", state_message: "waiting for the cluster" },
  running: { life_cycle_state: "RUNNING", state_message: "in run" },
  succeeded: { life_cycle_state: "TERMINATED", result_state: "SUCCESS", state_message: "" },
  failed: { life_cycle_state: "TERMINATED", result_state: "FAILED", state_message: "the driver has failed" },
  cancelled: { life_cycle_state: "TERMINATED", result_state: "CANCELED", state_message: "cancelled" },
};

interface SubmittedRun {
  readonly run_name: string;
  readonly spark_python_task: { readonly parameters: readonly string[] };
}

/**
 * Databricks' runs. The name of a run is the mode of its job.
 *
 * @param onSubmit called with the parameters of the program of each run
 */
export function databricksApi(jobs: RemoteJobs, onSubmit: (parameters: readonly string[]) => void): Api {
  let last = 0;
  return ({ path, query, body, headers }) => {
    const call = /^\/api\/2\.1\/jobs\/runs\/(\w+)$/.exec(path)?.[1];
    if (call === undefined) return undefined;
    if (headers.authorization !== "Bearer databricks-secret-token") return { status: 403, body: { message: "a wrong token" } };
    switch (call) {
      case "submit":
        jobs.start(String(++last), (body as SubmittedRun).run_name);
        onSubmit((body as SubmittedRun).spark_python_task.parameters);
        return { body: { run_id: last } };
      case "cancel":
        jobs.cancel(String((body as { readonly run_id: string }).run_id));
        return { body: {} };
      default: {
        const state = jobs.read(query.get("run_id") ?? "");
        return state === undefined ? { status: 400, body: {} } : { body: { job_id: 7, run_id: query.get("run_id"), state: STATES[state] } };
      }
    }
  };
}
