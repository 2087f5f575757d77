import type { JsonObject } from "@bufbuild/protobuf";
import { PermanentFailure } from "@flyte-ts/task-plugin";
import { describe, expect, it } from "vitest";
import { buildSample } from "../simulation/build-sample.js";
import { kubeflowStatus } from "./status.js";

interface Replica {
  readonly replicas: number;
  readonly restartPolicy: string;
  readonly template: { readonly metadata: object; readonly spec: { readonly containers: readonly Record<string, unknown>[] } };
}
type Replicas = Readonly<Record<string, Replica>>;

const replicasOf = (spec: JsonObject, field: string) => spec[field] as unknown as Replicas;
const container = (replica: Replica | undefined) => replica?.template.spec.containers[0];
const withVersion = (taskTypeVersion: number) => ({
  change: ({ template }: { template?: { taskTypeVersion: number } | undefined }) => {
    if (template !== undefined) template.taskTypeVersion = taskTypeVersion;
  },
});

describe("a PyTorchJob", () => {
  it("has one master and the workers, each with its own image and resources", () => {
    const custom = {
      worker_replicas: { common: { replicas: 3.0, image: "example/worker:1", restartPolicy: "RESTART_POLICY_ON_FAILURE", unknown: true } },
      masterReplicas: { common: { resources: { limits: [{ name: "CPU", value: "2" }] } } },
      runPolicy: { cleanPodPolicy: "CLEANPOD_POLICY_ALL", ttlSecondsAfterFinished: 60.0, activeDeadlineSeconds: 0.0 },
    };
    const job = buildSample("pytorch", custom);
    expect(job).toMatchObject({ apiVersion: "kubeflow.org/v1", kind: "PyTorchJob" });
    expect(Object.keys(job.spec)).toEqual(["pytorchReplicaSpecs", "runPolicy"]);
    expect(job.spec.runPolicy).toEqual({ cleanPodPolicy: "All", ttlSecondsAfterFinished: 60 });
    const { Master, Worker } = replicasOf(job.spec, "pytorchReplicaSpecs");
    expect(Master).toMatchObject({ replicas: 1, restartPolicy: "Never" });
    expect(container(Master)).toMatchObject({
      name: "pytorch",
      image: "example/image:1",
      args: ["pyflyte-execute", "--inputs", "s3://bucket/metadata/propeller/p-development-a1b2c3d4e5f6g7h8i9j0/n0/data/inputs.pb"],
      resources: { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "2", memory: "1Gi" } },
    });
    expect(Worker).toMatchObject({ replicas: 3, restartPolicy: "OnFailure" });
    expect(container(Worker)).toMatchObject({
      name: "pytorch",
      image: "example/worker:1",
      resources: { limits: { cpu: "500m", memory: "1Gi" } },
    });
  });

  it("labels its pods with the attempt, the execution and the job", () => {
    const job = buildSample("pytorch", { workerReplicas: { replicas: 1.0 } });
    const labels = { "execution-id": "a1b2c3d4e5f6g7h8i9j0", "node-id": "n0", "flyte.org/job": job.metadata.name };
    expect(job.metadata.labels).toMatchObject(labels);
    const { Worker } = replicasOf(job.spec, "pytorchReplicaSpecs");
    expect(Worker?.template.metadata).toMatchObject({ labels });
  });

  it("makes flytekit write an error of each worker in all replicas", () => {
    const { Master, Worker } = replicasOf(buildSample("pytorch", { workerReplicas: { replicas: 1.0 } }).spec, "pytorchReplicaSpecs");
    const variables = [
      { name: "_F_WN", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "_F_DES", value: "Earliest" },
    ];
    for (const replica of [Master, Worker]) expect((container(replica)?.env as object[] | undefined)?.slice(-2)).toEqual(variables);
  });

  it("is elastic without a master", () => {
    const elasticConfig = { rdzvBackend: "c10d", minReplicas: 1.0, maxReplicas: 2.0, nprocPerNode: 4.0, maxRestarts: 3.0 };
    const { spec } = buildSample("pytorch", { workerReplicas: { common: { replicas: 2.0 } }, elasticConfig });
    expect(spec.elasticPolicy).toEqual({ rdzvBackend: "c10d", minReplicas: 1, maxReplicas: 2, nProcPerNode: 4, maxRestarts: 3 });
    expect(Object.keys(spec.pytorchReplicaSpecs as object)).toEqual(["Worker"]);
    expect(spec.runPolicy).toEqual({});
    expect(() => buildSample("pytorch", { elasticConfig })).toThrow("number of workers must be greater than 0");
  });

  it("needs no workers beside its master", () => {
    expect(Object.keys(buildSample("pytorch", {}).spec.pytorchReplicaSpecs as object)).toEqual(["Master"]);
  });

  it("reads the older message of version 0, and no other version", () => {
    const { spec } = buildSample("pytorch", { workers: 2.0 }, withVersion(0));
    expect(replicasOf(spec, "pytorchReplicaSpecs").Worker?.replicas).toBe(2);
    expect(() => buildSample("pytorch", {}, withVersion(2))).toThrow(PermanentFailure);
  });

  it("refuses values of another type", () => {
    expect(() => buildSample("pytorch", { workerReplicas: { replicas: "many" } })).toThrow(/invalid TaskSpecification: template.custom/);
  });
});

