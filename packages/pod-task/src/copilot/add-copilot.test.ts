import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { Secret_MountType, SecurityContextSchema } from "@flyte-ts/idl/flyteidl/core/security_pb";
import { type DataLoadingConfigSchema, Resources_ResourceName as R, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { sampleRequest } from "@flyte-ts/task-plugin/harness";
import { describe, expect, it } from "vitest";
import { podSettings } from "../settings.js";
import type { PodTemplate } from "../pod-types.js";
import { buildPod } from "../build/build-pod.js";

const variables = (...names: string[]) => ({
  variables: Object.fromEntries(names.map((name) => [name, { type: { type: { case: "simple" as const, value: 1 } } }])),
});

interface Raw {
  readonly inputs?: readonly string[];
  readonly outputs?: readonly string[];
  readonly data?: MessageInitShape<typeof DataLoadingConfigSchema>;
}

/** A ContainerTask as flytekit 1.16 sends it. */
function request({ inputs = ["a"], outputs = ["b"], data = {} }: Raw = {}): TaskRequest {
  const taskRequest = sampleRequest("raw-container");
  taskRequest.template = create(TaskTemplateSchema, {
    id: { name: "tasks.raw" },
    type: "raw-container",
    interface: { inputs: variables(...inputs), outputs: variables(...outputs) },
    target: {
      case: "container",
      value: {
        image: "busybox",
        command: ["sh", "-c", "echo {{.inputs.a}}"],
        resources: { limits: [{ name: R.STORAGE, value: "1Gi" }] },
        dataConfig: { enabled: true, inputPath: "/in", outputPath: "/out", format: 0, ...data },
      },
    },
  });
  taskRequest.inputs = create(LiteralMapSchema, {
    literals: {
      a: { value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "integer", value: 5n } } } } } },
    },
  });
  return taskRequest;
}

const environment = { env: { FLYTE_AWS_ENDPOINT: "http://blobs" }, envFromSecrets: ["keys"] };
const build = (taskRequest: TaskRequest, base?: PodTemplate) => buildPod(taskRequest, { config: podSettings.parse({ environment }), base });

