import { defineService, leaderElectionPermission } from "@flyte-ts/service-manifest";

/** Types that run as one pod where no service for an operator runs them. */
const ONE_POD_TASK_TYPES = ["spark", "ray", "dask"];

const logLinks = (podLogUri: string) => [{ name: "Kubernetes Logs", uris: [podLogUri] }];

export const manifest = defineService({
  id: "plugin-pod",
  description: "Runs container, Python and raw-container tasks as pods.",
  plane: "data",
  taskTypes: ["container", "python-task", "raw-container", "sidecar", "eager_failure_handler_task", "sqlite"],
  configurableTaskTypes: ONE_POD_TASK_TYPES,
  opsPort: 10_260,
  requires: { bus: {}, blobStore: {}, kubernetes: "own" },
  permissions: [
    {
      scope: "cluster",
      resources: ["pods"],
      verbs: ["create", "delete", "get", "list", "patch", "watch"],
      reason: "Runs tasks.",
      rareVerbs: {
        get: "the pod that it creates already exists",
        patch: "attempts take and free warm pods, with `warmPods.enabled`, which is off",
      },
    },
    {
      scope: "cluster",
      resources: ["pods/log"],
      verbs: ["get"],
      reason: "Archives logs, with `logArchive.enabled`, and learns the ends of attempts in reused warm pods.",
      rareVerbs: { get: "logs are archived, or warm pods are reused; both are off" },
    },
    {
      scope: "cluster",
      resources: ["podtemplates"],
      verbs: ["get"],
      reason: "Reads the pod templates that tasks name.",
      rareVerbs: { get: "a task names a pod template" },
    },
    {
      scope: "cluster",
      apiGroup: "flyte.lyft.com",
      resources: ["flyteworkflows/finalizers"],
      verbs: ["update"],
      reason: "Pods block the deletion of their workflow: clusters with OwnerReferencesPermissionEnforcement require this.",
      rareVerbs: { update: "no request: the admission plugin looks the permission up when a pod is created" },
    },
    {
      scope: "cluster",
      resources: ["events"],
      verbs: ["list", "watch"],
      reason: "Shows why a pod does not start, with `warningEvents`.",
    },
    leaderElectionPermission,
  ],
  kubernetes: {
    comment: "One replica leads, the other is a standby.",
    resources: { requests: { cpu: "200m", memory: "192Mi" }, limits: { memory: "1Gi" } },
    podFields: { LEAD__NAMESPACE: "metadata.namespace" },
  },
  settings: {
    kubernetes: { lead: { enabled: true } },
    // Pods are processes of the cluster's container, whose image contains copilot.
    compose: { pods: { copilot: { command: ["/usr/local/bin/node", "/copilot/main.mjs"] } } },
    composeSecret: ({ podLogUri }) => ({ logLinks: logLinks(podLogUri) }),
    stack: ({ podLogUri, runsPods, podEnvironment, copilotCommand, otherTaskTypes, pythonInstall }) => ({
      logLinks: logLinks(podLogUri),
      onePod: {
        taskTypes: ONE_POD_TASK_TYPES.filter((taskType) => !otherTaskTypes.includes(taskType)),
        // Nodes of another cluster run images, which contain the packages.
        ...(runsPods ? { installCommand: pythonInstall.command, installEnv: pythonInstall.environment } : {}),
      },
      // On this machine, the local cluster sets the environment of the pods' processes itself.
      pods: runsPods ? { copilot: { command: copilotCommand } } : { environment: { env: podEnvironment } },
    }),
  },
  metricsPrefix: "flyte_plugin_",
});
