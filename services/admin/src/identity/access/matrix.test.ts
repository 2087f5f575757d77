import { request } from "node:http";
import { Code, codeName, createClient, RpcError } from "@flyte-ts/rpc";
import { type DescMethod, type DescService, type Message } from "@bufbuild/protobuf";
import { ServerReflection } from "@flyte-ts/idl/grpc/reflection/v1/reflection_pb";
import { type RequestScope, anyRequest, restCalls, type TokenIssuer, tokenIssuer } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";

const OWN: RequestScope = { project: "flytesnacks", domain: "development" };
const OTHER_DOMAIN: RequestScope = { project: "flytesnacks", domain: "production" };
const OTHER_PROJECT: RequestScope = { project: "other", domain: "development" };

/** Callers: a role in one project and domain, in the whole project, everywhere, or no role. */
const PEOPLE = ["viewer", "runner", "contributor", "admin", "engine", "project-admin", "platform-admin", "no-role"] as const;
type Person = (typeof PEOPLE)[number];

/**
 * Expected permissions, kept separately from the rules: a change of the rules needs a change here.
 */
const VIEWER: readonly Person[] = ["viewer", "runner", "contributor", "admin", "engine", "project-admin", "platform-admin"];
const RUNNER: readonly Person[] = ["runner", "contributor", "admin", "engine", "project-admin", "platform-admin"];
const CONTRIBUTOR: readonly Person[] = ["contributor", "admin", "project-admin", "platform-admin"];
const ADMIN: readonly Person[] = ["admin", "project-admin", "platform-admin"];
const PROJECT_ADMIN: readonly Person[] = ["project-admin", "platform-admin"];
const PLATFORM: readonly Person[] = ["platform-admin"];
const ENGINE: readonly Person[] = ["engine"];
const ALL: readonly Person[] = PEOPLE;

interface Expected {
  readonly own: readonly Person[];
  /** Callers of another domain of the same project, and of another project. */
  readonly domain: readonly Person[];
  readonly project: readonly Person[];
  readonly open?: boolean;
}

const inScope = (own: readonly Person[]): Expected => ({
  own,
  domain: own.filter((each) => PROJECT_ADMIN.includes(each)),
  project: own.filter((each) => PLATFORM.includes(each)),
});
const inProject = (own: readonly Person[]): Expected => ({ own, domain: own, project: own.filter((each) => PLATFORM.includes(each)) });
const wherever = (own: readonly Person[]): Expected => ({ own, domain: own, project: own });
const open: Expected = { ...wherever(ALL), open: true };

const each = (expected: Expected, names: string): [string, Expected][] => names.split(/\s+/).map((name) => [name, expected]);

const EXPECTED = new Map<string, Expected>([
  ...each(inScope(CONTRIBUTOR), "CreateTask CreateWorkflow CreateLaunchPlan UpdateLaunchPlan UpdateNamedEntity"),
  ...each(inScope(CONTRIBUTOR), "CreateTrigger UpdateTrigger SetTriggerState DeleteTrigger RotateTriggerSecret"),
  ...each(inScope(RUNNER), "CreateExecution RelaunchExecution RecoverExecution UpdateExecution TerminateExecution"),
  ...each(inScope(RUNNER), "CreateUploadLocation GetOrCreateSignal SetSignal RetryDelivery"),
  ...each(inScope(VIEWER), "GetTask ListTaskIds ListTasks GetWorkflow ListWorkflowIds ListWorkflows GetLaunchPlan GetActiveLaunchPlan"),
  ...each(inScope(VIEWER), "ListActiveLaunchPlans ListLaunchPlanIds ListLaunchPlans GetNamedEntity ListNamedEntities"),
  ...each(inScope(VIEWER), "GetDescriptionEntity ListDescriptionEntities GetExecution GetExecutionData GetExecutionMetrics ListExecutions"),
  ...each(inScope(VIEWER), "GetNodeExecution GetDynamicNodeWorkflow GetNodeExecutionData ListNodeExecutions ListNodeExecutionsForTask"),
  ...each(
    inScope(VIEWER),
    "GetTaskExecution GetTaskExecutionData ListTaskExecutions ListSignals ListNextRuns ListDeliveries WatchExecution FollowLog",
  ),
  ...each(inScope(VIEWER), "GetTrigger ListTriggers ListFirings WatchNodeTable WatchItemTable ListNodeAttempts GetErrorGroups"),
  ...each(inScope(VIEWER), "GetWorkflowGraph GetExecutionGraph GetOverview Search ListAttributes"),
  ...each(inScope(VIEWER), "CreateDownloadLocation CreateDownloadLink GetData GetProjectDomainAttributes GetWorkflowAttributes"),
  ...each(inScope(ENGINE), "CreateWorkflowEvent CreateNodeEvent CreateTaskEvent"),
  ...each(inScope(ADMIN), "UpdateProjectDomainAttributes DeleteProjectDomainAttributes UpdateWorkflowAttributes DeleteWorkflowAttributes"),
  ...each(inScope(ADMIN), "ListAuditEntries ListClusterResources PutRoleBinding DeleteRoleBinding TestNotification"),
  ...each(inScope(ADMIN), "SetRetentionPolicy DeleteRetentionPolicy DeleteExecution DeleteExecutions"),
  ...each(inScope(VIEWER), "GetRetentionPolicy PreviewRetention"),
  ...each(inProject(PROJECT_ADMIN), "ListRetentionPolicies"),
  ...each(inProject(PROJECT_ADMIN), "UpdateProject UpdateProjectAttributes DeleteProjectAttributes"),
  ...each(inProject(VIEWER), "GetProject GetProjectAttributes"),
  ...each(
    wherever(PLATFORM),
    "RegisterProject ListMatchableAttributes ListRoleBindings ListSchedules RevokeTokens ListClusters ImportExecution",
  ),
  ...each(wherever(VIEWER), "ListProjects GetDomains GetVersion GetAgent ListAgents ServerReflectionInfo"),
  ...each(wherever(ALL), "UserInfo GetMyAccess"),
  ...each(open, "GetOAuth2Metadata GetPublicClientConfig Check Watch"),
]);

