import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { buildSample } from "../simulation/build-sample.js";
import { shellCommand } from "./entrypoint.js";
import { rayStatus } from "./status.js";

interface Group {
  readonly rayStartParams: object;
  readonly template: {
    readonly metadata: object;
    readonly spec: { readonly containers: readonly Record<string, unknown>[] } & Record<string, unknown>;
  };
}
interface ClusterSpec {
  readonly headGroupSpec: Group & { readonly serviceType: string };
  readonly workerGroupSpecs: readonly (Group & Record<string, unknown>)[];
}

const clusterOf = (spec: JsonObject) => spec.rayClusterSpec as unknown as ClusterSpec;

describe("a RayJob", () => {
  const custom = {
    rayCluster: {
      headGroupSpec: { rayStartParams: { "num-cpus": "2" } },
      workerGroupSpec: [{ groupName: "small", replicas: 2.0, minReplicas: 3.0, maxReplicas: 1.0, rayStartParams: {}, future: 1 }],
      enableAutoscaling: true,
      autoscalerOptions: { upscalingMode: "UPSCALING_MODE_AGGRESSIVE", idleTimeoutSeconds: 30.0, image: "auto:1" },
    },
    runtimeEnvYaml: "pip: [numpy]\n",
    runtimeEnv: "aWdub3JlZA==",
  };

  it("runs the task's command in a cluster of its own", () => {
    const job = buildSample("ray", custom);
    expect(job).toMatchObject({ apiVersion: "ray.io/v1", kind: "RayJob" });
    expect(job.spec).toMatchObject({
      entrypoint: "pyflyte-execute --inputs s3://bucket/metadata/propeller/p-development-a1b2c3d4e5f6g7h8i9j0/n0/data/inputs.pb",
      shutdownAfterJobFinishes: true,
      ttlSecondsAfterFinished: 3600,
      runtimeEnvYAML: "pip: [numpy]\n",
      rayClusterSpec: {
        enableInTreeAutoscaling: true,
        autoscalerOptions: { upscalingMode: "Aggressive", idleTimeoutSeconds: 30, image: "auto:1" },
      },
    });
    expect("submissionMode" in job.spec).toBe(false);
  });

  it("has a head with the task's start parameters and what is missing", () => {
    const { headGroupSpec } = clusterOf(buildSample("ray", custom).spec);
    expect(headGroupSpec).toMatchObject({ serviceType: "NodePort", enableIngress: false });
    expect(headGroupSpec.rayStartParams).toEqual({
      "num-cpus": "2",
      "include-dashboard": "true",
      "dashboard-host": "0.0.0.0",
      "node-ip-address": "$MY_POD_IP",
      "disable-usage-stats": "true",
    });
    const [head] = headGroupSpec.template.spec.containers;
    expect(head).toMatchObject({ name: "ray-head", image: "example/image:1" });
    expect(head?.args).toBeUndefined();
    expect((head?.env as object[] | undefined)?.at(-1)).toEqual({
      name: "MY_POD_IP",
      valueFrom: { fieldRef: { fieldPath: "status.podIP" } },
    });
    expect(head?.ports).toEqual([
      { name: "redis", containerPort: 6379 },
      { name: "head", containerPort: 10_001 },
      { name: "dashboard", containerPort: 8265 },
    ]);
  });

  it("has workers whose bounds hold their number", () => {
    const [group] = clusterOf(buildSample("ray", custom).spec).workerGroupSpecs;
    expect(group).toMatchObject({ groupName: "small", replicas: 2, minReplicas: 2, maxReplicas: 2 });
    expect(group?.rayStartParams).toEqual({ "node-ip-address": "$MY_POD_IP", "disable-usage-stats": "true" });
    const [worker] = group?.template.spec.containers ?? [];
    expect(worker).toMatchObject({ name: "ray-worker", lifecycle: { preStop: { exec: { command: ["/bin/sh", "-c", "ray stop"] } } } });
    expect(worker?.env).toContainEqual({
      name: "MEMORY_LIMITS",
      valueFrom: { resourceFieldRef: { containerName: "ray-worker", resource: "limits.memory" } },
    });
  });

  it("lays the task's own pods over those of the roles", () => {
    const podSpec: JsonObject = {
      nodeSelector: { disk: "ssd" },
      tolerations: [{ key: "ray", operator: "Exists" }],
      containers: [
        { name: "ray-head", image: "own:1", env: [{ name: "OWN", value: "1" }], resources: { limits: { cpu: "4" } } },
        { name: "dropped", image: "x" },
      ],
    };
    const headGroupSpec = { k8sPod: { metadata: { labels: { team: "a" } }, podSpec } };
    const { template } = clusterOf(buildSample("ray", { rayCluster: { headGroupSpec } }).spec).headGroupSpec;
    expect(template.metadata).toMatchObject({ labels: { team: "a", "execution-id": "a1b2c3d4e5f6g7h8i9j0" } });
    expect(template.spec).toMatchObject({ nodeSelector: { disk: "ssd" }, tolerations: [{ key: "ray" }] });
    expect(template.spec.containers).toHaveLength(1);
    expect(template.spec.containers[0]).toMatchObject({ image: "own:1", resources: { limits: { cpu: "4", memory: "1Gi" } } });
    const env = template.spec.containers[0]?.env as { name: string }[];
    expect(env.map(({ name }) => name)).toEqual(expect.arrayContaining(["MY_POD_IP", "OWN"]));
  });

  it("keeps the cluster as long as the task says", () => {
    expect(buildSample("ray", { shutdownAfterJobFinishes: true, ttlSecondsAfterFinished: 0.0 }).spec).toMatchObject({
      ttlSecondsAfterFinished: 0,
    });
  });

  it("has no time to live without a shutdown, which KubeRay refuses", () => {
    const { spec } = buildSample("ray", {}, { settings: { ray: { shutdownAfterJobFinishes: false } } });
    expect(spec).toMatchObject({ shutdownAfterJobFinishes: false });
    expect("ttlSecondsAfterFinished" in spec).toBe(false);
  });

  it("reads the older runtime environment", () => {
    const runtimeEnv = Buffer.from('{"pip": ["numpy"]}').toString("base64");
    expect(buildSample("ray", { runtimeEnv }).spec.runtimeEnvYAML).toBe('{"pip":["numpy"]}');
    expect(() => buildSample("ray", { runtimeEnv: "AAAA" })).toThrow("runtime_env: is not JSON");
  });

  it("follows the settings of the installation", () => {
    const ray = {
      serviceAccount: "ray",
      submissionMode: "HTTPMode",
      defaults: { headNode: { startParameters: { "object-store-memory": "1" } } },
      logsSidecar: { name: "logs", image: "fluent:1" },
    };
    const { spec } = buildSample("ray", {}, { settings: { ray } });
    expect(spec.submissionMode).toBe("HTTPMode");
    expect("submitterPodTemplate" in spec).toBe(false);
    const { rayStartParams, template } = clusterOf(spec).headGroupSpec;
    expect(rayStartParams).toMatchObject({ "object-store-memory": "1" });
    expect(template.spec.serviceAccountName).toBe("ray");
    expect(template.spec.containers[1]).toEqual({
      name: "logs",
      image: "fluent:1",
      volumeMounts: [{ name: "system-ray-state", mountPath: "/tmp/ray", readOnly: true }],
    });
    expect(template.spec.volumes).toEqual([{ name: "system-ray-state", emptyDir: {} }]);
  });
});

