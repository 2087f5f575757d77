import type { PermanentFailure, RetryableFailure, StatusDetails } from "@flyte-ts/task-plugin";

/** Fields of a status that users see: links, external resources, custom info. */
export type JobDetails = Pick<StatusDetails, "logs" | "externalResources" | "customInfo">;

/** State of a job, as its API reports it. */
export type Observation =
  | {
      readonly state: "QUEUED" | "INITIALIZING" | "RUNNING";
      readonly reason?: string;
      readonly details: JobDetails;
    }
  | {
      readonly state: "SUCCEEDED";
      readonly details: JobDetails;
      /** Address of the results, for APIs that name it at the end. */
      readonly resultUri?: string;
    }
  | {
      readonly state: "FAILED";
      readonly failure: PermanentFailure | RetryableFailure;
      readonly details: JobDetails;
      /** True when a request to stop ended the job, no matter which client sent it. */
      readonly stopped?: boolean;
    };

export type EndedObservation = Extract<Observation, { readonly state: "SUCCEEDED" | "FAILED" }>;
export type ProgressObservation = Exclude<Observation, EndedObservation>;

export function hasEnded(observation: Observation): observation is EndedObservation {
  return observation.state === "SUCCEEDED" || observation.state === "FAILED";
}
