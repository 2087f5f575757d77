import type { JsonObject } from "@bufbuild/protobuf";
import type { Pod } from "@flyte-ts/pod-task";
import { describe, expect, it } from "vitest";
import { buildSample } from "../simulation/build-sample.js";
import { daskStatus } from "./status.js";

interface DaskSpec {
  readonly job: { readonly spec: PodJson };
  readonly cluster: {
    readonly spec: {
      readonly scheduler: { readonly spec: PodJson; readonly service: object };
      readonly worker: { readonly replicas: number; readonly spec: PodJson };
    };
  };
}
interface PodJson {
  readonly restartPolicy: string;
  readonly containers: readonly Record<string, unknown>[];
  readonly tolerations?: readonly object[];
}

const specOf = (custom: JsonObject, options = {}) => buildSample("dask", custom, options).spec as unknown as DaskSpec;

describe("a DaskJob", () => {
  const custom = {
    scheduler: { image: "scheduler:1", resources: {} },
    workers: { number_of_workers: 3.0, resources: { requests: [{ name: "CPU", value: "1" }], limits: [{ name: "CPU", value: "1500m" }] } },
  };

  it("runs the task's process beside a cluster", () => {
    const { job, cluster } = specOf(custom);
    expect(job.spec).toMatchObject({
      restartPolicy: "Never",
      containers: [{ name: "job-runner", args: expect.arrayContaining(["pyflyte-execute"]) }],
    });
    expect(cluster.spec.scheduler.spec).toMatchObject({
      restartPolicy: "Always",
      containers: [
        {
          name: "scheduler",
          image: "scheduler:1",
          args: ["dask", "scheduler"],
          resources: { limits: { cpu: "500m", memory: "1Gi" } },
          ports: [
            { name: "tcp-comm", containerPort: 8786, protocol: "TCP" },
            { name: "http-dashboard", containerPort: 8787, protocol: "TCP" },
          ],
        },
      ],
    });
    expect(cluster.spec.worker).toMatchObject({ replicas: 3, spec: { restartPolicy: "Always" } });
    expect(cluster.spec.worker.spec.containers[0]).toMatchObject({
      name: "dask-worker",
      image: "example/image:1",
      args: ["dask", "worker", "--name", "$(DASK_WORKER_NAME)", "--nthreads", "2", "--memory-limit", "1Gi"],
    });
  });

  it("reaches its scheduler by a service", () => {
    expect(specOf(custom).cluster.spec.scheduler.service).toEqual({
      type: "NodePort",
      selector: { "dask.org/cluster-name": "a1b2c3d4e5f6g7h8i9j0-n0-0", "dask.org/component": "scheduler" },
      ports: [
        { name: "tcp-comm", protocol: "TCP", port: 8786, targetPort: "tcp-comm" },
        { name: "http-dashboard", protocol: "TCP", port: 8787, targetPort: "http-dashboard" },
      ],
    });
  });

  it("lets only workers be interrupted", () => {
    const settings = { pods: { scheduling: { interruptibleTolerations: [{ key: "spot", operator: "Exists" }] } } };
    const { job, cluster } = specOf(custom, { settings, change: (request: { interruptible: boolean }) => (request.interruptible = true) });
    expect(job.spec.tolerations).toBeUndefined();
    expect(cluster.spec.scheduler.spec.tolerations).toBeUndefined();
    expect(cluster.spec.worker.spec.tolerations).toEqual([{ key: "spot", operator: "Exists" }]);
  });

  it("carries the labels of its pods, which the operator copies", () => {
    expect(buildSample("dask", custom).metadata.labels).toMatchObject({
      "execution-id": "a1b2c3d4e5f6g7h8i9j0",
      "flyte.org/job": "a1b2c3d4e5f6g7h8i9j0-n0-0",
    });
  });

  it("runs the programs of older versions of Dask by its settings", () => {
    const settings = { dask: { schedulerCommand: ["dask-scheduler"], workerCommand: ["dask-worker"] } };
    expect(specOf(custom, { settings }).cluster.spec.scheduler.spec.containers[0]?.args).toEqual(["dask-scheduler"]);
  });
});

describe("the state of a DaskJob", () => {
  const runner = (phase: string): Pod => ({
    metadata: { name: "r", labels: { "dask.org/component": "job-runner" } },
    spec: { containers: [] },
    status: { phase },
  });

  it.each<[string, readonly Pod[], object]>([
    ["", [], { phase: "INITIALIZING", reason: "unknown", unobserved: true }],
    ["JobCreated", [], { phase: "INITIALIZING", reason: "job created" }],
    ["ClusterCreated", [runner("Pending")], { phase: "INITIALIZING", reason: "cluster created" }],
    ["Running", [runner("Running")], { phase: "RUNNING" }],
    ["Successful", [], { kind: "succeeded" }],
    ["Failed", [], { kind: "failed", failure: { message: "Dask Job failed", details: { code: "DownstreamSystemError", kind: "USER" } } }],
    // The operator does not record the end of a job whose cluster is gone.
    ["Running", [runner("Succeeded")], { kind: "succeeded" }],
    ["Running", [runner("Failed")], { kind: "failed" }],
  ])("reads %j", (jobStatus, pods, expected) => {
    expect(daskStatus({ metadata: { name: "j" }, status: { jobStatus } }, pods)).toMatchObject(expected);
  });
});
