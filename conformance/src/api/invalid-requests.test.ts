import { create } from "@bufbuild/protobuf";
import { Code, codeName, createFlyteClient, type FlyteClient, RpcError } from "@flyte-ts/client";
import { Project_ProjectState } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import { IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { seededRandom } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningAdmin, startAdmin } from "../stack/admin-fixture.js";
import {
  executionRequest,
  validInputs,
  validRequests,
  identifier,
  integerLiteral,
  launchPlanRequest,
  scope,
  taskRequest,
  textOf,
  workflowRequest,
} from "./valid-requests.js";
import { type KnownNames, randomRequest } from "./random-request.js";
import { openRawClient, type RawClient } from "./raw-client.js";

const ARCHIVED = "put-away";
/** Random requests use their own project, because they may archive it. */
const PROJECT = "randomland";
const RANDOM: KnownNames = { project: PROJECT, id: PROJECT, domain: "development", name: "known", version: "v1", node_id: "n0" };
/** Duration of the random requests, s, and their minimum number. */
const FUZZ_SECONDS = Number(process.env.FUZZ_SECONDS ?? 5);
const MIN_REQUESTS = 1_000;
const SEED = Number(process.env.PROPERTY_SEED ?? 1);

let admin: RunningAdmin;
let client: FlyteClient;
let rawClient: RawClient;
beforeAll(async () => {
  admin = await startAdmin();
  client = createFlyteClient({ endpoint: `127.0.0.1:${admin.api}` });
  rawClient = openRawClient(admin.api);
  for (const project of [ARCHIVED, PROJECT]) await client.admin.registerProject({ project: { id: project, name: project } });
  await client.admin.updateProject({ id: ARCHIVED, name: ARCHIVED, state: Project_ProjectState.ARCHIVED });
  for (const project of [scope.project, PROJECT]) await registerAll(project);
});
afterAll(async () => {
  rawClient.close();
  client.close();
  await admin.stop();
});

async function registerAll(project: string): Promise<void> {
  await client.admin.createTask(taskRequest(identifier(ResourceType.TASK, { project })));
  await client.admin.createWorkflow(workflowRequest(identifier(ResourceType.WORKFLOW, { project }), { n0: [] }));
  await client.admin.createLaunchPlan(launchPlanRequest(identifier(ResourceType.LAUNCH_PLAN, { project })));
  await client.admin.createExecution(executionRequest("known", { project }));
}

async function failureOf(call: Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof RpcError) return { code: codeName(error.code), message: error.message };
    throw error;
  }
  return { code: "OK", message: "" };
}

const list = (changes: object) => client.admin.listTasks({ id: scope, limit: 10, ...changes });
const named = (name: string, project = scope.project) =>
  client.admin.createTask(taskRequest(identifier(ResourceType.TASK, { name, project })));
/**
 * Columns: a description of the request, the call, the expected code, and a text in the error
 * message.
 */
