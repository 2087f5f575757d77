import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { LaunchPlanSpecSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { type TaskTemplate, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { describe, expect, test } from "vitest";
import type { AnyEntity } from "../entity/entity.js";
import { container, connectorTask, eager, task } from "../entity/task.js";
import { launchPlan, reference, workflow } from "../entity/workflow.js";
import { each } from "../graph/each.js";
import { t } from "../type/t.js";
import { collectEntities, listReferences } from "./collection.js";
import { describeEntities } from "./describe.js";
import type { Registration } from "./registration.js";

const registration: Registration = {
  project: "flytesnacks",
  domain: "development",
  version: "v1",
  image: "node:24-slim",
  code: { bundle: { uri: "s3://bucket/b.tar.gz", digest: "9f1c" } },
  sdkVersion: "0.1.0",
  cacheVersion: (name) => `hash of ${name}`,
  sourcePath: () => "src/flows/some.ts",
};

const collect = (exports: Readonly<Record<string, AnyEntity>>) => collectEntities([{ module: "flows/some", prefix: "some", exports }]);

function templateOf(entity: AnyEntity): ReturnType<typeof json> {
  const [spec] = describeEntities(collect({ entity }), registration).tasks;
  return json(spec?.template);
}

const json = (template: TaskTemplate | undefined) => toJson(TaskTemplateSchema, template as TaskTemplate);

describe("templates of tasks", () => {
  test("a task runs its export from the bundle", () => {
    const template = templateOf(task({ inputs: { x: t.int }, outputs: t.float, retries: 2, timeout: "10m" }, () => 1));
    expect(template).toMatchObject({
      id: { resourceType: "TASK", project: "flytesnacks", domain: "development", name: "some.entity", version: "v1" },
      type: "container",
      metadata: { runtime: { type: "FLYTE_SDK", version: "0.1.0", flavor: "typescript" }, retries: { retries: 2 }, timeout: "600s" },
      config: { "flyte-ts/module": "flows/some", "flyte-ts/bundle-digest": "9f1c" },
      container: { image: "node:24-slim" },
    });
    expect(template.container?.args?.join(" ")).toBe(
      "flyte-ts-execute --inputs {{.input}} --output-prefix {{.outputPrefix}} --raw-output-data-prefix {{.rawOutputDataPrefix}} " +
        "--checkpoint-path {{.checkpointOutputPrefix}} --prev-checkpoint {{.prevCheckpointPrefix}} " +
        "--bundle s3://bucket/b.tar.gz --bundle-digest 9f1c -- task-module flows/some task-name entity",
    );
    expect(template.config?.["flyte-ts/source"]).toMatch(/^src\/flows\/some\.ts:\d+$/);
  });

  test("settings become metadata, resources, secrets and variables", () => {
    const template = templateOf(
      task(
        {
          interruptible: true,
          deck: true,
          resources: { cpu: 2, memory: "2Gi", gpu: 1, accelerator: { device: "a100", partition: "1g.5gb" }, sharedMemory: true },
          image: "own:1",
          env: { A: "b" },
          secrets: [{ group: "g", key: "k", as: "file" }, { group: "h" }],
          podTemplate: "gpu-pods",
          cache: { version: "3", ignoredInputs: ["label"], serialize: true },
        },
        () => undefined,
      ),
    );
    expect(template).toMatchObject({
      metadata: {
        interruptible: true,
        generatesDeck: true,
        podTemplateName: "gpu-pods",
        discoverable: true,
        discoveryVersion: "3",
        cacheSerializable: true,
        cacheIgnoreInputVars: ["label"],
      },
      container: {
        image: "own:1",
        env: [{ key: "A", value: "b" }],
        resources: {
          requests: [
            { name: "CPU", value: "2" },
            { name: "MEMORY", value: "2Gi" },
            { name: "GPU", value: "1" },
          ],
        },
      },
      securityContext: { secrets: [{ group: "g", key: "k", mountRequirement: "FILE" }, { group: "h" }] },
      extendedResources: { gpuAccelerator: { device: "a100", partitionSize: "1g.5gb" }, sharedMemory: { mountPath: "/dev/shm" } },
    });
    expect(template.container?.resources?.limits).toEqual(template.container?.resources?.requests);
  });

  test("a pod template holds the container of the task", () => {
    const spec: JsonObject = {
      containers: [
        { name: "side", image: "x" },
        { name: "primary", env: [{ name: "E", value: "1" }] },
      ],
      nodeSelector: { a: "b" },
    };
    const template = templateOf(task({ resources: { request: { cpu: 1 } }, podTemplate: { labels: { l: "1" }, spec } }, () => undefined));
    expect(template).toMatchObject({
      type: "container",
      config: { primary_container_name: "primary" },
      k8sPod: {
        primaryContainerName: "primary",
        metadata: { labels: { l: "1" } },
        podSpec: {
          nodeSelector: { a: "b" },
          containers: [
            { name: "primary", image: "node:24-slim", env: [{ name: "E", value: "1" }], resources: { requests: { cpu: "1" }, limits: {} } },
            { name: "side", image: "x" },
          ],
        },
      },
    });
  });

  test("the cache version comes from the code unless it is set", () => {
    expect(templateOf(task({ cache: true }, () => undefined)).metadata?.discoveryVersion).toBe("hash of some.entity");
    const without = { ...registration, cacheVersion: () => undefined };
    expect(() => describeEntities(collect({ a: task({ cache: true }, () => undefined) }), without)).toThrow(
      "the task some.a is cached by its code",
    );
  });

  test("a task that maps a cached one has its cache version", () => {
    const double = task({ inputs: { x: t.int }, outputs: t.int, cache: true }, ({ x }) => 2 * x);
    const all = workflow({ inputs: { xs: t.list(t.int) }, outputs: t.list(t.int) }, ({ xs }) => each(double, { x: xs }));
    const { tasks } = describeEntities(collect({ double, all }), registration);
    expect(tasks.map(({ template }) => template?.metadata?.discoveryVersion)).toEqual(["hash of some.double", "hash of some.double"]);
  });

  test("containers and connectors have no entry of the SDK", () => {
    const raw = templateOf(container({ image: "alpine", command: ["sh"], outputs: { o: t.string } }));
    expect(raw).toMatchObject({
      type: "raw-container",
      container: { image: "alpine", command: ["sh"], dataConfig: { enabled: true, inputPath: "/var/inputs", outputPath: "/var/outputs" } },
    });
    expect(raw.container?.args).toBeUndefined();
    expect(templateOf(connectorTask({ type: "snowflake", config: { USER: "u" } }))).toMatchObject({
      type: "snowflake",
      custom: { USER: "u" },
    });
    expect(templateOf(eager({}, () => Promise.resolve())).metadata).toMatchObject({ isEager: true, generatesDeck: true });
  });
});

describe("descriptions of collections", () => {
  const helper = task({ name: "helper", inputs: { x: t.int, y: t.int }, outputs: t.int }, ({ x }) => x);
  const mapped = workflow({ inputs: { xs: t.default(t.list(t.int), [1]), y: t.int }, outputs: t.list(t.int) }, ({ xs, y }) =>
    each(helper, { x: xs }, { same: { y } }),
  );
  const plan = launchPlan(mapped, {
    name: "plan",
    defaults: { y: 3 },
    fixed: { xs: [7] },
    schedule: { cron: "0 3 * * *", timezone: "Europe/Berlin" },
    active: true,
    maxConcurrentExecutions: 1,
    notify: [{ phases: ["failed", "timed-out"], email: ["a@example.org"], slack: ["b@example.org"] }],
  });

  test("tasks that are named but not exported are found again through the module that uses them", () => {
    const collection = collect({ mapped });
    const { tasks, workflows } = describeEntities(collection, registration);
    expect(workflows.map(({ template }) => template?.id?.name)).toEqual(["some.mapped"]);
    const [plain, map] = tasks.map(({ template }) => json(template));
    expect(plain?.id?.name).toBe("helper");
    expect(plain?.container?.args?.slice(-4)).toEqual(["task-module", "flows/some", "task-name", "helper"]);
    expect(collection.find("flows/some", "helper")?.definition.entity).toBe(helper);
    expect(collection.find("flows/some", "mapped")?.definition.entity).toBe(mapped);
    expect(collection.find("flows/some", "nothing")).toBeUndefined();
    expect(map?.id?.name).toMatch(/^helper_map_[0-9a-f]{12}$/);
    expect(map?.container?.args?.slice(-8)).toEqual(["--map", "--", "task-module", "flows/some", "task-name", "helper", "vars", "y"]);
    expect(map?.interface?.inputs?.variables).toMatchObject({
      x: { type: { collectionType: { simple: "INTEGER" } } },
      y: { type: { simple: "INTEGER" } },
    });
  });

  test("each workflow has a launch plan of its name; others have their settings", () => {
    const { launchPlans } = describeEntities(collect({ plan, mapped }), registration);
    const specs = launchPlans.map(({ id, spec, active }) => ({ name: id.name, active, spec: toJson(LaunchPlanSpecSchema, spec) }));
    expect(specs).toMatchObject([
      {
        name: "some.mapped",
        active: false,
        spec: {
          workflowId: { name: "some.mapped" },
          defaultInputs: { parameters: { xs: { default: { collection: { literals: [{}] } } }, y: { required: true } } },
        },
      },
      {
        name: "plan",
        active: true,
        spec: {
          workflowId: { name: "some.mapped" },
          entityMetadata: {
            schedule: { cronSchedule: { schedule: "CRON_TZ=Europe/Berlin 0 3 * * *" } },
            notifications: [
              { phases: ["FAILED", "TIMED_OUT"], email: { recipientsEmail: ["a@example.org"] } },
              { phases: ["FAILED", "TIMED_OUT"], slack: { recipientsEmail: ["b@example.org"] } },
            ],
          },
          defaultInputs: { parameters: { y: { default: { scalar: { primitive: { integer: "3" } } } } } },
          fixedInputs: { literals: { xs: { collection: { literals: [{ scalar: { primitive: { integer: "7" } } }] } } } },
          concurrencyPolicy: { max: 1, behavior: "CONCURRENCY_LIMIT_BEHAVIOR_SKIP" },
        },
      },
    ]);
  });

  test("a rate is whole minutes, hours or days", () => {
    const every = (text: `${number}h` | `${number}s`) =>
      toJson(
        LaunchPlanSpecSchema,
        describeEntities(collect({ p: launchPlan(mapped, { name: "p", schedule: { every: text } }), mapped }), registration).launchPlans[1]!
          .spec,
      );
    expect(every("48h").entityMetadata?.schedule).toEqual({ rate: { value: 2, unit: "DAY" } });
    expect(every("36h").entityMetadata?.schedule).toEqual({ rate: { value: 36, unit: "HOUR" } });
    expect(() => every("90s")).toThrow("give whole minutes, hours or days");
  });

  test("two entities of one name, and tasks without a name, are refused with their places", () => {
    const again = task({ name: "helper" }, () => undefined);
    expect(() => collect({ helper, again })).toThrow(
      /two entities have the name helper: .*describe\.test\.ts:\d+ and .*describe\.test\.ts:\d+/,
    );
    const hidden = task({ outputs: t.int }, () => 1);
    const uses = workflow({ outputs: t.int }, () => hidden());
    expect(() => describeEntities(collect({ uses }), registration)).toThrow(
      /made at .*describe\.test\.ts:\d+ is neither exported nor named/,
    );
  });

  test("references without a version are listed and resolved once", () => {
    const far = reference({ kind: "task", name: "far" }, { inputs: {}, outputs: t.int });
    const uses = workflow({ outputs: t.int }, () => far());
    const collection = collect({ uses });
    expect(listReferences(collection)).toEqual({ used: [{ kind: "task", name: "far" }], usable: [] });
    expect(() => describeEntities(collection, registration)).toThrow("the reference to the task far has no version");
    const { workflows } = describeEntities(collection, { ...registration, resolve: () => "v9" });
    expect(workflows[0]?.template?.nodes[0]?.target.value).toMatchObject({ reference: { value: { name: "far", version: "v9" } } });
  });
});