describe("a raw container", () => {
  it("passes URIs with a dollar sign to the copilot unchanged", () => {
    const taskRequest = request();
    taskRequest.rawOutputPrefix = "s3://bucket/$(AWS_SECRET_ACCESS_KEY)";
    const uploader = build(taskRequest).spec.initContainers?.find(({ name }) => name === "flyte-copilot-uploader");
    expect(uploader?.args).toContain("s3://bucket/$$(AWS_SECRET_ACCESS_KEY)");
    expect(uploader?.args).not.toContain(taskRequest.rawOutputPrefix);
  });

  it("gets a downloader before it and an uploader beside it", () => {
    const taskRequest = request();
    const { metadata, spec } = build(taskRequest);
    expect(spec.containers).toMatchObject([
      {
        command: ["sh", "-c", "echo 5"],
        volumeMounts: [
          { name: "flyte-inputs", mountPath: "/in" },
          { name: "flyte-outputs", mountPath: "/out" },
        ],
      },
    ]);
    const [uploader, downloader, ...others] = spec.initContainers ?? [];
    expect(others).toEqual([]);
    expect(downloader).toEqual({
      name: "flyte-copilot-downloader",
      image: "flyte-ts/copilot",
      command: ["/usr/local/bin/node", "/app/main.mjs"],
      args: expect.arrayContaining([
        "download",
        "--from-remote",
        taskRequest.inputUri,
        "--to-local-dir",
        "/in",
        "--format",
        "JSON",
        "--await-file",
      ]),
      workingDir: "/",
      env: [{ name: "FLYTE_AWS_ENDPOINT", value: "http://blobs" }],
      envFrom: [{ secretRef: { name: "keys", optional: true } }],
      resources: { limits: { cpu: "500m", memory: "256Mi" }, requests: { cpu: "500m", memory: "256Mi" } },
      volumeMounts: [
        { name: "flyte-inputs", mountPath: "/in" },
        { name: "flyte-copilot", mountPath: "/var/flyte/copilot" },
      ],
      terminationMessagePolicy: "FallbackToLogsOnError",
      imagePullPolicy: "IfNotPresent",
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
        seccompProfile: { type: "RuntimeDefault" },
      },
    });
    expect(uploader).toMatchObject({
      name: "flyte-copilot-uploader",
      restartPolicy: "Always",
      args: expect.arrayContaining([
        "sidecar",
        "--to-raw-output",
        taskRequest.rawOutputPrefix,
        "--to-output-prefix",
        taskRequest.outputPrefix,
      ]),
      volumeMounts: [
        { name: "flyte-outputs", mountPath: "/out" },
        { name: "flyte-copilot", mountPath: "/var/flyte/copilot" },
      ],
    });
    const encoded = uploader?.args?.[uploader.args.indexOf("--interface") + 1] ?? "";
    expect(fromBinary(TypedInterfaceSchema, Buffer.from(encoded, "base64"))).toEqual(taskRequest.template?.interface);
    expect(spec.volumes).toEqual([
      { name: "flyte-inputs", emptyDir: { sizeLimit: "1Gi" } },
      { name: "flyte-outputs", emptyDir: { sizeLimit: "1Gi" } },
      { name: "flyte-copilot", emptyDir: {} },
    ]);
    expect(spec.terminationGracePeriodSeconds).toBe(3600);
    // The pod's end counts, not the container's: outputs are uploaded in between.
    expect(metadata.annotations).not.toHaveProperty("primary_container_name");
  });

  it("without inputs waits for the uploader; without outputs has none", () => {
    const onlyOutputs = build(request({ inputs: [] })).spec;
    expect(onlyOutputs.initContainers?.map(({ name }) => name)).toEqual(["flyte-copilot-uploader", "flyte-copilot-downloader"]);
    expect(onlyOutputs.initContainers?.[1]?.args).not.toContain("--from-remote");
    expect(onlyOutputs.containers[0]?.volumeMounts).toEqual([{ name: "flyte-outputs", mountPath: "/out" }]);
    const onlyInputs = build(request({ outputs: [] })).spec;
    expect(onlyInputs.initContainers?.map(({ name }) => name)).toEqual(["flyte-copilot-downloader"]);
    expect(onlyInputs.initContainers?.[0]?.args).not.toContain("--await-file");
    expect(onlyInputs).not.toHaveProperty("terminationGracePeriodSeconds");
    expect(build(request({ inputs: [], outputs: [] })).spec).not.toHaveProperty("initContainers");
    expect(build(request({ data: { enabled: false } })).spec).not.toHaveProperty("initContainers");
  });

  it("passes paths, format and transfer modes to the copilot", () => {
    const data = { inputPath: "", outputPath: "", format: 1, ioStrategy: { downloadMode: 2, uploadMode: 2 } };
    const { spec } = build(request({ data }));
    expect(spec.containers[0]?.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual(["/var/flyte/inputs", "/var/flyte/outputs"]);
    expect(spec.initContainers?.[1]?.args?.join(" ")).toMatch(/--format YAML --download-mode DO_NOT_DOWNLOAD/);
    expect(spec.initContainers?.[0]?.args?.join(" ")).toMatch(/--upload-mode DO_NOT_UPLOAD/);
  });

  it("shares its secrets with no copilot container", () => {
    const taskRequest = request();
    const secrets = [{ group: "g", key: "k", mountRequirement: Secret_MountType.ENV_VAR, envVar: "AWS_ACCESS_KEY_ID" }];
    if (taskRequest.template !== undefined) taskRequest.template.securityContext = create(SecurityContextSchema, { secrets });
    const { spec } = build(taskRequest);
    expect(spec.containers[0]?.env?.map(({ name }) => name)).toContain("AWS_ACCESS_KEY_ID");
    for (const { env } of spec.initContainers ?? []) expect(env?.map(({ name }) => name)).toEqual(["FLYTE_AWS_ENDPOINT"]);
  });

  it("treats the downloader as the primary init container of a pod template", () => {
    const base: PodTemplate = {
      metadata: { name: "base" },
      template: {
        spec: {
          containers: [],
          initContainers: [
            { name: "default-init", imagePullPolicy: "Always", env: [{ name: "REGION", value: "x" }] },
            { name: "primary-init", workingDir: "/tmp" },
          ],
        },
      },
    };
    const taskRequest = request();
    const dataConfig = taskRequest.template?.target.case === "container" ? taskRequest.template.target.value.dataConfig : undefined;
    if (taskRequest.template !== undefined) {
      const podSpec = {
        containers: [
          { name: "main", image: "x" },
          { name: "other", image: "y" },
        ],
      };
      taskRequest.template.config = { primary_container_name: "main" };
      taskRequest.template.target = {
        case: "k8sPod",
        value: { $typeName: "flyteidl.core.K8sPod", podSpec, dataConfig, primaryContainerName: "" },
      };
    }
    const { spec } = build(taskRequest, base);
    expect(spec.containers.map(({ volumeMounts }) => volumeMounts?.length)).toEqual([2, undefined]);
    expect(spec.initContainers?.map(({ env, workingDir }) => [env?.[0]?.name, workingDir])).toEqual([
      ["REGION", "/"],
      ["REGION", "/"],
    ]);
  });
});
