import type { JsonObject } from "@bufbuild/protobuf";

/** A small task of one type. */
export interface Sample {
  /** `custom` of the task, as flytekit serialises it: numbers are doubles. */
  readonly custom: JsonObject;
  /** Version of the task type. Default: 0. */
  readonly version?: number;
  /** Status that the operator writes when the job has succeeded. */
  readonly succeeded: JsonObject;
}

const TRAINED: JsonObject = { conditions: [{ type: "Succeeded", status: "True" }] };

/** A task of each type, for the conformance cases and the simulation. */
export const SAMPLES: Readonly<Record<string, Sample>> = {
  pytorch: {
    version: 1,
    custom: { workerReplicas: { common: { replicas: 2.0 } }, masterReplicas: { common: { replicas: 1.0 } } },
    succeeded: TRAINED,
  },
  tensorflow: {
    version: 1,
    custom: { workerReplicas: { common: { replicas: 2.0 } }, chiefReplicas: { common: { replicas: 1.0 } } },
    succeeded: TRAINED,
  },
  mpi: {
    version: 1,
    custom: { workerReplicas: { common: { replicas: 2.0 } }, launcherReplicas: { common: { replicas: 1.0 } }, slots: 2.0 },
    succeeded: TRAINED,
  },
  ray: {
    custom: { rayCluster: { workerGroupSpec: [{ groupName: "small", replicas: 2.0, minReplicas: 2.0, maxReplicas: 2.0 }] } },
    succeeded: { jobDeploymentStatus: "Complete", jobStatus: "SUCCEEDED" },
  },
  dask: { custom: { scheduler: {}, workers: { numberOfWorkers: 2.0 } }, succeeded: { jobStatus: "Successful" } },
  spark: {
    custom: { mainApplicationFile: "local:///opt/entrypoint.py", executorPath: "/usr/bin/python3", sparkConf: {} },
    succeeded: { applicationState: { state: "COMPLETED" } },
  },
};
