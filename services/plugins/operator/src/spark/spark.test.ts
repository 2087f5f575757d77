import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { operatorServiceConfig } from "../config.js";
import { buildSample } from "../simulation/build-sample.js";
import { sparkOperator } from "./spark.js";
import { sparkStatus } from "./status.js";

interface Role {
  readonly labels: Readonly<Record<string, string>>;
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly template?: { readonly spec: { readonly containers: readonly Record<string, unknown>[] } & Record<string, unknown> };
  readonly [field: string]: unknown;
}

const role = (spec: JsonObject, name: "driver" | "executor") => spec[name] as unknown as Role;

describe("a SparkApplication", () => {
  const custom = {
    applicationType: "PYTHON",
    mainApplicationFile: "local:///opt/entrypoint.py",
    executorPath: "/usr/bin/python3",
    sparkConf: {
      "spark.driver.cores": "1",
      "spark.driver.memory": "1000M",
      "spark.executor.cores": "2",
      "spark.executor.instances": "3",
      "spark.executor.memory": "2g",
      "spark.kubernetes.executor.request.cores": "1",
      "spark.batchScheduler": "volcano",
    },
    hadoopConf: { "fs.x": "y" },
  };

  it("has the fields of the task", () => {
    const job = buildSample("spark", custom);
    expect(job).toMatchObject({ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication" });
    const { sparkConf, driver: _, executor: __, arguments: args, ...rest } = job.spec;
    expect(rest).toEqual({
      type: "Python",
      mode: "cluster",
      image: "example/image:1",
      mainApplicationFile: "local:///opt/entrypoint.py",
      hadoopConf: { "fs.x": "y" },
      restartPolicy: { type: "OnFailure", onSubmissionFailureRetries: 14 },
      batchScheduler: "volcano",
    });
    expect(args).toEqual(["pyflyte-execute", "--inputs", expect.stringContaining("/n0/data/inputs.pb")]);
    expect(sparkConf).toMatchObject({
      "spark.pyspark.python": "/usr/bin/python3",
      "spark.pyspark.driver.python": "/usr/bin/python3",
      "spark.kubernetes.driver.limit.cores": "1",
      "spark.kubernetes.executor.limit.cores": "1",
      "spark.kubernetes.executor.podNamePrefix": "a1b2c3d4e5f6g7h8i9j0-n0-0",
      "spark.kubernetes.driverEnv.FLYTE_START_TIME": String(Date.parse("2026-01-02T03:04:05Z")),
    });
  });

  it("has a driver and executors of the sizes that the configuration names", () => {
    const { spec } = buildSample("spark", custom);
    expect(role(spec, "driver")).toMatchObject({ cores: 1, memory: "1000M", serviceAccount: "spark", image: "example/image:1" });
    expect(role(spec, "executor")).toMatchObject({ cores: 2, memory: "2g", instances: 3, serviceAccount: "spark" });
    expect(role(spec, "driver").env.at(-1)).toEqual({ name: "FLYTE_MAX_ATTEMPTS", value: "1" });
    expect(role(spec, "driver").labels).toMatchObject({ "flyte.org/job": "a1b2c3d4e5f6g7h8i9j0-n0-0" });
  });

  it("leaves out numbers that are none", () => {
    expect("cores" in role(buildSample("spark", { ...custom, sparkConf: { "spark.driver.cores": "many" } }).spec, "driver")).toBe(false);
  });

  it("gives the rest of the pod to newer operators as a template", () => {
    const podSpec = {
      imagePullSecrets: [{ name: "registry" }],
      volumes: [{ name: "data", emptyDir: {} }],
      tolerations: [{ key: "driver", operator: "Exists" }],
      containers: [{ name: "primary", volumeMounts: [{ name: "data", mountPath: "/data" }], env: [{ name: "OWN", value: "1" }] }],
    };
    const change = ({ template }: { template?: { target: { case?: string; value?: unknown } } | undefined }) => {
      if (template === undefined) return;
      const podSpecOfTask = {
        containers: [
          { name: "primary", image: "example/image:1" },
          { name: "sidecar", image: "s:1" },
        ],
      };
      template.target = { case: "k8sPod", value: { podSpec: podSpecOfTask } };
      Object.assign(template, { config: { primary_container_name: "primary" } });
    };
    const { spec } = buildSample(
      "spark",
      { ...custom, driverPod: { podSpec, primaryContainerName: "primary" } },
      { change: change as never },
    );
    const driver = role(spec, "driver");
    expect(driver).toMatchObject({ tolerations: [{ key: "driver" }] });
    expect(driver.env).toContainEqual({ name: "OWN", value: "1" });
    expect(driver.template?.spec).toMatchObject({ imagePullSecrets: [{ name: "registry" }], volumes: [{ name: "data" }] });
    expect(driver.template?.spec.containers).toMatchObject([
      { name: "spark-kubernetes-driver", volumeMounts: [{ name: "data", mountPath: "/data" }] },
      { name: "sidecar", image: "s:1" },
    ]);
    expect("tolerations" in (driver.template?.spec ?? {})).toBe(false);
    expect(role(spec, "executor").template?.spec.containers.map(({ name }) => name)).toEqual(["spark-kubernetes-executor", "sidecar"]);
  });

  it("has no template where the settings say so", () => {
    expect(role(buildSample("spark", custom, { settings: { spark: { podTemplates: false } } }).spec, "driver").template).toBeUndefined();
  });

  it("replaces the switch of a feature by its configuration", () => {
    const spark = { defaultConfig: { a: "1", b: "1" }, features: [{ name: "delta", config: { "spark.delta": "on" } }] };
    const sparkConf = { "spark.flyte.delta.enabled": "true", "spark.flyteorg.other.enabled": "true", b: "2" };
    const { spec } = buildSample("spark", { ...custom, sparkConf }, { settings: { spark } });
    expect(spec.sparkConf).toMatchObject({ a: "1", b: "2", "spark.delta": "on", "spark.flyteorg.other.enabled": "true" });
    expect(Object.keys(spec.sparkConf as object)).not.toContain("spark.flyte.delta.enabled");
  });

  it("needs a main file or class", () => {
    expect(() => buildSample("spark", { sparkConf: {} })).toThrow("either mainApplicationFile or mainClass is required");
  });
});

describe("the state of a SparkApplication", () => {
  const job = (state: string, more: JsonObject = {}) => ({
    metadata: { name: "j" },
    status: { applicationState: { state, errorMessage: "boom" }, ...more },
  });

  it.each<[string, object]>([
    ["", { phase: "QUEUED", reason: "job queued", unobserved: true }],
    ["SUBMITTED", { phase: "INITIALIZING", reason: "job submitted" }],
    ["SUBMISSION_FAILED", { phase: "INITIALIZING", reason: "the submission failed and is repeated: boom" }],
    ["PENDING_RERUN", { phase: "INITIALIZING" }],
    ["SUSPENDED", { phase: "QUEUED" }],
    ["RUNNING", { phase: "RUNNING" }],
    ["UNKNOWN", { phase: "RUNNING" }],
    ["COMPLETED", { kind: "succeeded" }],
    [
      "FAILED",
      {
        kind: "failed",
        failure: { message: "Spark Job Failed with Error: boom", details: { code: "DownstreamSystemError", kind: "USER" } },
      },
    ],
  ])("reads %j", (state, expected) => {
    expect(sparkStatus(job(state))).toMatchObject(expected);
  });

  it("links the driver's page while it runs and the history afterwards", () => {
    const { spark } = operatorServiceConfig.parse({ nats: { url: "" }, spark: { historyServerUrl: "https://history/" } });
    const operator = sparkOperator(spark);
    const running = job("RUNNING", { driverInfo: { webUIIngressAddress: "driver.example" } });
    expect(operator.details(running, operator.status(running, []))).toMatchObject({
      links: [{ name: "Spark Driver UI", uri: "https://driver.example" }],
      customInfo: { sparkDriverUI: "https://driver.example" },
    });
    const ended = job("COMPLETED", { sparkApplicationId: "spark-1" });
    expect(operator.details(ended, operator.status(ended, []))).toMatchObject({
      links: [{ name: "Spark History UI", uri: "https://history/history/spark-1" }],
      customInfo: { sparkHistoryUI: "https://history/history/spark-1" },
    });
  });
});
