import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { Resources_ResourceName as R, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { ResourceSetSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { sampleRequest } from "@flyte-ts/task-plugin/harness";
import { describe, expect, it } from "vitest";
import { buildPod } from "../build/build-pod.js";
import { onePodSettings, podSettings } from "../settings.js";
import { describeOnePod } from "./as-one-pod.js";

const onePod = onePodSettings.parse({ taskTypes: ["spark", "ray", "dask"] });
const quantity = (name: R, value: string) => ({ name, value });

interface Task {
  readonly custom?: JsonObject;
  readonly cpu?: string;
  readonly memory?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: Record<string, string>;
  readonly target?: MessageInitShape<typeof TaskTemplateSchema>["target"];
}

function podOf(type: string, { custom = {}, cpu, memory, env = {}, target, config = {} }: Task = {}, settings = onePod) {
  const limits = [...(cpu ? [quantity(R.CPU, cpu)] : []), ...(memory ? [quantity(R.MEMORY, memory)] : [])];
  const value = {
    image: "example/image:1",
    args: ["pyflyte-execute", "--inputs", "{{.input}}"],
    env: Object.entries(env).map(([key, value]) => ({ key, value })),
    resources: { limits },
  };
  const request = sampleRequest(type, {
    template: create(TaskTemplateSchema, { type, custom, config, target: target ?? { case: "container", value } }),
    resourceDefaults: create(ResourceSetSchema, { cpu: "500m", memory: "500Mi" }),
    resourceLimits: create(ResourceSetSchema, { cpu: "16", memory: "8Gi" }),
  });
  return buildPod(request, { config: podSettings.parse({}), onePod: settings });
}

const containerOf = (...task: Parameters<typeof podOf>) => podOf(...task).spec.containers[0];
const variable = (name: string, ...task: Parameters<typeof podOf>) =>
  containerOf(...task)?.env?.find((entry) => entry.name === name)?.value;

describe("Spark as one pod", () => {
  const master = (sparkConf: JsonObject, cpu: string) =>
    variable("PYSPARK_SUBMIT_ARGS", "spark", { custom: { sparkConf }, cpu })?.split(" ")[1];

  it("has as many threads as executors have cores, but no more than the pod has CPUs", () => {
    expect(master({ "spark.executor.instances": "3", "spark.executor.cores": "2" }, "8")).toBe("'local[6]'");
    expect(master({ "spark.executor.instances": "3", "spark.executor.cores": "2" }, "3500m")).toBe("'local[4]'");
    expect(master({ "spark.executor.instances": "two" }, "4")).toBe("'local[1]'");
    expect(master({}, "4")).toBe("'local[4]'");
  });

  it("passes the settings that hold without a cluster, quoted for the shell", () => {
    const sparkConf = {
      "spark.sql.shuffle.partitions": "4",
      "spark.ui.enabled": "true",
      "spark.app.name": "it's $(HOME)",
      "spark.master": "k8s://somewhere",
      "spark.kubernetes.namespace": "other",
      "spark.driver.host": "elsewhere",
    };
    expect(variable("PYSPARK_SUBMIT_ARGS", "spark", { custom: { sparkConf, hadoopConf: { "fs.s3a.endpoint": "http://x" } } })).toBe(
      [
        "--master 'local[1]' --conf spark.driver.host=127.0.0.1 --conf spark.driver.bindAddress=127.0.0.1 --conf spark.ui.enabled=true",
        `--conf spark.sql.shuffle.partitions=4 --conf 'spark.app.name=it'"'"'s $$(HOME)'`,
        "--conf spark.hadoop.fs.s3a.endpoint=http://x pyspark-shell",
      ].join(" "),
    );
  });

  it("leaves arguments that the task sets itself", () => {
    expect(variable("PYSPARK_SUBMIT_ARGS", "spark", { env: { PYSPARK_SUBMIT_ARGS: "pyspark-shell" } })).toBe("pyspark-shell");
  });

  it.each([
    [{ applicationType: "SCALA" }, "custom.applicationType: is SCALA"],
    [{ applicationType: "JAVA", mainClass: "org.example.Main" }, "custom.applicationType: is JAVA"],
    [{ mainClass: "org.example.Main" }, 'custom.mainClass: is "org.example.Main"'],
    [{ applicationType: 7 }, "custom.applicationType: is 7"],
    [{ sparkConf: 3 }, "custom: is no SparkJob"],
  ])("rejects %j", (custom, message) => {
    expect(() => podOf("spark", { custom })).toThrow(message);
  });
});

describe("Ray as one pod", () => {
  const cpus = (rayCluster: JsonObject, cpu: string) => variable("RAY_OVERRIDE_RESOURCES", "ray", { custom: { rayCluster }, cpu });
  const group = (replicas: number, cpu?: string) => ({
    groupName: "g",
    replicas,
    ...(cpu === undefined ? {} : { k8sPod: { podSpec: { containers: [{ name: "ray-worker", resources: { requests: { cpu } } }] } } }),
  });

  it("has the CPUs of the requested cluster", () => {
    expect(cpus({ workerGroupSpec: [group(2)] }, "2")).toBe('{"CPU":6}');
    expect(cpus({ workerGroupSpec: [group(1, "4"), group(1)] }, "1")).toBe('{"CPU":6}');
    expect(cpus({}, "500m")).toBe('{"CPU":1}');
  });

  it("has no more than eight CPUs, unless one node has more", () => {
    expect(cpus({ workerGroupSpec: [group(1_000_000)] }, "1")).toBe('{"CPU":8}');
    expect(cpus({ workerGroupSpec: [group(1, "12")] }, "1")).toBe('{"CPU":12}');
  });

  it("starts a local cluster without usage statistics", () => {
    expect(variable("RAY_ADDRESS", "ray")).toBe("local");
    expect(variable("RAY_USAGE_STATS_ENABLED", "ray")).toBe("0");
  });
});

describe("Dask as one pod", () => {
  it("runs the task's command under the launcher, with the requested workers", () => {
    const container = containerOf("dask", { custom: { workers: { numberOfWorkers: 3 } }, cpu: "7" });
    expect(container?.command?.slice(0, 2)).toEqual(["python3", "-c"]);
    expect(container?.command?.slice(3)).toEqual(["3", "2", "180"]);
    expect(container?.args?.[0]).toBe("pyflyte-execute");
  });

  it("starts at least one worker and at most eight", () => {
    const workers = (numberOfWorkers: number) => containerOf("dask", { custom: { workers: { numberOfWorkers } } })?.command?.[3];
    expect([workers(0), workers(1), workers(100)]).toEqual(["1", "1", "8"]);
  });
});

describe("the pod of an operator's task", () => {
  it("gets memory for a cluster, unless the task requests memory", () => {
    const limit = (task: Task, memory = "4Gi") => containerOf("ray", task, { ...onePod, memory })?.resources?.limits?.["memory"];
    expect(limit({})).toBe("4Gi");
    expect(limit({ memory: "1Gi" })).toBe("1Gi");
    // Admin writes the default of the platform into tasks without a request.
    expect(limit({ memory: "500Mi" })).toBe("4Gi");
    expect(limit({}, "64Gi")).toBe("8Gi");
    const podSpec = { containers: [{ name: "main", args: ["x"], resources: { requests: { memory: "2Gi" } } }] };
    const target = { case: "k8sPod", value: { podSpec } } as const;
    expect(limit({ target, config: { primary_container_name: "main" } })).toBe("2Gi");
  });

  it("installs packages first where a command for it is set", () => {
    const settings = { ...onePod, installCommand: ["install", "--extra"], installEnv: { HOME: "/home/me" } };
    expect(podOf("dask", {}, settings).spec.initContainers).toEqual([
      {
        name: "install-dask",
        image: "example/image:1",
        command: ["install", "--extra", "dask"],
        env: [{ name: "HOME", value: "/home/me" }],
        terminationMessagePolicy: "FallbackToLogsOnError",
      },
    ]);
    expect(describeOnePod("dask", settings)?.reason).toMatch(/one pod: no Dask operator; installs the packages of Dask first/);
    expect(describeOnePod("dask", onePod)).toEqual({
      reason: "task submitted to K8s, runs as one pod: no Dask operator",
      customInfo: { mode: "runs as one pod: no Dask operator" },
    });
  });

  it("stays as it is for other types, and where the setting names none", () => {
    const none = onePodSettings.parse({});
    expect(containerOf("python-task")).toEqual(containerOf("python-task", {}, none));
    expect(containerOf("spark", {}, none)?.env?.some(({ name }) => name === "PYSPARK_SUBMIT_ARGS")).toBe(false);
    expect(describeOnePod("python-task", onePod)).toBeUndefined();
    expect(describeOnePod("spark", none)).toBeUndefined();
  });
});