it("the command line quotes what a shell would change", () => {
  expect(shellCommand(["a", "", "b c", "it's", "$x", "s3://b/k"])).toBe(`a '' 'b c' 'it'\\''s' '$x' s3://b/k`);
});

describe("the state of a RayJob", () => {
  const state = (status: JsonObject) => rayStatus({ metadata: { name: "j" }, status });

  it.each<[JsonObject, object]>([
    [{}, { phase: "QUEUED", reason: "Scheduling", unobserved: true }],
    [{ jobDeploymentStatus: "Initializing" }, { phase: "INITIALIZING", reason: "cluster is creating" }],
    [{ jobDeploymentStatus: "Waiting" }, { phase: "INITIALIZING", reason: "Waiting" }],
    [{ jobDeploymentStatus: "Retrying" }, { phase: "INITIALIZING", reason: "Retrying" }],
    [{ jobDeploymentStatus: "Running" }, { phase: "RUNNING" }],
    [{ jobDeploymentStatus: "Running", jobStatus: "Failure" }, { phase: "RUNNING" }],
    [{ jobDeploymentStatus: "Running", jobStatus: "SUCCEEDED" }, { kind: "succeeded" }],
    // KubeRay would replace the cluster of a job whose submitter has not ended.
    [
      { jobDeploymentStatus: "Running", jobStatus: "FAILED" },
      { phase: "RUNNING", reason: "the Ray job has ended as FAILED; its submitter still runs" },
    ],
    [{ jobDeploymentStatus: "Suspended" }, { phase: "QUEUED", reason: "Suspended" }],
    [{ jobDeploymentStatus: "Complete" }, { kind: "succeeded" }],
    [
      { jobDeploymentStatus: "Complete", jobStatus: "STOPPED" },
      { kind: "failed", failure: { details: { kind: "USER" } } },
    ],
    [
      { jobDeploymentStatus: "Failed", jobStatus: "FAILED", reason: "AppFailed", message: "exit 1" },
      {
        kind: "failed",
        failure: {
          recoverable: true,
          message: "Failed to run Ray job j with error: [AppFailed] exit 1",
          details: { code: "TaskFailedWithError", kind: "USER", cleanup: true },
        },
      },
    ],
    // KubeRay says this of a job that was lost with its head.
    [
      { jobDeploymentStatus: "Failed", jobStatus: "RUNNING", reason: "AppFailed", message: "Ray job not found" },
      { failure: { recoverable: true, details: { kind: "SYSTEM" } } },
    ],
    [{ jobDeploymentStatus: "Failed", reason: "DeadlineExceeded" }, { failure: { recoverable: true, details: { kind: "SYSTEM" } } }],
    [
      { jobDeploymentStatus: "ValidationFailed", message: "bad name" },
      { failure: { recoverable: false, details: { code: "BadTaskSpecification" } } },
    ],
  ])("reads %j", (status, expected) => {
    expect(state(status)).toMatchObject(expected);
  });
});
