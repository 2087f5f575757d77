// Kubernetes objects of one service, from its manifest.
import { commented } from "./yaml.mjs";

const NAME = "app.kubernetes.io/name";
/** Port of health and metrics in every container. */
const OPS_PORT = 10_254;
/** Secrets → their keys, as environment variables that the clients of blob stores read. */
const BLOB_STORE_SECRETS = [
  ["AWS_ACCESS_KEY_ID", "access-key-id"],
  ["AWS_SECRET_ACCESS_KEY", "secret-access-key"],
  ["AZURE_STORAGE_ACCOUNT_KEY", "azure-account-key"],
];

/**
 * Lists the objects of a deployed service, in the order of its file. `settings`, `site`: names of
 * ConfigMaps.
 */
export function serviceObjects(service, { settings, site }) {
  return [
    serviceAccount(service),
    ...(service.requires.kubernetes === "own" ? accessObjects(service) : []),
    workload(service, { settings, site }),
    kubernetesService(service),
    ...(service.kubernetes.autoscaling === undefined ? [] : [autoscaler(service)]),
    disruptionBudget(service),
  ];
}

/**
 * Roles of a service, with their bindings. Rules of a component are granted by the component only.
 */
export function accessObjects(service, component) {
  const rules = service.permissions.filter((rule) => rule.component === component);
  const name = component === undefined ? service.names.kubernetes : `${service.names.kubernetes}-${component}`;
  return ["cluster", "namespace"].flatMap((scope) => {
    const scoped = rules.filter((rule) => rule.scope === scope);
    return scoped.length === 0 ? [] : roleWithBinding({ name, account: service.names.kubernetes, scope, rules: scoped });
  });
}

function roleWithBinding({ name, account, scope, rules }) {
  const kind = scope === "cluster" ? "ClusterRole" : "Role";
  const apiVersion = "rbac.authorization.k8s.io/v1";
  return [
    { apiVersion, kind, metadata: { name }, rules: rules.map(policyRule) },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name },
      // Kustomize adds the namespace that the overlay gives the account.
      subjects: [{ kind: "ServiceAccount", name: account }],
    },
  ];
}

function policyRule({ apiGroup, resources, verbs, reason, whenServed }) {
  const text = whenServed === undefined ? reason : `${reason} Applies where the cluster serves ${whenServed}.`;
  return commented(text, {
    apiGroups: [apiGroup],
    resources: [...resources],
    verbs: [...verbs],
  });
}

function serviceAccount({ names }) {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: names.kubernetes }, automountServiceAccountToken: false };
}

function metadata({ names }) {
  return { name: names.kubernetes, labels: { [NAME]: names.kubernetes } };
}

function workload(service, configMaps) {
  const { names, kubernetes, plane, requires } = service;
  const labels = { [NAME]: names.kubernetes };
  const object = {
    apiVersion: "apps/v1",
    kind: kubernetes.kind,
    metadata: metadata(service),
    spec: {
      // The autoscaler sets the number of replicas.
      ...(kubernetes.autoscaling === undefined && { replicas: kubernetes.replicas }),
      ...(kubernetes.kind === "StatefulSet"
        ? { serviceName: names.kubernetes, podManagementPolicy: "Parallel" }
        : { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }),
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: names.kubernetes,
          ...(plane === "data" && { automountServiceAccountToken: requires.kubernetes === "own" }),
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: "kubernetes.io/hostname",
              whenUnsatisfiable: "ScheduleAnyway",
              labelSelector: { matchLabels: labels },
            },
          ],
          containers: [container(service)],
          volumes: [
            { name: "settings", configMap: { name: configMaps.settings } },
            { name: "site", configMap: { name: configMaps.site } },
          ],
        },
      },
    },
  };
  return kubernetes.comment === undefined ? object : commented(kubernetes.comment, object);
}

function container(service) {
  const { id, names, ports, kubernetes } = service;
  return {
    name: id,
    image: `flyte-ts/${names.image}`,
    args: ["--config", `/etc/flyte/settings/${id}.yaml`, "--config", `/etc/flyte/site/${id}.yaml`],
    ports: ports.map(({ name, containerPort }) => ({ name, containerPort })),
    env: environment(service),
    resources: kubernetes.resources,
    volumeMounts: [
      { name: "settings", mountPath: "/etc/flyte/settings", readOnly: true },
      { name: "site", mountPath: "/etc/flyte/site", readOnly: true },
    ],
  };
}

function environment({ id, names, requires, kubernetes, secrets }) {
  const { envPrefix } = names;
  return [
    ...(requires.database === undefined ? [] : [fromSecret(`${envPrefix}DATABASE__URL`, { name: "flyte-database", key: id })]),
    ...(requires.bus === undefined ? [] : [fromSecret(`${envPrefix}NATS__URL`, { name: "flyte-bus", key: id })]),
    ...Object.entries(kubernetes.podFields).map(([setting, fieldPath]) => ({
      name: `${envPrefix}${setting}`,
      valueFrom: { fieldRef: { fieldPath } },
    })),
    ...(requires.blobStore === undefined
      ? []
      : BLOB_STORE_SECRETS.map(([variable, key]) => fromSecret(variable, { name: "flyte-blobs", key, optional: true }))),
    ...secrets.map(({ variable, secret, key, optional }) => fromSecret(variable, { name: secret, key, ...(optional && { optional }) })),
  ];
}

function fromSecret(name, secretKeyRef) {
  return { name, valueFrom: { secretKeyRef } };
}

function kubernetesService(service) {
  const { names, ports } = service;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadata(service),
    spec: {
      // Without ports of its own it only lets Prometheus find the pods.
      ...(ports.length === 0 && { clusterIP: "None" }),
      selector: { [NAME]: names.kubernetes },
      ports: [
        ...ports.map(({ name, servicePort, appProtocol }) => ({
          name,
          port: servicePort,
          targetPort: name,
          ...(appProtocol !== undefined && { appProtocol }),
        })),
        { name: "ops", port: OPS_PORT, targetPort: "ops" },
      ],
    },
  };
}

function autoscaler(service) {
  const { minReplicas, maxReplicas, cpuUtilizationPercent } = service.kubernetes.autoscaling;
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: metadata(service),
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: service.kubernetes.kind, name: service.names.kubernetes },
      minReplicas,
      maxReplicas,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: cpuUtilizationPercent } } },
      ],
      // A quiet minute between two bursts removes no replica.
      behavior: { scaleDown: { stabilizationWindowSeconds: 300, policies: [{ type: "Pods", value: 1, periodSeconds: 60 }] } },
    },
  };
}

function disruptionBudget(service) {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: metadata(service),
    spec: { maxUnavailable: 1, selector: { matchLabels: { [NAME]: service.names.kubernetes } } },
  };
}
