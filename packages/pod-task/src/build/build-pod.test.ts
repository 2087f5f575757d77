import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { Secret_MountType, SecurityContextSchema } from "@flyte-ts/idl/flyteidl/core/security_pb";
import { ExtendedResourcesSchema, Resources_ResourceName as R, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { NodeOverridesSchema, ResourceSetSchema, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { sampleRequest } from "@flyte-ts/task-plugin/harness";
import { describe, expect, it } from "vitest";
import { podSettings } from "../settings.js";
import type { PodTemplate } from "../pod-types.js";
import { buildPod } from "./build-pod.js";
import type { PodConfig } from "./pod-config.js";

const config = (over: object = {}): PodConfig => podSettings.parse({ ...over });
const quantity = (name: R, value: string) => ({ name, value });

type Template = Omit<MessageInitShape<typeof TaskTemplateSchema>, "$typeName">;
function request(template: Template = {}, over: Partial<TaskRequest> = {}): TaskRequest {
  const sample = sampleRequest("python-task");
  return Object.assign(sample, {
    template: create(TaskTemplateSchema, {
      id: { project: "p", domain: "development", name: "tasks.work", version: "v1" },
      type: "python-task",
      target: {
        case: "container",
        value: {
          image: "example/image:1",
          args: [
            "run",
            "--inputs",
            "{{.input}}",
            "--out",
            "{{.outputPrefix}}",
            "--raw",
            "{{.rawOutputDataPrefix}}",
            "--prev",
            "{{.prevCheckpointPrefix}}",
          ],
          env: [{ key: "MINE", value: "1" }],
        },
      },
      ...template,
    }),
    resourceDefaults: create(ResourceSetSchema, { cpu: "500m", memory: "500Mi" }),
    resourceLimits: create(ResourceSetSchema, { cpu: "4", memory: "4Gi" }),
    ...over,
  });
}

describe("a container task", () => {
  it("gets the pod that a Go propeller creates", () => {
    const taskRequest = request();
    expect(buildPod(taskRequest, { config: config() })).toEqual({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "a1b2c3d4e5f6g7h8i9j0-n0-0",
        namespace: "p-development",
        labels: {
          domain: "development",
          "execution-id": "a1b2c3d4e5f6g7h8i9j0",
          interruptible: "false",
          "node-id": "n0",
          project: "p",
          "shard-key": "7",
          "task-name": "tasks-work",
          "workflow-name": "flows-main",
        },
        annotations: { "cluster-autoscaler.kubernetes.io/safe-to-evict": "false", primary_container_name: "a1b2c3d4e5f6g7h8i9j0-n0-0" },
        ownerReferences: [
          {
            apiVersion: "flyte.lyft.com/v1alpha1",
            kind: "flyteworkflow",
            name: "a1b2c3d4e5f6g7h8i9j0",
            uid: "00000000-0000-4000-8000-000000000001",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        restartPolicy: "Never",
        affinity: {},
        containers: [
          {
            name: "a1b2c3d4e5f6g7h8i9j0-n0-0",
            image: "example/image:1",
            args: [
              "run",
              "--inputs",
              taskRequest.inputUri,
              "--out",
              taskRequest.outputPrefix,
              "--raw",
              taskRequest.rawOutputPrefix,
              "--prev",
              '""',
            ],
            env: [
              { name: "MINE", value: "1" },
              { name: "FLYTE_INTERNAL_EXECUTION_WORKFLOW", value: "p:development:flows.main" },
              { name: "FLYTE_INTERNAL_EXECUTION_ID", value: "a1b2c3d4e5f6g7h8i9j0" },
              { name: "FLYTE_INTERNAL_EXECUTION_PROJECT", value: "p" },
              { name: "FLYTE_INTERNAL_EXECUTION_DOMAIN", value: "development" },
              { name: "FLYTE_ATTEMPT_NUMBER", value: "0" },
              { name: "FLYTE_INTERNAL_TASK_PROJECT", value: "p" },
              { name: "FLYTE_INTERNAL_TASK_DOMAIN", value: "development" },
              { name: "FLYTE_INTERNAL_TASK_NAME", value: "tasks.work" },
              { name: "FLYTE_INTERNAL_TASK_VERSION", value: "v1" },
            ],
            resources: { limits: { cpu: "500m", memory: "500Mi" }, requests: { cpu: "500m", memory: "500Mi" } },
            terminationMessagePolicy: "FallbackToLogsOnError",
          },
        ],
      },
    });
  });

  it("gets the variables of execution and installation after Flyte's, and the console URL if it has links", () => {
    const pod = buildPod(
      request(
        { config: { link_type: "profiler" } },
        { consoleUrl: "http://console/", environment: [{ $typeName: "flyteidl.core.KeyValuePair", key: "EXEC", value: "2" }] },
      ),
      { config: config({ environment: { env: { PLATFORM: "3" }, envFromSecrets: ["keys"] } }) },
    );
    const container = pod.spec.containers[0];
    expect(container?.env?.slice(-2)).toEqual([
      { name: "EXEC", value: "2" },
      { name: "PLATFORM", value: "3" },
    ]);
    expect(container?.env).toContainEqual({
      name: "FLYTE_EXECUTION_URL",
      value: "http://console/projects/p/domains/development/executions/a1b2c3d4e5f6g7h8i9j0/nodeId/n0/nodes",
    });
    expect(container?.envFrom).toEqual([{ secretRef: { name: "keys", optional: true } }]);
  });

  it.each<[string, Template["target"], object | undefined, object]>([
    [
      "a limit alone is the request too",
      { case: "container", value: { resources: { limits: [quantity(R.CPU, "2")] } } },
      undefined,
      { limits: { cpu: "2", memory: "500Mi" }, requests: { cpu: "2", memory: "500Mi" } },
    ],
    [
      "nothing above the platform's limit",
      { case: "container", value: { resources: { requests: [quantity(R.MEMORY, "64Gi")] } } },
      undefined,
      { limits: { cpu: "500m", memory: "4Gi" }, requests: { cpu: "500m", memory: "4Gi" } },
    ],
    [
      "no request above its limit",
      { case: "container", value: { resources: { requests: [quantity(R.CPU, "3")], limits: [quantity(R.CPU, "1")] } } },
      undefined,
      { limits: { cpu: "1", memory: "500Mi" }, requests: { cpu: "1", memory: "500Mi" } },
    ],
    [
      "GPUs by their name in the cluster",
      { case: "container", value: { resources: { limits: [quantity(R.GPU, "1")] } } },
      undefined,
      {
        limits: { cpu: "500m", memory: "500Mi", "nvidia.com/gpu": "1" },
        requests: { cpu: "500m", memory: "500Mi", "nvidia.com/gpu": "1" },
      },
    ],
    [
      "storage is ignored",
      { case: "container", value: { resources: { limits: [quantity(R.STORAGE, "1Gi")] } } },
      undefined,
      { limits: { cpu: "500m", memory: "500Mi" }, requests: { cpu: "500m", memory: "500Mi" } },
    ],
    [
      "the node's override wins, resource by resource",
      {
        case: "container",
        value: { resources: { requests: [quantity(R.CPU, "100m")], limits: [quantity(R.CPU, "800m"), quantity(R.MEMORY, "480Mi")] } },
      },
      { requests: [quantity(R.CPU, "120m"), quantity(R.MEMORY, "160Mi")] },
      { limits: { cpu: "800m", memory: "480Mi" }, requests: { cpu: "120m", memory: "160Mi" } },
    ],
  ])("resources: %s", (_, target, resources, expected) => {
    const overrides = resources === undefined ? undefined : create(NodeOverridesSchema, { resources });
    const pod = buildPod(request({ target }, overrides === undefined ? {} : { overrides }), { config: config() });
    expect(pod.spec.containers[0]?.resources).toEqual(expected);
  });

  it("an error about an invalid quantity names its field", () => {
    const target = { case: "container" as const, value: { resources: { requests: [quantity(R.CPU, "plenty")] } } };
    expect(() => buildPod(request({ target }), { config: config() })).toThrow('resources.cpu: "plenty" is not a quantity');
  });

  it("runs with the execution's service account and the node's image", () => {
    const pod = buildPod(
      request(
        {},
        {
          overrides: create(NodeOverridesSchema, { containerImage: "other/image:2" }),
          securityContext: create(SecurityContextSchema, { runAs: { k8sServiceAccount: "robot", executionIdentity: "Some One" } }),
        },
      ),
      { config: config() },
    );
    expect(pod.spec.serviceAccountName).toBe("robot");
    expect(pod.spec.containers[0]?.image).toBe("other/image:2");
    expect(pod.metadata.labels?.["execution-identity"]).toBe("some-one");
  });

  it("an interruptible attempt gets the tolerations and node selector of interruptible pods", () => {
    const scheduling = {
      tolerations: [{ key: "flyte", operator: "Exists" }],
      interruptibleTolerations: [{ key: "spot", operator: "Exists" }],
      interruptibleRequirement: { key: "spot", operator: "In", values: ["yes"] },
      nonInterruptibleRequirement: { key: "spot", operator: "DoesNotExist" },
      resourceTolerations: { "nvidia.com/gpu": [{ key: "gpu", operator: "Exists" }] },
    };
    const target = { case: "container" as const, value: { resources: { limits: [quantity(R.GPU, "1")] } } };
    const spot = buildPod(request({ target }, { interruptible: true }), { config: config({ scheduling }) });
    expect(spot.spec.tolerations?.map(({ key }) => key)).toEqual(["gpu", "spot", "flyte"]);
    expect(spot.metadata.labels?.interruptible).toBe("true");
    const terms = (pod: typeof spot) => pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
    expect(terms(spot)).toEqual([{ matchExpressions: [scheduling.interruptibleRequirement] }]);
    expect(terms(buildPod(request(), { config: config({ scheduling }) }))).toEqual([
      { matchExpressions: [scheduling.nonInterruptibleRequirement] },
    ]);
  });

  it("tolerates the taints of the resources that it requests", () => {
    const scheduling = {
      tolerateResources: ["nvidia.com/gpu", "other.com/chip"],
      tolerations: [{ key: "flyte", operator: "Exists" }],
    };
    const target = { case: "container" as const, value: { resources: { limits: [quantity(R.GPU, "1")] } } };
    const { spec } = buildPod(request({ target }), { config: config({ scheduling }) });
    const taint = { key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule" };
    expect(spec.tolerations).toEqual([{ key: "flyte", operator: "Exists" }, taint]);
    const already = buildPod(request({ target }), { config: config({ scheduling: { ...scheduling, tolerations: [taint] } }) });
    expect(already.spec.tolerations).toEqual([taint]);
    expect(buildPod(request(), { config: config({ scheduling }) }).spec.tolerations).toHaveLength(1);
  });

  it("requests ephemeral storage only if the task does, capped by the platform's limit", () => {
    const target = { case: "container" as const, value: { resources: { requests: [quantity(R.EPHEMERAL_STORAGE, "20Gi")] } } };
    const limits = { resourceLimits: create(ResourceSetSchema, { ephemeralStorage: "10Gi" }) };
    const { resources } = buildPod(request({ target }, limits), { config: config() }).spec.containers[0] ?? {};
    expect(resources?.requests?.["ephemeral-storage"]).toBe("10Gi");
    expect(resources?.limits?.["ephemeral-storage"]).toBe("10Gi");
  });

  it.each([
    ["nothing", {}, { requests: { cpu: "500m", memory: "500Mi" }, limits: { cpu: "2", memory: "500Mi" } }],
    ["a request", { requests: [quantity(R.CPU, "1")] }, { requests: { cpu: "1", memory: "500Mi" }, limits: { cpu: "2", memory: "500Mi" } }],
    [
      "a request above the default limit",
      { requests: [quantity(R.CPU, "3")] },
      { requests: { cpu: "3", memory: "500Mi" }, limits: { cpu: "3", memory: "500Mi" } },
    ],
    ["a limit", { limits: [quantity(R.CPU, "1")] }, { requests: { cpu: "1", memory: "500Mi" }, limits: { cpu: "1", memory: "500Mi" } }],
  ])("may use more than it requests up to the default limit: asked for %s", (_, resources, expected) => {
    const limits = { resourceDefaultLimits: create(ResourceSetSchema, { cpu: "2", memory: "0" }) };
    const pod = buildPod(request({ target: { case: "container", value: { resources } } }, limits), { config: config() });
    expect(pod.spec.containers[0]?.resources).toEqual(expected);
  });

  it("gets no default limit above the platform's limit", () => {
    const limits = { resourceDefaultLimits: create(ResourceSetSchema, { cpu: "64" }) };
    const pod = buildPod(request({ target: { case: "container", value: {} } }, limits), { config: config() });
    expect(pod.spec.containers[0]?.resources).toMatchObject({ requests: { cpu: "500m" }, limits: { cpu: "4" } });
  });

  it("is scheduled to nodes with the accelerator and mounts shared memory", () => {
    const extendedResources = create(ExtendedResourcesSchema, {
      gpuAccelerator: { device: "nvidia-a100", partitionSizeValue: { case: "partitionSize", value: "1g.5gb" } },
      sharedMemory: { mountName: "shm", mountPath: "/dev/shm", sizeLimit: "1024Mi" },
    });
    const target = { case: "container" as const, value: { resources: { limits: [quantity(R.GPU, "1")] } } };
    const { spec } = buildPod(request({ target, extendedResources }), { config: config() });
    expect(spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms).toEqual([
      {
        matchExpressions: [
          { key: "k8s.amazonaws.com/accelerator", operator: "In", values: ["nvidia-a100"] },
          { key: "k8s.amazonaws.com/gpu-partition-size", operator: "In", values: ["1g.5gb"] },
        ],
      },
    ]);
    expect(spec.tolerations).toHaveLength(2);
    expect(spec.volumes).toEqual([{ name: "shm", emptyDir: { medium: "Memory", sizeLimit: "1Gi" } }]);
    expect(spec.containers[0]?.volumeMounts).toEqual([{ name: "shm", mountPath: "/dev/shm" }]);
  });
});

describe("secrets from Kubernetes", () => {
  it("become variables and files under the names that flytekit reads", () => {
    const securityContext = create(SecurityContextSchema, {
      secrets: [
        { group: "Db", key: "Password", mountRequirement: Secret_MountType.ENV_VAR, envVar: "PASSWORD" },
        { group: "Files", key: "One", mountRequirement: Secret_MountType.FILE, envVar: "ONE_PATH" },
        { group: "Files", key: "Two" },
      ],
    });
    const { spec } = buildPod(request({ securityContext }), { config: config() });
    const valueFrom = { secretKeyRef: { name: "Db", key: "Password", optional: true } };
    expect(spec.containers[0]?.env?.slice(10)).toEqual([
      { name: "_FSEC_DB_PASSWORD", valueFrom },
      { name: "PASSWORD", valueFrom },
      { name: "FLYTE_SECRETS_ENV_PREFIX", value: "_FSEC_" },
      { name: "FLYTE_SECRETS_DEFAULT_DIR", value: "/etc/flyte/secrets" },
      { name: "FLYTE_SECRETS_FILE_PREFIX", value: "" },
      { name: "ONE_PATH", value: "/etc/flyte/secrets/files/one" },
    ]);
    expect(spec.volumes).toEqual([
      {
        name: "flyte-secret-0",
        secret: {
          secretName: "Files",
          optional: true,
          items: [
            { key: "One", path: "one" },
            { key: "Two", path: "two" },
          ],
        },
      },
    ]);
    expect(spec.containers[0]?.volumeMounts).toEqual([{ name: "flyte-secret-0", readOnly: true, mountPath: "/etc/flyte/secrets/files" }]);
  });

  it("require group and key", () => {
    const securityContext = create(SecurityContextSchema, { secrets: [{ key: "x" }] });
    expect(() => buildPod(request({ securityContext }), { config: config() })).toThrow("a secret needs group and key");
  });
});

describe("secrets from Flyte's webhook", () => {
  it("become the annotations that Go Flyte writes, without volumes or variables", () => {
    const secrets = [{ key: "my_key" }, { group: ";':/\\" }, { group: "g", key: "k", mountRequirement: Secret_MountType.ENV_VAR }];
    const securityContext = create(SecurityContextSchema, { secrets });
    const { metadata, spec } = buildPod(request({ securityContext }), { config: config({ secrets: "webhook" }) });
    expect(metadata.labels).toMatchObject({ "inject-flyte-secrets": "true" });
    expect(metadata.annotations).toMatchObject({
      "flyte.secrets/s0": "nnsxsoraejwxsx2lmv3secq",
      "flyte.secrets/s1": "m4zg54lqhiqceozhhixvyxbcbi",
    });
    expect(spec.volumes).toBeUndefined();
    expect(spec.containers[0]?.env).toHaveLength(10);
  });

  it("adds no secret that the pod already has", () => {
    const securityContext = create(SecurityContextSchema, { secrets: [{ group: "g", key: "k" }] });
    const { metadata } = buildPod(request({ securityContext }), { config: config() });
    expect(metadata.labels).not.toHaveProperty("inject-flyte-secrets");
  });

  it("keeps all keys of the task's own volume of the same Secret", () => {
    const securityContext = create(SecurityContextSchema, { secrets: [{ group: "g", key: "K" }] });
    const base: PodTemplate = {
      metadata: { name: "base" },
      template: { spec: { containers: [], volumes: [{ name: "own", secret: { secretName: "g" } }] } },
    };
    const { spec } = buildPod(request({ securityContext }), { config: config(), base });
    expect(spec.volumes).toEqual([
      { name: "own", secret: { secretName: "g" } },
      { name: "flyte-secret-1", secret: { secretName: "g", optional: true, items: [{ key: "K", path: "k" }] } },
    ]);
  });
});

describe("a pod task", () => {
  const containers: JsonObject[] = [
    { name: "primary", image: "main", args: ["{{.input}}"], resources: { requests: { cpu: "1000m" } } },
    { name: "logger", image: "logs" },
  ];
  const podSpec = {
    containers,
    initContainers: [{ name: "setup", image: "setup" }],
    tolerations: [{ key: "own", operator: "Exists" }],
    serviceAccountName: "own",
  };
  const pod = (over: Template = {}, options: { base?: PodTemplate; request?: Partial<TaskRequest> } = {}) =>
    buildPod(
      request(
        {
          type: "sidecar",
          taskTypeVersion: 2,
          config: { primary_container_name: "primary" },
          target: { case: "k8sPod", value: { podSpec, metadata: { labels: { team: "a" }, annotations: { note: "b" } } } },
          ...over,
        },
        options.request,
      ),
      { config: config(), base: options.base },
    );

  it("keeps every container and annotates the primary one", () => {
    const { metadata, spec } = pod();
    expect(metadata.annotations).toMatchObject({ primary_container_name: "primary", note: "b" });
    expect(metadata.labels).toMatchObject({ team: "a", "execution-id": "a1b2c3d4e5f6g7h8i9j0" });
    expect(spec.containers.map(({ name, resources }) => [name, resources])).toEqual([
      ["primary", { limits: { cpu: "1", memory: "500Mi" }, requests: { cpu: "1", memory: "500Mi" } }],
      ["logger", {}],
    ]);
    expect(spec.initContainers?.[0]?.resources).toEqual({
      limits: { cpu: "500m", memory: "500Mi" },
      requests: { cpu: "500m", memory: "500Mi" },
    });
    expect(spec.containers[1]?.env).toContainEqual({ name: "FLYTE_ATTEMPT_NUMBER", value: "0" });
    expect(spec).toMatchObject({ serviceAccountName: "own", tolerations: [{ key: "own" }], restartPolicy: "Never" });
    expect(podSpec.containers[0]?.args).toEqual(["{{.input}}"]);
  });

  it.each<[string, Template]>([
    [
      "version 0",
      { taskTypeVersion: 0, custom: { podSpec, primaryContainerName: "primary", labels: { team: "a" } }, target: { case: undefined } },
    ],
    ["version 1", { taskTypeVersion: 1, custom: podSpec }],
  ])("reads older fields of the pod spec: %s", (_, over) => {
    const { metadata, spec } = pod(over);
    expect(spec.containers.map(({ name }) => name)).toEqual(["primary", "logger"]);
    expect(metadata.annotations?.primary_container_name).toBe("primary");
    expect(metadata.labels?.team).toBe("a");
  });

  it("the pod template of the node replaces the pod of the task", () => {
    const overrides = create(NodeOverridesSchema, {
      podTemplate: {
        podSpec: { containers: [{ name: "other", image: "x" }] },
        primaryContainerName: "other",
        metadata: { labels: { team: "z" } },
      },
    });
    const { metadata, spec } = pod({}, { request: { overrides } });
    expect(spec.containers.map(({ name }) => name)).toEqual(["other"]);
    expect(metadata.labels?.team).toBe("z");
  });

  it.each<[string, Template]>([
    ["config.primary_container_name: is required", { config: {} }],
    ["the pod has no container of that name", { config: { primary_container_name: "nobody" } }],
    ["k8s_pod.pod_spec: is required", { target: { case: "k8sPod", value: {} } }],
    ["a container or a k8s_pod is required", { target: { case: undefined } }],
    ["custom.podSpec: is required", { taskTypeVersion: 0 }],
  ])("fails with the reason: %s", (message, over) => {
    expect(() => pod(over)).toThrow(message);
  });

  it("takes defaults from the default and primary containers of a PodTemplate", () => {
    const base: PodTemplate = {
      metadata: { name: "base" },
      template: {
        metadata: { labels: { from: "template", team: "t" } },
        spec: {
          schedulerName: "fancy",
          serviceAccountName: "template",
          tolerations: [{ key: "template", operator: "Exists" }],
          containers: [
            { name: "default", image: "none", env: [{ name: "ALL", value: "1" }], imagePullPolicy: "Always" },
            { name: "primary", image: "none", resources: { requests: { memory: "1Gi", cpu: "3" } } },
            { name: "unrelated", image: "none" },
          ],
        },
      },
    };
    const { metadata, spec } = pod({}, { base });
    expect(metadata.labels).toMatchObject({ from: "template", team: "a" });
    expect(spec).toMatchObject({ schedulerName: "fancy", serviceAccountName: "own", tolerations: [{ key: "template" }, { key: "own" }] });
    expect(spec.containers.map(({ name, image }) => [name, image])).toEqual([
      ["primary", "main"],
      ["logger", "logs"],
    ]);
    expect(spec.containers[0]?.resources).toEqual({ limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1", memory: "1Gi" } });
    expect(spec.containers[1]?.env?.[0]).toEqual({ name: "ALL", value: "1" });
    expect(spec.containers[1]?.imagePullPolicy).toBe("Always");
  });

  it("takes all other fields from the PodTemplate", () => {
    const declared = {
      priorityClassName: "batch",
      runtimeClassName: "gvisor",
      imagePullSecrets: [{ name: "registry" }],
      hostAliases: [{ ip: "10.0.0.1", hostnames: ["db"] }],
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" }],
    };
    const base = { metadata: { name: "base" }, template: { spec: { containers: [], ...declared } } } as PodTemplate;
    const { spec } = pod({}, { base });
    expect(spec).toMatchObject(declared);
    const own = { ...podSpec, priorityClassName: "urgent", imagePullSecrets: [{ name: "mine" }] };
    const merged = pod({ target: { case: "k8sPod", value: { podSpec: own } } }, { base }).spec;
    expect(merged).toMatchObject({ priorityClassName: "urgent", imagePullSecrets: [{ name: "registry" }, { name: "mine" }] });
  });
});