const INVALID_REQUESTS: readonly [string, () => Promise<unknown>, keyof typeof Code, RegExp][] = [
  [
    "an input of the wrong type",
    () => client.admin.createExecution(executionRequest("e1", { inputs: { literals: { a: textOf("1") } } })),
    "INVALID_ARGUMENT",
    /\ba\b.*INTEGER.*STRING/,
  ],
  ["a missing input", () => client.admin.createExecution(executionRequest("e1", { inputs: {} })), "INVALID_ARGUMENT", /\ba\b.*missing/],
  [
    "an input that the launch plan does not declare",
    () =>
      client.admin.createExecution(executionRequest("e1", { inputs: { literals: { ...validInputs.literals, zz: integerLiteral(1n) } } })),
    "INVALID_ARGUMENT",
    /\bzz\b/,
  ],
  [
    "an unknown launch plan",
    () =>
      client.admin.createExecution(
        executionRequest("e1", { spec: { launchPlan: identifier(ResourceType.LAUNCH_PLAN, { name: "nosuch" }), metadata: {} } }),
      ),
    "NOT_FOUND",
    /LAUNCH_PLAN.*nosuch/,
  ],
  [
    "an unknown workflow",
    () =>
      client.admin.createLaunchPlan({
        id: identifier(ResourceType.LAUNCH_PLAN, { name: "lp1" }),
        spec: { workflowId: identifier(ResourceType.WORKFLOW, { name: "nosuch" }) },
      }),
    "NOT_FOUND",
    /WORKFLOW.*nosuch/,
  ],
  [
    "a read of an unknown workflow",
    () => client.admin.getWorkflow({ id: identifier(ResourceType.WORKFLOW, { name: "nosuch" }) }),
    "NOT_FOUND",
    /WORKFLOW.*nosuch/,
  ],
  ["an unknown project", () => named("t1", "nosuch"), "INVALID_ARGUMENT", /project.*nosuch/],
  ["an archived project", () => named("t1", ARCHIVED), "INVALID_ARGUMENT", /project.*put-away.*not active/],
  ["a filter without parentheses", () => list({ filters: "name=a" }), "INVALID_ARGUMENT", /filter/],
  ["a filter by an unknown column", () => list({ filters: "eq(nosuch,a)" }), "INVALID_ARGUMENT", /filters.*nosuch/],
  ["a filter with an unknown function", () => list({ filters: "like(name,a)" }), "INVALID_ARGUMENT", /filter.*like/],
  [
    "SQL in the column of a filter",
    () => list({ filters: "eq(name = '' OR 1=1; DROP TABLE tasks; --,a)" }),
    "INVALID_ARGUMENT",
    /filters.*DROP TABLE/,
  ],
  [
    "SQL in a sort key",
    () => list({ sortBy: { key: "name; DROP TABLE tasks; --", direction: 1 } }),
    "INVALID_ARGUMENT",
    /sort.*DROP TABLE/,
  ],
  ["a bad execution name", () => client.admin.createExecution(executionRequest("No_Such!")), "INVALID_ARGUMENT", /name.*No_Such!/],
  ["a name with a NUL character", () => named("a\0b"), "INVALID_ARGUMENT", /name/],
  [
    "a bad project id",
    () => client.admin.registerProject({ project: { id: "Not A Name", name: "x" } }),
    "INVALID_ARGUMENT",
    /(project|id).*Not A Name/,
  ],
  [
    "a missing version",
    () => client.admin.createTask(taskRequest(create(IdentifierSchema, { ...scope, resourceType: ResourceType.TASK, name: "t1" }))),
    "INVALID_ARGUMENT",
    /version/,
  ],
  ["a limit of 0", () => list({ limit: 0 }), "INVALID_ARGUMENT", /limit/],
  ["an invalid token", () => list({ token: "nosuch" }), "INVALID_ARGUMENT", /token/],
  [
    "a workflow with a cycle",
    () => client.admin.createWorkflow(workflowRequest(identifier(ResourceType.WORKFLOW, { name: "circle" }), { n0: ["n1"], n1: ["n0"] })),
    "INVALID_ARGUMENT",
    /n0>n1>n0/,
  ],
  [
    "an invalid message of 5 MB, which is within the limit",
    () => client.admin.createExecution(executionRequest("e1", { inputs: { literals: { a: textOf("x".repeat(5_000_000)) } } })),
    "INVALID_ARGUMENT",
    /\ba\b/,
  ],
  [
    "a message of 65 MB",
    () => client.admin.createExecution(executionRequest("e1", { inputs: { literals: { a: textOf("x".repeat(68_200_000)) } } })),
    "RESOURCE_EXHAUSTED",
    /larger|exceeds|max/,
  ],
];

test.each(INVALID_REQUESTS)("%s gets its own error", async (_, call, code, message) => {
  expect(await failureOf(call())).toEqual({ code, message: expect.stringMatching(message) as string });
});

test("NUL characters are refused in every field", async () => {
  const resources = { target: { case: "taskResourceAttributes" as const, value: { defaults: { cpu: "1\0" } } } };
  const attributes = { ...scope, matchingAttributes: resources };
  const refused = (field: string) => ({ code: "INVALID_ARGUMENT", message: expect.stringContaining(field) as string });
  expect(await failureOf(client.admin.updateProjectDomainAttributes({ attributes }))).toEqual(refused("matching_attributes"));
  const nodes = { workflowExecutionId: { ...scope, name: "known" }, limit: 10, uniqueParentId: "a\0b" };
  expect(await failureOf(client.admin.listNodeExecutions(nodes))).toEqual(refused("unique_parent_id"));
  const spec = { launchPlan: identifier(ResourceType.LAUNCH_PLAN), metadata: {}, envs: { values: [{ key: "A", value: "\0" }] } };
  expect(await failureOf(client.admin.createExecution(executionRequest("e1", { spec })))).toEqual(refused("envs"));
  const tagged = { launchPlan: identifier(ResourceType.LAUNCH_PLAN), metadata: {}, tags: ["\0"] };
  expect(await failureOf(client.admin.createExecution(executionRequest("e1", { spec: tagged })))).toEqual(refused("NUL"));
});

test("SQL in the value of a filter is treated as text", async () => {
  const { tasks } = await list({ filters: "eq(name,' OR 1=1 --)" });
  expect(tasks).toEqual([]);
  expect((await list({})).tasks).toHaveLength(1);
});

