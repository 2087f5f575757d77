import { defineService, leaderElectionPermission } from "@flyte-ts/service-manifest";

/** API group and version, and the resource, of each kind. */
const KINDS = [
  { apiGroup: "kubeflow.org", version: "v1", resources: ["pytorchjobs", "tfjobs", "mpijobs"], operator: "the training operator" },
  { apiGroup: "ray.io", version: "v1", resources: ["rayjobs"], operator: "KubeRay" },
  { apiGroup: "kubernetes.dask.org", version: "v1", resources: ["daskjobs"], operator: "the Dask operator" },
  { apiGroup: "sparkoperator.k8s.io", version: "v1beta2", resources: ["sparkapplications"], operator: "the Spark operator" },
] as const;

export const manifest = defineService({
  id: "plugin-operator",
  description: "Runs tasks of PyTorch, TensorFlow, MPI, Ray, Dask and Spark as resources of their Kubernetes operators.",
  plane: "data",
  optional: true,
  taskTypes: ["pytorch", "tensorflow", "mpi", "ray", "dask", "spark"],
  opsPort: 10_264,
  requires: { bus: {}, blobStore: {}, kubernetes: "own" },
  permissions: [
    ...KINDS.map(({ apiGroup, version, resources, operator }) => ({
      scope: "cluster" as const,
      apiGroup,
      resources: [...resources],
      verbs: ["create", "delete", "get", "list", "watch"],
      reason: `Runs tasks with ${operator}.`,
      whenServed: `${apiGroup}/${version}`,
    })),
    {
      scope: "cluster",
      apiGroup: "ray.io",
      resources: ["rayclusters"],
      verbs: ["delete"],
      reason: "Stops the clusters of failed Ray jobs before their tasks are retried.",
      whenServed: "ray.io/v1",
      rareVerbs: { delete: "a Ray job has failed" },
    },
    {
      scope: "cluster",
      resources: ["pods"],
      verbs: ["delete", "list", "watch"],
      reason: "Follows the pods below operators' resources, and stops those that an ended job leaves running.",
      rareVerbs: { delete: "a job of the training operator has ended" },
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
      reason: "Resources block the deletion of their workflow: clusters with OwnerReferencesPermissionEnforcement require this.",
      rareVerbs: { update: "no request: the admission plugin looks the permission up when a resource is created" },
    },
    {
      scope: "cluster",
      resources: ["events"],
      verbs: ["list", "watch"],
      reason: "Shows why the pods of a job do not start, with `warningEvents`.",
    },
    leaderElectionPermission,
  ],
  kubernetes: {
    comment: "One replica leads, the other is a standby.",
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "1Gi" } },
    podFields: { LEAD__NAMESPACE: "metadata.namespace" },
  },
  settings: {
    kubernetes: { lead: { enabled: true } },
    composeSecret: ({ podLogUri }) => ({ logLinks: [{ name: "Kubernetes Logs", uris: [podLogUri] }] }),
    stack: ({ podLogUri, runsPods, podEnvironment }) => ({
      logLinks: [{ name: "Kubernetes Logs", uris: [podLogUri] }],
      // On this machine, the local cluster sets the environment of the pods' processes itself.
      ...(runsPods ? {} : { pods: { environment: { env: podEnvironment } } }),
    }),
  },
  metricsPrefix: "flyte_plugin_",
});