describe("a TFJob", () => {
  it("has the groups that are not empty", () => {
    const group = (replicas: number) => ({ common: { replicas } });
    const custom = { workerReplicas: group(2), psReplicas: group(1), chiefReplicas: group(0), evaluatorReplicas: group(1) };
    const { spec, kind } = buildSample("tensorflow", custom);
    expect(kind).toBe("TFJob");
    const replicas = replicasOf(spec, "tfReplicaSpecs");
    expect(Object.entries(replicas).map(([type, { replicas: count }]) => [type, count])).toEqual([
      ["Worker", 2],
      ["PS", 1],
      ["Evaluator", 1],
    ]);
    expect(container(replicas.PS)?.name).toBe("tensorflow");
  });

  it("needs a worker", () => {
    expect(() => buildSample("tensorflow", { chiefReplicas: { replicas: 1 } })).toThrow("number of workers must be greater than 0");
  });

  it("reads the older message of version 0", () => {
    const { spec } = buildSample("tensorflow", { workers: 1.0, ps_replicas: 1.0, chiefReplicas: 1.0 }, withVersion(0));
    expect(Object.keys(spec.tfReplicaSpecs as object)).toEqual(["Chief", "Worker", "PS"]);
  });
});

describe("an MPIJob", () => {
  it("has a launcher and workers with their own commands, and the slots of the task", () => {
    const custom = {
      launcherReplicas: { common: { replicas: 1.0 }, command: ["mpirun", "-np", "4"] },
      workerReplicas: { common: { replicas: 2.0 }, command: ["/usr/sbin/sshd", "-De"] },
      slots: 2.0,
    };
    const { spec } = buildSample("mpi", custom);
    expect(spec.slotsPerWorker).toBe(2);
    const { Launcher, Worker } = replicasOf(spec, "mpiReplicaSpecs");
    expect(container(Launcher)).toMatchObject({ name: "mpi", args: ["mpirun", "-np", "4"] });
    expect(container(Worker)).toMatchObject({ name: "mpi", args: ["/usr/sbin/sshd", "-De"] });
  });

  it("needs both", () => {
    expect(() => buildSample("mpi", { launcherReplicas: { replicas: 1 } })).toThrow("number of workers");
    expect(() => buildSample("mpi", { workerReplicas: { replicas: 1 } })).toThrow("number of launchers");
  });

  it("takes the workers' command of version 0 from the task's config", () => {
    const { spec } = buildSample(
      "mpi",
      { numWorkers: 1.0, numLauncherReplicas: 1.0, slots: 1.0 },
      {
        change: ({ template }) => {
          if (template === undefined) return;
          template.taskTypeVersion = 0;
          template.config = { worker_spec_command: "sleep  1d" };
        },
      },
    );
    expect(container(replicasOf(spec, "mpiReplicaSpecs").Worker)?.args).toEqual(["sleep", "1d"]);
  });
});

describe("the state of a Kubeflow job", () => {
  const state = (...conditions: string[]) =>
    kubeflowStatus({
      metadata: { name: "j" },
      status: {
        startTime: "2026-01-01T00:00:00Z",
        conditions: conditions.map((type) => ({ type, status: "True", reason: "R", message: "m" })),
      },
    });

  it.each<[string[], object]>([
    [["Created"], { kind: "progress", phase: "QUEUED", reason: "JobCreated", unobserved: false }],
    [["Created", "Running"], { kind: "progress", phase: "RUNNING" }],
    [["Created", "Restarting"], { kind: "progress", phase: "RUNNING" }],
    [["Created", "Suspended"], { kind: "progress", phase: "QUEUED", reason: "Suspended" }],
    [["Created", "Succeeded"], { kind: "succeeded" }],
    // Conditions may have equal times, so the furthest one counts.
    [
      ["Running", "Failed"],
      { kind: "failed", failure: { message: "Job failed:\n\tR - m", details: { code: "DownstreamSystemError", kind: "USER" } } },
    ],
  ])("reads %j", (conditions, expected) => {
    expect(state(...conditions)).toMatchObject(expected);
  });

  it("without a status is unobserved", () => {
    expect(kubeflowStatus({ metadata: { name: "j" } })).toMatchObject({ phase: "QUEUED", unobserved: true });
  });

  it("ignores conditions that are not true", () => {
    const conditions = [
      { type: "Running", status: "False" },
      { type: "Created", status: "True" },
    ];
    expect(kubeflowStatus({ metadata: { name: "j" }, status: { conditions } })).toMatchObject({ phase: "QUEUED" });
  });
});