describe("requests that no client library sends", () => {
  const getProject = "/flyteidl.service.AdminService/GetProject";
  test.each([
    ["invalid UTF-8", getProject, "0a02fffe", Code.INVALID_ARGUMENT],
    ["a cut-off message", getProject, "0a50", Code.INVALID_ARGUMENT],
    ["an unknown method", "/flyteidl.service.AdminService/NoSuch", "", Code.UNIMPLEMENTED],
  ])("%s over gRPC", async (_, path, hex, code) => {
    const answer = await rawClient.grpc(path, Buffer.from(hex, "hex"));
    expect(codeName(answer.code as Code)).toBe(codeName(code));
    expect(answer.message).toMatch(/ProjectGetRequest|NoSuch/);
  });

  const tasks = "/api/v1/tasks/flytesnacks/development";
  const REST: readonly [string, Parameters<RawClient["rest"]>[0], Code, RegExp][] = [
    [
      "invalid UTF-8",
      { method: "POST", path: "/api/v1/tasks", body: Buffer.from('{"id":{"name":"\xff"}}', "latin1") },
      Code.INVALID_ARGUMENT,
      /TaskCreateRequest.*utf-8/,
    ],
    ["broken JSON", { method: "POST", path: "/api/v1/tasks", body: '{"id":' }, Code.INVALID_ARGUMENT, /TaskCreateRequest.*JSON/],
    ["a number for a name", { method: "POST", path: "/api/v1/tasks", body: '{"id":{"name":7}}' }, Code.INVALID_ARGUMENT, /name/],
    ["a limit that is not a number", { method: "GET", path: `${tasks}?limit=many` }, Code.INVALID_ARGUMENT, /limit.*many/],
    [
      "a body of 65 MB",
      { method: "POST", path: "/api/v1/tasks", body: `{"id":{"name":"${"x".repeat(68_200_000)}"}}` },
      Code.RESOURCE_EXHAUSTED,
      /larger than 16777216/,
    ],
    [
      "SQL in a sort key",
      { method: "GET", path: `${tasks}?limit=1&sort_by.key=name%3B%20DROP%20TABLE%20tasks` },
      Code.INVALID_ARGUMENT,
      /sort key.*DROP TABLE/,
    ],
  ];
  test.each(REST)("%s over REST", async (_, request, code, message) => {
    expect(await rawClient.rest(request)).toEqual({ code, message: expect.stringMatching(message) as string });
  });
});

test(
  `random requests for ${FUZZ_SECONDS} s from seed ${SEED} get no UNKNOWN or INTERNAL error and do not stop the server`,
  async () => {
    const end = performance.now() + FUZZ_SECONDS * 1_000;
    const random = seededRandom(SEED);
    const before = admin.residentBytes();
    const seen = new Map<string, number>();
    const wrong: string[] = [];
    let running = "known";
    const options = {
      services: [AdminService, DataProxyService, SignalService],
      known: RANDOM,
      samples: validRequests(PROJECT, () => running),
      random,
    };
    for (let index = 0; index < MIN_REQUESTS || performance.now() < end; index++) {
      if (index % 50 === 0) {
        await client.admin.updateProject({ id: PROJECT, name: "random", state: Project_ProjectState.ACTIVE });
        running = `running${index}`;
        await client.admin.createExecution(executionRequest(running, { project: PROJECT }));
      }
      const request = randomRequest(options);
      const { transport, method, path, body } = request;
      const answer = transport === "grpc" ? await rawClient.grpc(path, body) : await rawClient.rest({ method, path, body });
      const code = codeName(answer.code as Code);
      seen.set(code, (seen.get(code) ?? 0) + 1);
      if (answer.code === Code.UNKNOWN || answer.code === Code.INTERNAL || answer.code === Code.UNAVAILABLE) {
        wrong.push(`#${index} ${transport} ${method} ${path} ${Buffer.from(body).toString("base64")}: ${code} ${answer.message}`);
      }
    }
    if (process.env.FUZZ_SECONDS !== undefined) console.log(Object.fromEntries(seen), `${(admin.residentBytes() - before) >> 20} MiB`);
    const logged = admin.log().filter((line) => /"level":"(error|fatal)"/.test(line));
    // Show a few failures only.
    expect([...wrong.slice(0, 5), ...logged.slice(0, 5)]).toEqual([]);
    // Guard against a fuzzer whose requests all fail at the first check.
    for (const code of ["OK", "INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS"]) expect(seen.get(code), code).toBeGreaterThan(0);

    expect(admin.residentBytes() - before).toBeLessThan(512 * 1024 * 1024);
    await client.admin.createExecution(executionRequest("afterwards"));
    const { spec } = await client.admin.getExecution({ id: { ...scope, name: "afterwards" } });
    expect(spec?.launchPlan?.name).toBe("known");
  },
  600_000 + FUZZ_SECONDS * 2_000,
);
