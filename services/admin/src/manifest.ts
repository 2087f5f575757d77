import { defineService } from "@flyte-ts/service-manifest";

/** On one machine a task that is alone on its node may use all idle processors. */
const ONE_MACHINE = {
  taskResources: {
    defaults: { cpu: "500m", memory: "500Mi" },
    defaultLimits: { cpu: "4" },
    limits: { cpu: "4", memory: "4Gi", gpu: "1" },
  },
  registration: { maxWorkflowNodes: 100_000 },
};

/** The image of admin contains the files of the web console. */
const IMAGE_CONSOLE = { folder: "/app/console" };

export const manifest = defineService({
  id: "admin",
  description: "Serves the public API, records executions and creates their resources.",
  plane: "control",
  ports: [
    { name: "http", containerPort: 8088, servicePort: 80 },
    { name: "grpc", containerPort: 8089, servicePort: 81, appProtocol: "kubernetes.io/h2c" },
  ],
  opsPort: 10_254,
  requires: {
    // Admin's rows refer to no other database; those of the other databases refer to admin's.
    database: { name: "flyteadmin", stackName: "postgres", backupPosition: 3 },
    bus: {
      publishes: ["flyte.recorded.*", "flyte.wake.*", "flyte.admin.changed"],
      subscribes: ["flyte.admin.changed", "flyte.plugin.hello.*", "flyte.plugin.at.*.hello.*"],
      createsStreams: ["FLYTE_EVENTS"],
      consumes: [{ stream: "FLYTE_EVENTS", durable: "admin-ingest" }],
    },
    blobStore: { presigns: true },
    kubernetes: "data-planes",
  },
  auth: "issuer",
  connects: {
    "tracing.endpoint": "traces",
    "notifications.emailer.smtp.host": "mail",
    "notifications.webhooks.*.url": "https",
    "notifications.webhooks.*.urlFrom.file": "https",
    "notifications.webhooks.*.urlFrom.env": "https",
    "agents.endpoints.*": "connectors",
  },
  permissions: [
    {
      scope: "cluster",
      apiGroup: "flyte.lyft.com",
      resources: ["flyteworkflows"],
      verbs: ["create", "delete", "get"],
      reason: "Hands executions to propeller, and compares their rows with the resources.",
      rareVerbs: { get: "an execution has reported nothing for long" },
    },
    {
      scope: "cluster",
      resources: ["namespaces"],
      verbs: ["create"],
      reason: "Creates the namespace of a project and domain.",
    },
    {
      scope: "cluster",
      resources: ["pods", "pods/log"],
      verbs: ["get"],
      reason: "Streams the logs of a task to clients.",
      rareVerbs: { get: "a client follows a log" },
    },
    {
      scope: "cluster",
      component: "cluster-resources",
      resources: ["namespaces", "resourcequotas", "limitranges", "serviceaccounts"],
      verbs: ["create", "get", "patch"],
      reason: "Applies the templates of cluster resources. Extend the list for templates of other kinds.",
      rareVerbs: { create: "the server-side apply of a new object needs it, and is recorded as a patch" },
    },
  ],
  kubernetes: {
    name: "flyteadmin",
    autoscaling: { minReplicas: 2, maxReplicas: 10, cpuUtilizationPercent: 70 },
    resources: { requests: { cpu: "500m", memory: "384Mi" }, limits: { memory: "1536Mi" } },
  },
  settings: {
    kubernetes: { server: { host: "0.0.0.0", grpcPort: 8089, httpPort: 8088 }, console: IMAGE_CONSOLE },
    compose: {
      // Callers do not authenticate: the address of the gateway is published on the loopback
      // interface only.
      server: { host: "0.0.0.0", grpcPort: 30_080, httpPort: 30_080, openToNetwork: true, allowedHosts: ["api", "admin"] },
      storage: { container: "s3://my-s3-bucket" },
      clusters: [{ name: "local", kubeconfig: "/kubeconfig/config" }],
      console: IMAGE_CONSOLE,
      ...ONE_MACHINE,
    },
    stack: ({ host, apiPort, bucket, kubeconfig, runsPods, signIn, consoleFolder, blobOrigin }) => ({
      server: {
        host,
        grpcPort: apiPort,
        httpPort: apiPort,
        // Pods on nodes of another cluster call the API from other hosts.
        ...(!runsPods && !signIn ? { openToNetwork: true } : {}),
      },
      storage: { container: `s3://${bucket}` },
      clusters: [{ name: "local", kubeconfig }],
      console: { folder: consoleFolder, blobOrigins: [blobOrigin] },
      ...ONE_MACHINE,
    }),
  },
  metricsPrefix: "flyte_admin_",
});