let database: AdminDatabase;
let idp: TokenIssuer;
let admin: ServedAdmin;
beforeAll(async () => {
  [database, idp] = await Promise.all([adminDatabase(), tokenIssuer()]);
  const roles = [
    ...(["viewer", "runner", "contributor", "admin", "engine"] as const).map((role) => ({ subject: role, role, ...OWN })),
    { group: "owners", role: "admin" as const, project: OWN.project },
    { subject: "platform-admin", role: "admin" as const },
  ];
  const auth = { mode: "required", publicUrl: "https://flyte.test", providers: [{ issuer: idp.issuer }], roles };
  const config = adminConfigSchema.parse({ auth, projects: [OWN.project, "other"] });
  admin = await serveAdmin({ db: database.db, config });
});
afterAll(async () => {
  await admin.stop();
  await Promise.all([database.stop(), idp.stop()]);
});

const tokenOf = (person: Person, claims: object = {}) =>
  idp.token({ sub: person, ...(person === "project-admin" && { groups: ["owners"] }), ...claims });

/**
 * Outcome of a call as far as this test distinguishes it: a permitted request may still be invalid
 * or name no object.
 */
type Outcome = "let in" | "PERMISSION_DENIED" | "UNAUTHENTICATED";

function outcomeOf(code: string): Outcome {
  return code === "PERMISSION_DENIED" || code === "UNAUTHENTICATED" ? code : "let in";
}

async function byGrpc(method: DescMethod, request: Message, token?: string): Promise<{ outcome: Outcome; message: string }> {
  const client = createClient({ channel: admin.channel, service: method.parent }) as unknown as Record<
    string,
    (request: unknown, options: object) => Promise<unknown> | AsyncIterable<unknown>
  >;
  const options = { ...(token !== undefined && { metadata: { "flyte-authorization": `Bearer ${token}` } }), deadlineMs: 10_000 };
  const streams = method.methodKind === "bidi_streaming" || method.methodKind === "client_streaming";
  try {
    const answer = client[method.localName]?.(streams ? one(request) : request, options);
    if (method.methodKind === "unary") await answer;
    else for await (const _ of answer as AsyncIterable<unknown>) break;
    return { outcome: "let in", message: "" };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { outcome: outcomeOf(codeName(error.code)), message: error.message };
  }
}

async function* one<Value>(value: Value): AsyncGenerator<Value> {
  yield value;
}

async function byRest(method: DescMethod, request: Message, token?: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { method: verb, path, body } of restCalls(method, request)) {
    const response = await fetch(`http://127.0.0.1:${admin.port}${path}`, {
      method: verb,
      headers: { "content-type": "application/json", ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body }),
    });
    await response.arrayBuffer();
    outcomes.push(response.status === 401 ? "UNAUTHENTICATED" : response.status === 403 ? "PERMISSION_DENIED" : "let in");
  }
  return outcomes;
}

const methods = (): DescMethod[] => admin.server.services.flatMap((service: DescService) => service.methods);

test("this test lists every served method", () => {
  expect([...new Set(methods().map(({ name }) => name))].sort()).toEqual([...EXPECTED.keys()].sort());
});

