import { PROGRAM } from "./comparable.js";
import { pod, podWithoutArgs, SMALL } from "./expected-pods.js";
import { sparkApplication } from "./expected-spark.js";

/** Variables with which flytekit tells errors of workers apart. */
const WORKER_ENV = ["_F_WN", "_F_DES"];

/** Returns a replica group of the training operator. */
function replica(name: string, replicas: number, container: object = {}, restartPolicy = "Never") {
  return { replicas, restartPolicy, template: { spec: pod(name, { env: WORKER_ENV, ...container }) } };
}

/** Pods of a task keep their own policy, other than containers. */
const POD_TARGET = { terminationMessagePolicy: undefined };

/** Returns a replica group whose pods follow the task's `PodTemplate`. */
function templatedReplica(replicas: number) {
  const { template, ...group } = replica("pytorch", replicas, { ...POD_TARGET, env: ["MODE", ...WORKER_ENV] });
  const proxy = { name: "proxy", image: "proxy:v1", resources: {}, env: [] };
  const tolerations = [{ key: "gpu", operator: "Exists" }];
  return { ...group, template: { spec: { ...template.spec, containers: [...template.spec.containers, proxy], tolerations } } };
}

/** Returns a replica group whose pods have shared memory, as the PyTorch plugin adds it. */
function sharedMemoryReplica(replicas: number) {
  const { template, ...group } = replica("pytorch", replicas, { ...POD_TARGET, volumeMounts: [{ name: "shm", mountPath: "/dev/shm" }] });
  return { ...group, template: { spec: { ...template.spec, volumes: [{ name: "shm", emptyDir: { medium: "Memory" } }] } } };
}

const RAY_PORTS = [
  { name: "redis", containerPort: 6379 },
  { name: "head", containerPort: 10_001 },
  { name: "dashboard", containerPort: 8265 },
];
const RAY_WORKER = {
  env: [
    "RAY_DISABLE_DOCKER_CPU_WARNING",
    "TYPE",
    "CPU_REQUEST",
    "CPU_LIMITS",
    "MEMORY_REQUESTS",
    "MEMORY_LIMITS",
    "MY_POD_NAME",
    "MY_POD_IP",
  ],
  ports: RAY_PORTS,
  lifecycle: { preStop: { exec: { command: ["/bin/sh", "-c", "ray stop"] } } },
};
const RAY_START = { "node-ip-address": "$MY_POD_IP", "disable-usage-stats": "true" };

/** Specs of the operators' resources by task, for the name of the resource. */
export const EXPECTED_JOBS: Readonly<Record<string, (name: string) => object>> = {
  "light_tasks.pytorch": () => ({
    pytorchReplicaSpecs: {
      Master: replica("pytorch", 1, {}, "OnFailure"),
      Worker: replica("pytorch", 2, { image: "worker:v1", resources: SMALL }),
    },
    runPolicy: { cleanPodPolicy: "All", ttlSecondsAfterFinished: 60, activeDeadlineSeconds: 600, backoffLimit: 3 },
  }),
  "pod_tasks.pytorch_pod": () => ({
    pytorchReplicaSpecs: { Master: templatedReplica(1), Worker: templatedReplica(2) },
    runPolicy: {},
  }),
  "pod_tasks.elastic": () => ({
    pytorchReplicaSpecs: { Worker: sharedMemoryReplica(3) },
    elasticPolicy: { minReplicas: 2, maxReplicas: 3, rdzvBackend: "c10d", nProcPerNode: 4, maxRestarts: 5 },
    runPolicy: { cleanPodPolicy: "Running", backoffLimit: 2 },
  }),
  "light_tasks.tensorflow": () => ({
    tfReplicaSpecs: {
      Chief: replica("tensorflow", 1),
      Worker: replica("tensorflow", 2, { resources: SMALL }),
      PS: replica("tensorflow", 1, { image: "ps:v1" }),
      Evaluator: replica("tensorflow", 1, {}, "Always"),
    },
    runPolicy: {},
  }),
  "light_tasks.mpi": () => ({
    slotsPerWorker: 2,
    mpiReplicaSpecs: {
      Launcher: replica("mpi", 1),
      Worker: replica("mpi", 2, { args: ["/usr/sbin/sshd", "-De"], resources: SMALL }),
    },
    runPolicy: {},
  }),
  "light_tasks.horovod": () => ({
    slotsPerWorker: 2,
    mpiReplicaSpecs: { Launcher: replica("mpi", 1), Worker: replica("mpi", 2) },
    runPolicy: {},
  }),
  "light_tasks.ray": (name) => ({
    entrypoint: PROGRAM,
    shutdownAfterJobFinishes: true,
    ttlSecondsAfterFinished: 30,
    runtimeEnvYAML: "pip:\n- numpy\n",
    submitterPodTemplate: { spec: podWithoutArgs(name) },
    rayClusterSpec: {
      headGroupSpec: {
        serviceType: "NodePort",
        enableIngress: false,
        rayStartParams: { ...RAY_START, "include-dashboard": "true", "dashboard-host": "0.0.0.0", "log-color": "false" },
        template: { spec: podWithoutArgs("ray-head", { env: ["MY_POD_IP"], ports: RAY_PORTS, resources: SMALL }) },
      },
      workerGroupSpecs: [
        {
          groupName: "small",
          replicas: 2,
          minReplicas: 1,
          maxReplicas: 3,
          rayStartParams: RAY_START,
          template: { spec: podWithoutArgs("ray-worker", RAY_WORKER) },
        },
      ],
      enableInTreeAutoscaling: true,
    },
  }),
  "light_tasks.dask": (name) => ({
    job: { spec: pod("job-runner") },
    cluster: {
      spec: {
        scheduler: {
          spec: pod(
            "scheduler",
            {
              image: "scheduler:v1",
              args: ["dask", "scheduler"],
              ports: [
                { name: "tcp-comm", containerPort: 8786, protocol: "TCP" },
                { name: "http-dashboard", containerPort: 8787, protocol: "TCP" },
              ],
            },
            "Always",
          ),
          service: {
            type: "NodePort",
            selector: { "dask.org/cluster-name": name, "dask.org/component": "scheduler" },
            ports: [
              { name: "tcp-comm", protocol: "TCP", port: 8786, targetPort: "tcp-comm" },
              { name: "http-dashboard", protocol: "TCP", port: 8787, targetPort: "http-dashboard" },
            ],
          },
        },
        worker: {
          replicas: 2,
          spec: pod(
            "dask-worker",
            {
              args: ["dask", "worker", "--name", "$(DASK_WORKER_NAME)", "--nthreads", "1", "--memory-limit", "64Mi"],
              resources: SMALL,
            },
            "Always",
          ),
        },
      },
    },
  }),
  "client_tasks.spark": sparkApplication({ "fs.a": "b" }),
  "client_tasks.databricks_old": sparkApplication({}),
};
