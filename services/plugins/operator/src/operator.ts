import type { JsonObject } from "@bufbuild/protobuf";
import type { TaskLog } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { KubeObject, ResourceRef } from "@flyte-ts/kubernetes";
import type { Pod } from "@flyte-ts/pod-task";
import type { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import type { RolePodBuilder } from "./build/role-pod-builder.js";

/** An operator's resource, without its spec. */
export interface Job extends KubeObject {
  readonly status?: JsonObject;
}

/** State of a job as its operator and its pods report it. */
export type JobState =
  | {
      readonly kind: "progress";
      readonly phase: "QUEUED" | "INITIALIZING" | "RUNNING";
      readonly reason?: string;
      /** True: the operator has written no status yet. */
      readonly unobserved?: boolean;
    }
  /** The job succeeded; the files of the attempt decide. */
  | { readonly kind: "succeeded"; readonly endedAt?: Date | undefined }
  | { readonly kind: "failed"; readonly failure: PermanentFailure | RetryableFailure; readonly endedAt?: Date | undefined };

/** Further facts about a job that events carry. */
export interface JobDetails {
  /** Links beside those to the logs of the pods. */
  readonly links?: readonly TaskLog[];
  readonly customInfo?: JsonObject;
}

/** Content of a new resource beside its name, labels, annotations and owner. */
export interface JobContent {
  readonly spec: JsonObject;
  /** Labels and annotations of the resource, for operators that copy them to its pods. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Pods that may go on running after the end of a job. */
export interface Leftover {
  /** Resource that starts these pods, and is deleted in their place. Default: the pods are. */
  readonly resource?: { readonly ref: ResourceRef; readonly name: string };
  /** True: a successful job keeps them for a time; its operator deletes them. */
  readonly outlivesSuccess: boolean;
  /** True for pods that belong to it. */
  owns(pod: Pod): boolean;
}

/** A kind of resource that an operator runs, and the task type that becomes such a resource. */
export interface Operator {
  /** Task type, and `plugin_identifier` of events. */
  readonly taskType: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly ref: ResourceRef;
  /** Maximum length of the resource's name. */
  readonly maxNameLength: number;
  /** True: each process of a failed attempt writes an error document of its own. */
  readonly workersWriteErrors: boolean;

  /**
   * Builds the content of the resource. Pure: the same request gives the same content.
   *
   * @throws InvalidPodSpecError, PermanentFailure, TemplateError, QuantityError: errors of the
   *   task.
   */
  build(request: TaskRequest, pods: RolePodBuilder): JobContent;
  /** Derives the state of the job. Pure. */
  status(job: Job, pods: readonly Pod[]): JobState;
  /** Links and facts for users, in a state. Pure. */
  details(job: Job, state: JobState): JobDetails;
  /** Part that runs on after the end of the job until it is deleted; undefined: none. Pure. */
  leftover(job: Job): Leftover | undefined;
  /** Name of a pod's role, such as `Worker 1`; part of the names of its log links. */
  roleOf(pod: Pod): string;
  /** True when the end of the pod determines the end of the job. */
  decides(pod: Pod): boolean;
}