/** Returns the calls with an unexpected outcome. */
async function wrongOutcomes(person: Person, about: RequestScope, rightful: (expected: Expected) => readonly Person[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const method of methods()) {
    const expected = EXPECTED.get(method.name);
    if (expected === undefined) continue;
    const want: Outcome = rightful(expected).includes(person) ? "let in" : "PERMISSION_DENIED";
    const request = anyRequest(method.input, about);
    const grpc = await byGrpc(method, request, tokenOf(person));
    const rest = await byRest(method, request, tokenOf(person));
    for (const got of [grpc.outcome, ...rest]) if (got !== want) wrong.push(`${method.name}: ${got} ${grpc.message}`);
    const unnamed = want === "PERMISSION_DENIED" && !/role (viewer|runner|contributor|admin|engine) is needed/.test(grpc.message);
    if (unnamed) wrong.push(`${method.name}: the role is not named in: ${grpc.message}`);
  }
  return wrong;
}

describe.each(PEOPLE)("%s", (person) => {
  test.each<[string, RequestScope, (expected: Expected) => readonly Person[]]>([
    ["their own project and domain", OWN, ({ own }) => own],
    ["another domain of the project", OTHER_DOMAIN, ({ domain }) => domain],
    ["another project", OTHER_PROJECT, ({ project }) => project],
  ])("is permitted exactly the methods of its roles in %s", async (_, about, rightful) => {
    expect(await wrongOutcomes(person, about, rightful)).toEqual([]);
  });
});

test.each([
  ["no token", () => undefined],
  ["a token that has expired", () => tokenOf("platform-admin", { exp: 1_000 })],
  ["a token of an unknown issuer", () => tokenOf("platform-admin", { iss: "https://evil.test" })],
  ["an invalid token", () => "x"],
])("%s permits only public methods", async (_, token) => {
  for (const method of methods()) {
    const request = anyRequest(method.input, OWN);
    const want = EXPECTED.get(method.name)?.open === true ? "let in" : "UNAUTHENTICATED";
    expect([method.name, (await byGrpc(method, request, token())).outcome]).toEqual([method.name, want]);
    for (const outcome of await byRest(method, request, token())) expect([method.name, outcome]).toEqual([method.name, want]);
  }
});

test("a request without a project needs a global role", async () => {
  for (const method of methods()) {
    const expected = EXPECTED.get(method.name);
    if (expected === undefined || expected.project === expected.own) continue;
    const { outcome } = await byGrpc(method, anyRequest(method.input, { project: "", domain: "" }), tokenOf("project-admin"));
    expect([method.name, outcome]).toEqual([method.name, "PERMISSION_DENIED"]);
    for (const wild of ["*", "%"]) {
      const answer = await byGrpc(method, anyRequest(method.input, { project: wild, domain: wild }), tokenOf("project-admin"));
      expect([method.name, answer.outcome]).toEqual([method.name, "PERMISSION_DENIED"]);
    }
  }
});

test("other HTTP paths need a role, except health", async () => {
  const get = async (path: string, token?: string) =>
    (await fetch(`http://127.0.0.1:${admin.port}${path}`, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } }))
      .status;
  expect(await get("/healthcheck")).toBe(200);
  expect(await get("/api/v1/openapi")).toBe(401);
  expect(await get("/api/v1/openapi", tokenOf("no-role"))).toBe(403);
  expect(await get("/api/v1/openapi", tokenOf("viewer"))).toBe(200);
});

test("a caller without a token is refused before the body is read", async () => {
  const refused = await new Promise<number | undefined>((done, fail) => {
    const headers = { "content-type": "application/json", "content-length": 100_000_000 };
    const answer = request({ host: "127.0.0.1", port: admin.port, method: "POST", path: "/api/v1/workflows", headers }, (response) => {
      done(response.statusCode);
      answer.destroy();
    });
    answer.on("error", fail);
    // The request is never completed.
    answer.write("{");
  });
  expect(refused).toBe(401);
});

test("reflection is available to callers with a role", async () => {
  const reflection = createClient({ channel: admin.channel, service: ServerReflection });
  const answer = async (token?: string) => {
    const metadata: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    for await (const { messageResponse } of reflection.serverReflectionInfo(
      one({ messageRequest: { case: "listServices" as const, value: "" } }),
      { metadata },
    )) {
      return messageResponse.case;
    }
    return undefined;
  };
  await expect(answer()).rejects.toMatchObject({ code: Code.UNAUTHENTICATED });
  await expect(answer(tokenOf("no-role"))).rejects.toMatchObject({ code: Code.PERMISSION_DENIED });
  expect(await answer(tokenOf("viewer"))).toBe("listServicesResponse");
});
