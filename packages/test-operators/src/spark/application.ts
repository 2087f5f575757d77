import type { KubeObject } from "@flyte-ts/kubernetes";
import type { Container, Pod } from "@flyte-ts/pod-task";
import { type CustomResourceDefinition, uncheckedDefinition } from "@flyte-ts/test-servers";

/** Definition of SparkApplication, without a schema. */
export const SPARK_DEFINITIONS: readonly CustomResourceDefinition[] = [
  uncheckedDefinition({ group: "sparkoperator.k8s.io", version: "v1beta2", kind: "SparkApplication" }),
];

export const APPLICATIONS = { group: "sparkoperator.k8s.io", version: "v1beta2", plural: "sparkapplications", namespaced: true };
export const NAME_LABEL = "sparkoperator.k8s.io/app-name";
export const SUBMISSION_LABEL = "sparkoperator.k8s.io/submission-id";

/** The driver or the executors of an application. */
export interface SparkRole {
  readonly image?: string;
  readonly cores?: number;
  readonly memory?: string;
  readonly instances?: number;
  readonly serviceAccount?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly env?: Container["env"];
  readonly template?: { readonly spec?: Pod["spec"] };
}

export interface SparkApplication extends KubeObject {
  readonly spec: {
    readonly image?: string;
    readonly mainClass?: string;
    readonly mainApplicationFile?: string;
    readonly arguments?: readonly string[];
    readonly sparkConf?: Readonly<Record<string, string>>;
    readonly hadoopConf?: Readonly<Record<string, string>>;
    readonly restartPolicy?: { readonly onSubmissionFailureRetries?: number };
    readonly driver: SparkRole;
    readonly executor?: SparkRole;
  };
  readonly status?: { readonly applicationState?: { readonly state?: string }; readonly submissionAttempts?: number };
}

/** One run of an application. */
export interface Submission {
  readonly application: SparkApplication;
  readonly driverName: string;
  /** Value of the driver's label `sparkoperator.k8s.io/submission-id`. */
  readonly id: string;
}

/** Creates the driver's pod of an application. */
export type Submit = (submission: Submission) => Promise<unknown>;

export function driverNameOf({ metadata }: SparkApplication): string {
  return `${metadata.name}-driver`;
}

/** Reference of a driver to its application: it is deleted with it. */
export function ownerOf({ metadata: { name, uid } }: SparkApplication) {
  const apiVersion = `${APPLICATIONS.group}/${APPLICATIONS.version}`;
  return { apiVersion, kind: "SparkApplication", name, uid, controller: true, blockOwnerDeletion: true };
}
