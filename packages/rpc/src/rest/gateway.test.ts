import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { create, fromBinary, toBinary, type MessageShape } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { InactiveProjectSchema } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import {
  ExecutionCreateRequestSchema,
  ExecutionListSchema,
  WorkflowExecutionGetDataResponseSchema,
} from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { Sort_Direction, type ResourceListRequest } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { StatusSchema } from "@flyte-ts/idl/google/rpc/status_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { AsyncAgentService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { IdentityService } from "@flyte-ts/idl/flyteidl/service/identity_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createHttpPolicy } from "@flyte-ts/http-policy";
import { Code, createRpcServer, implement, RpcError, uniformLimits, unimplementedService, type CallContext } from "../index.js";

// Records each call: these tests check the handlers' arguments.
let calls: { method: string; request: unknown; context: CallContext }[] = [];
beforeEach(() => {
  calls = [];
});
function note<T>(request: T, context: CallContext): T {
  calls.push({ method: context.method.name, request, context });
  return request;
}

const server = createRpcServer({
  logger: createLogger({ service: "test", level: "silent" }),
  limits: uniformLimits(100_000),
  httpPolicy: createHttpPolicy({ listenAddress: "127.0.0.1", allowedOrigins: ["http://console.example"] }),
  corsHeaders: ["X-Own"],
  httpRoutes: [
    { path: "/files/", handle: (_, response, { path, query }) => void response.end(`${path} ${query.get("q") ?? ""}`) },
    { path: "/broken", handle: () => Promise.reject(new Error("secret")) },
  ],
  services: [
    unimplementedService(IdentityService),
    implement(AdminService, {
      getVersion: () => ({ controlPlaneVersion: { Build: "b", Version: "v", BuildTime: "t" } }),
      getTask(request, context) {
        if (note(request, context).id?.name === "missing") throw new RpcError(Code.NOT_FOUND, "no such task");
        return { id: request.id, closure: { compiledTask: { template: { custom: { a: [1, null] } } } } };
      },
      listExecutions: (request, context) => ({ token: note(request, context).token }),
      listNamedEntities: (request, context) => ({ token: String(note(request, context).resourceType) }),
      getExecutionData: (request, context) => {
        note(request, context);
        return {
          fullInputs: {
            literals: {
              a: {
                value: {
                  case: "scalar",
                  value: { value: { case: "primitive", value: { value: { case: "integer", value: 9007199254740993n } } } },
                },
              },
            },
          },
        };
      },
      createExecution: (request, context) => ({ id: { project: note(request, context).project, name: request.name } }),
      updateExecution: (request, context) => {
        note(request, context);
        return {};
      },
      terminateExecution: (request, context) => {
        note(request, context);
        return {};
      },
      getTaskExecution: (request, context) => {
        note(request, context);
        return {};
      },
      createTask: () => {
        const details = [{ schema: InactiveProjectSchema, message: create(InactiveProjectSchema, { id: "p" }) }];
        throw new RpcError(Code.INVALID_ARGUMENT, "project [p] is not active", { details });
      },
      getProject: (request) => {
        throw new RpcError(request.id === "auth" ? Code.UNAUTHENTICATED : Code.FAILED_PRECONDITION, "no\ntext");
      },
      getDomains: () => {
        throw new Error("secret");
      },
      listProjects: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted")))),
    }),
    implement(DataProxyService, {
      createDownloadLocation: (request, context) => {
        note(request, context);
        return {};
      },
    }),
    implement(AsyncAgentService, {
      async *getTaskLogs(request) {
        yield { part: { case: "header", value: { token: request.token } } };
        if (request.lines === 13n) throw new RpcError(Code.ABORTED, "stop");
        yield { part: { case: "body", value: { results: ["x"] } } };
      },
    }),
  ],
});
const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
afterAll(() => server.drain({ deadlineMs: 100 }));

interface Exchange {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
  readonly json?: unknown;
}
interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  readonly json: unknown;
}

function exchange(path: string, { method = "GET", headers = {}, body, json }: Exchange = {}): Promise<Answer> {
  const payload = json === undefined ? body : JSON.stringify(json);
  const length = payload === undefined ? {} : { "content-length": String(Buffer.byteLength(payload)) };
  const all = {
    ...(headers["transfer-encoding"] ? {} : length),
    ...(json === undefined ? {} : { "content-type": "application/json" }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: "127.0.0.1", port, path, method, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const bytes = Buffer.concat(chunks);
        const text = bytes.toString();
        const isJson = response.headers["content-type"] === "application/json" && text.startsWith("{") && !text.includes("\n");
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: bytes,
          text,
          json: isJson ? JSON.parse(text) : undefined,
        });
      });
    });
    sent.on("error", reject);
    sent.end(payload);
  });
}
const octet = { "content-type": "application/octet-stream" };
const last = (): unknown => calls.at(-1)?.request;

describe("paths", () => {
  test("set nested fields with decoded values", async () => {
    expect((await exchange("/api/v1/tasks/p/d%2Dx/a%20b/v1")).status).toBe(200);
    expect(last()).toMatchObject({ id: { project: "p", domain: "d-x", name: "a b", version: "v1" } });
  });

  test("in an additional binding reach the same method", async () => {
    await exchange("/api/v1/task_executions/p/d/e/n/tp/td/tn/tv/3");
    expect(last()).toMatchObject({
      id: { taskId: { project: "tp", version: "tv" }, nodeExecutionId: { executionId: { name: "e" }, nodeId: "n" }, retryAttempt: 3 },
    });
  });

  test.each([
    ["/api/v1/tasks/p/d/a%2Fb/v1", 404, 5],
    ["/nosuch", 404, 5],
    ["/", 404, 5],
    ["/api/v1/task_executions/p/d/e/n/tp/td/tn/tv/x", 400, 3],
    ["/api/v1/task_executions/p/d/e/n/tp/td/tn/tv/-1", 400, 3],
    ["/api/v1/task_executions/p/d/e/n/tp/td/tn/tv/4294967296", 400, 3],
    ["/api/v1/named_entities/planet/p/d?limit=1", 400, 3],
    ["/api/v1/tasks/p/d/%ff/v1", 400, 3],
    ["/api/v1/tasks/p/d/%zz/v1", 400, 3],
    ["/api/v1/tasks/p/d/missing/v1", 404, 5],
    ["/me", 501, 12],
  ])("%s is answered with %i and code %i", async (path, status, code) => {
    const answer = await exchange(path);
    expect([answer.status, answer.json]).toMatchObject([status, { code, details: [] }]);
  });

  test("with a slash at the end have an empty last value", async () => {
    expect((await exchange("/api/v1/tasks/p/d/n/")).status).toBe(200);
    expect(last()).toMatchObject({ id: { name: "n", version: "" } });
  });

  test.each([
    ["/api//v1/version", "/api/v1/version"],
    ["/api/v1/./x/../version?a=b", "/api/v1/version?a=b"],
    ["//evil.example/x/", "/evil.example/x/"],
    ["/\\evil.example//x", "/%5Cevil.example/x"],
  ])("%s redirects to %s", async (path, location) => {
    const answer = await exchange(path);
    expect([answer.status, answer.headers.location]).toEqual([307, location]);
  });

  test.each(["POST", "HEAD", "DELETE", "PATCH"])("%s on a path that has only GET is not implemented", async (method) => {
    const answer = await exchange("/api/v1/version", { method, headers: { "x-http-method-override": "GET" } });
    expect(answer.status).toBe(501);
    expect(answer.text).toBe(method === "HEAD" ? "" : '{"code":12,"message":"Method Not Allowed","details":[]}');
  });

  test("contain an enum by name or number", async () => {
    expect((await exchange("/api/v1/named_entities/WORKFLOW/p/d?limit=1")).json).toMatchObject({ token: "2" });
    expect((await exchange("/api/v1/named_entities/2/p/d?limit=1")).json).toMatchObject({ token: "2" });
  });
});

describe("queries", () => {
  const list = async (query: string): Promise<ResourceListRequest> => {
    expect((await exchange(`/api/v1/executions/p/d?${query}`)).status).toBe(200);
    return last() as ResourceListRequest;
  };

  test.each([["limit=7&sort_by.key=k&sort_by.direction=ASCENDING"], ["limit=7&sortBy.key=k&sortBy.direction=1"]])("%s", async (query) => {
    expect(await list(query)).toMatchObject({ limit: 7, sortBy: { key: "k", direction: Sort_Direction.ASCENDING } });
  });

  test("contain a plus as a space, and an escaped plus as a plus", async () => {
    expect((await list("filters=a+b%2Bc%3B")).filters).toBe("a b+c;");
  });

  test("may contain unknown parameters and fields that the path has set, which are ignored", async () => {
    expect(await list("zzz=1&id.project=other&id.name=n&id.zzz.x=1")).toMatchObject({ id: { project: "p", domain: "d", name: "n" } });
  });

  test("contain durations in Go's format", async () => {
    await exchange("/api/v1/dataproxy/artifact_urn?native_url=x&expires_in=1m1.5s");
    expect(last()).toMatchObject({ nativeUrl: "x", expiresIn: { seconds: 61n, nanos: 500_000_000 } });
  });

  test.each([
    "limit=many",
    "limit=-1",
    "limit=4294967296",
    "limit=1&limit=2",
    "sort_by.direction=UP",
    "sort_by=x",
    "filters.x=1",
    "filters=a;b",
    "filters=%f",
    "filters=%ff",
  ])("%s is an invalid argument", async (query) => {
    const answer = await exchange(`/api/v1/executions/p/d?${query}`);
    expect([answer.status, answer.json]).toMatchObject([400, { code: 3 }]);
  });

  test("are refused with the name of the field", async () => {
    expect((await exchange("/api/v1/executions/p/d?limit=many")).json).toMatchObject({
      message: expect.stringMatching(/"limit".*"many"/) as string,
    });
  });

  test("may be sent as a form if they are long", async () => {
    const answer = await exchange("/api/v1/executions/p/d?limit=3", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "filters=a%2Bb",
    });
    expect(answer.status).toBe(200);
    expect(last()).toMatchObject({ limit: 3, filters: "a+b" });
  });
});

describe("bodies", () => {
  const url = "/api/v1/executions";

  test.each([
    ["proto names", { project: "p", name: "n", spec: { launch_plan: { resource_type: "LAUNCH_PLAN" }, max_parallelism: 3 } }],
    ["JSON names", { project: "p", name: "n", spec: { launchPlan: { resourceType: 3 }, maxParallelism: "3" } }],
  ])("%s", async (_, json) => {
    const answer = await exchange(url, { method: "POST", json });
    expect([answer.status, answer.json]).toEqual([200, { id: { project: "p", domain: "", name: "n", org: "" } }]);
    expect(last()).toMatchObject({ spec: { launchPlan: { resourceType: 3 }, maxParallelism: 3 } });
  });

  test("contain 64-bit integers with all digits, also as JSON numbers", async () => {
    const integer = "9007199254740993";
    const body = `{"inputs":{"literals":{"a":{"scalar":{"primitive":{"integer":${integer}}}}}}}`;
    expect((await exchange(url, { method: "POST", body, headers: { "content-type": "application/json" } })).status).toBe(200);
    const { inputs } = last() as MessageShape<typeof ExecutionCreateRequestSchema>;
    expect(inputs?.literals.a).toMatchObject({
      value: { value: { value: { value: { value: { case: "integer", value: BigInt(integer) } } } } },
    });
  });

  test.each([
    ["text after the value", '{"project":"p"} trailing'],
    ["nothing", ""],
    ["white space", " \n"],
  ])("%s is accepted", async (_, body) => {
    expect((await exchange(url, { method: "POST", body, headers: { "content-type": "application/json" } })).status).toBe(200);
  });

  test.each([
    ["null", "null"],
    ["an array", "[]"],
    ["a text", '"x"'],
    ["not JSON", "{project"],
    ["cut off", '{"project":"p"'],
    ["an unknown field", '{"zzz":1}'],
    ["a duplicate key", '{"project":"a","project":"b"}'],
    ["a field in both spellings", '{"spec":{"launchPlan":{},"launch_plan":{}}}'],
    ["two members of a oneof", '{"spec":{"notificationOverrides":{},"disableAll":true}}'],
    ["a wrong type", '{"project":1}'],
    ["an unknown enum name", '{"spec":{"metadata":{"mode":"NOPE"}}}'],
    ["half a surrogate pair", '{"project":"\\ud800"}'],
    ["a raw control character", '{"project":"a\nb"}'],
    ["100 000 levels", "[".repeat(100_000)],
    ["a huge number", '{"spec":{"maxParallelism":1e400}}'],
  ])("%s is an invalid argument", async (_, body) => {
    const answer = await exchange(url, { method: "POST", body, headers: { "content-type": "application/json" } });
    expect([answer.status, answer.json]).toMatchObject([400, { code: 3 }]);
  });

  test("with an unknown field are refused with its name, and accepted unless they are declared as JSON", async () => {
    expect((await exchange(url, { method: "POST", json: { zzz: 1 } })).json).toMatchObject({
      message: expect.stringContaining('unknown field "zzz"') as string,
    });
    expect(
      (await exchange(url, { method: "POST", body: '{"zzz":1,"project":"p"}', headers: { "content-type": "application/other" } })).status,
    ).toBe(200);
    expect(last()).toMatchObject({ project: "p" });
  });

  test("with invalid UTF-8 are an invalid argument", async () => {
    const body = Buffer.concat([Buffer.from('{"project":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect((await exchange(url, { method: "POST", body, headers: { "content-type": "application/json" } })).status).toBe(400);
    expect((await exchange(url, { method: "POST", body: Buffer.from([0x0a, 1, 0xff]), headers: octet })).status).toBe(400);
  });

  test("are read for DELETE, and fields of the path take precedence", async () => {
    await exchange("/api/v1/executions/p/d/e", { method: "DELETE", json: { cause: "c", id: { project: "other", org: "o" } } });
    expect(last()).toMatchObject({ cause: "c", id: { project: "p", name: "e", org: "o" } });
    expect((await exchange("/api/v1/executions/p/d/e?cause=query", { method: "DELETE" })).status).toBe(200);
    expect(last()).toMatchObject({ cause: "" });
  });

  test("above the limit are refused, and the connection serves the next request", async () => {
    const tooLarge = { project: "x".repeat(150_000) };
    const answer = await exchange(url, { method: "POST", json: tooLarge });
    expect([answer.status, answer.json]).toMatchObject([413, { code: 8 }]);
    expect((await exchange(url, { method: "POST", body: Buffer.alloc(1_000_000), headers: octet })).status).toBe(413);
    expect(
      (await exchange(url, { method: "POST", headers: { ...octet, "transfer-encoding": "chunked" }, body: Buffer.alloc(150_000) })).status,
    ).toBe(413);
    // White space counts toward the size of the body, not of the message.
    expect(
      (
        await exchange(url, {
          method: "POST",
          body: `${" ".repeat(150_000)}{"project":"p"}`,
          headers: { "content-type": "application/json" },
        })
      ).status,
    ).toBe(200);
  });
});

describe("responses", () => {
  const message = create(ExecutionCreateRequestSchema, { project: "p", name: "n" });
  const bytes = toBinary(ExecutionCreateRequestSchema, message);

  test("are protobuf for protobuf requests, and JSON if Accept asks for it", async () => {
    const plain = await exchange("/api/v1/executions", { method: "POST", body: bytes, headers: octet });
    expect([plain.headers["content-type"], plain.body.toString("hex")]).toEqual(["application/octet-stream", "0a060a017022016e"]);
    const json = await exchange("/api/v1/executions", { method: "POST", body: bytes, headers: { ...octet, accept: "application/json" } });
    expect(json.json).toMatchObject({ id: { project: "p", name: "n" } });
  });

  test("are protobuf for a GET that accepts it, also errors", async () => {
    const accept = { accept: "application/octet-stream" };
    const answer = await exchange("/api/v1/executions/p/d?limit=1&token=t", { headers: accept });
    expect(fromBinary(ExecutionListSchema, answer.body).token).toBe("t");
    const failed = await exchange("/api/v1/tasks/p/d/missing/v1", { headers: accept });
    expect([failed.status, failed.headers["content-type"]]).toEqual([404, "application/octet-stream"]);
    expect(fromBinary(StatusSchema, failed.body)).toMatchObject({ code: 5, message: "no such task" });
  });

  test("contain zero values and null for unset messages, and omit unset members of a oneof", async () => {
    const { json } = await exchange("/api/v1/tasks/p/d/n/v");
    expect(json).toMatchObject({
      id: { resourceType: "UNSPECIFIED", org: "" },
      closure: {
        createdAt: null,
        compiledTask: { template: { custom: { a: [1, null] }, metadata: null, config: {}, taskTypeVersion: 0 } },
      },
      shortDescription: "",
    });
    expect((json as { closure: { compiledTask: { template: object } } }).closure.compiledTask.template).not.toHaveProperty("container");
  });

  test("contain 64-bit integers as text and empty metadata maps as objects", async () => {
    const { json, body } = await exchange("/api/v1/data/executions/p/d/e");
    expect(json).toEqual({
      outputs: null,
      inputs: null,
      fullInputs: { literals: { a: { scalar: { primitive: { integer: "9007199254740993" } }, hash: "", metadata: {} } } },
      fullOutputs: null,
    });
    expect(body.length).toBeGreaterThan(0);
    const accept = { accept: "application/octet-stream" };
    expect(
      fromBinary(WorkflowExecutionGetDataResponseSchema, (await exchange("/api/v1/data/executions/p/d/e", { headers: accept })).body)
        .fullInputs,
    ).toBeDefined();
  });

  test("use names of the .proto file if JSON is requested by name, else lowerCamelCase", async () => {
    const path = "/api/v1/data/executions/p/d/e";
    expect((await exchange(path, { headers: { accept: "application/json" } })).json).toHaveProperty("full_inputs");
    expect((await exchange(path, { headers: { "content-type": "application/json; charset=utf-8" } })).json).toHaveProperty("full_inputs");
    expect((await exchange(path, { headers: { accept: "application/json, text/plain, */*" } })).json).toHaveProperty("fullInputs");
  });

  test("without fields are an empty object", async () => {
    expect((await exchange("/api/v1/executions/p/d/e", { method: "PUT", json: {} })).text).toBe("{}");
    expect(
      (await exchange("/api/v1/executions/p/d/e", { method: "PUT", body: toBinary(EmptySchema, create(EmptySchema)), headers: octet })).body
        .length,
    ).toBe(0);
  });

  test("contain the type of each error detail", async () => {
    const answer = await exchange("/api/v1/tasks", { method: "POST", json: {} });
    expect([answer.status, answer.json]).toEqual([
      400,
      {
        code: 3,
        message: "project [p] is not active",
        details: [{ "@type": "type.googleapis.com/flyteidl.admin.InactiveProject", id: "p", org: "" }],
      },
    ]);
  });

  test("to an undeclared failure do not contain its cause", async () => {
    const answer = await exchange("/api/v1/domains");
    expect([answer.status, answer.json]).toEqual([500, { code: 13, message: "internal error", details: [] }]);
    expect((await exchange("/broken")).status).toBe(500);
  });

  test("encode error texts that headers cannot contain", async () => {
    expect((await exchange("/api/v1/projects/x")).status).toBe(400);
    const answer = await exchange("/api/v1/projects/auth");
    expect([answer.status, answer.headers["www-authenticate"]]).toEqual([401, "no?text"]);
  });

  test("end a call at the timeout of the client", async () => {
    expect((await exchange("/api/v1/projects", { headers: { "grpc-timeout": "20m" } })).status).toBe(504);
    expect((await exchange("/api/v1/projects", { headers: { "grpc-timeout": "soon" } })).status).toBe(400);
  });

  test.each(["1500u", "1n", "1000H", "99999999H"])("apply a timeout of %s, however short or long", async (timeout) => {
    const short = /[un]$/.test(timeout);
    const path = short ? "/api/v1/projects" : "/api/v1/version";
    expect((await exchange(path, { headers: { "grpc-timeout": timeout } })).status).toBe(short ? 504 : 200);
  });

  test("are JSON lines for streams", async () => {
    const path = "/api/v1/agent/task/logs/a/1/meta";
    const answer = await exchange(`${path}?token=t`);
    expect(
      answer.text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([{ result: { header: { token: "t" } } }, { result: { body: { results: ["x"], structuredLines: [] } } }]);
    expect((await exchange(`${path}?lines=13`)).text).toContain('"error":{"code":10');
  });
});

describe("context", () => {
  test("contains headers, request ids and the peer", async () => {
    await exchange("/api/v1/tasks/p/d/n/v", { headers: { "X-Request-ID": "mine", Authorization: "Bearer x", "Grpc-Metadata-Own": "o" } });
    const context = calls.at(-1)?.context;
    expect(context).toMatchObject({ requestId: "mine", transport: "rest", peer: expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string });
    expect([context?.metadata.get("authorization"), context?.metadata.get("own"), context?.metadata.get("none")]).toEqual([
      "Bearer x",
      "o",
      undefined,
    ]);
    await exchange("/api/v1/tasks/p/d/n/v", { headers: { "X-Request-ID": "two words" } });
    expect(calls.at(-1)?.context.requestId).toMatch(/^a-[a-z0-9]{20}$/);
  });
});

describe("other paths of the server", () => {
  test("serve health, additional routes and the API's description", async () => {
    const health = await exchange("/healthcheck");
    expect([health.status, health.text, health.headers["content-type"]]).toEqual([200, "", undefined]);
    expect((await exchange("/files/a%20b?q=1")).text).toBe("/files/a%20b 1");
    const { json } = await exchange("/api/v1/openapi");
    expect(json).toMatchObject({
      swagger: "2.0",
      paths: { "/api/v1/tasks/{id.project}/{id.domain}/{id.name}/{id.version}": { get: { operationId: "AdminService_GetTask" } } },
      definitions: { adminTask: { properties: { short_description: { type: "string" } } } },
    });
    const { definitions } = json as { definitions: object };
    const referred = new Set(Array.from(JSON.stringify(json).matchAll(/#\/definitions\/([A-Za-z0-9_]+)/g), ([, name]) => name ?? ""));
    expect([...referred].filter((name) => !(name in definitions))).toEqual([]);
  });

  const preflight = (headers: Record<string, string>, path = "/api/v1/projects"): Promise<Answer> =>
    exchange(path, { method: "OPTIONS", headers });
  const origin = "http://console.example";

  test.each([
    ["no origin", {}, 200, {}],
    ["no method", { Origin: origin }, 400, {}],
    ["a method that is not allowed", { Origin: origin, "Access-Control-Request-Method": "TRACE" }, 405, {}],
    [
      "a header that is not allowed",
      { Origin: origin, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "x-other" },
      403,
      {},
    ],
    [
      "a simple method",
      { Origin: origin, "Access-Control-Request-Method": "GET" },
      200,
      { "access-control-allow-origin": origin, "access-control-allow-credentials": "true" },
    ],
    ["PUT", { Origin: origin, "Access-Control-Request-Method": "PUT" }, 200, { "access-control-allow-methods": "PUT" }],
    [
      "headers",
      { Origin: origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "accept, content-type,x-own" },
      200,
      { "access-control-allow-headers": "Content-Type,X-Own" },
    ],
  ])("answer a preflight request with %s", async (_, headers, status, expected) => {
    const answer = await preflight(headers as Record<string, string>);
    expect([answer.status, answer.text]).toEqual([status, ""]);
    expect(answer.headers).toMatchObject(expected);
    const granted = Object.keys(answer.headers).some((name) => name.startsWith("access-control"));
    expect(granted).toBe(status === 200 && "Origin" in headers);
  });

  test("answer a preflight request for an unknown path, and errors with the allowed origin", async () => {
    expect((await preflight({ Origin: origin, "Access-Control-Request-Method": "GET" }, "/nosuch")).status).toBe(200);
    expect((await exchange("/nosuch", { headers: { Origin: origin } })).headers).toMatchObject({ "access-control-allow-origin": origin });
    expect((await exchange("/api/v1/version")).headers).not.toHaveProperty("access-control-allow-origin");
  });
});

describe("web pages of other origins", () => {
  const evil = { origin: "https://evil.example" };
  const task = '{"id":{"project":"p"}}';

  test.each([
    ["a simple request", "POST", { ...evil, "content-type": "text/plain" }, 403],
    ["a request as JSON", "POST", { ...evil, "content-type": "application/json" }, 403],
    ["a read", "GET", evil, 403],
    ["a preflight", "OPTIONS", { ...evil, "access-control-request-method": "POST" }, 403],
    ["an image", "GET", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }, 403],
    [
      "a page of a rebound name",
      "POST",
      { host: "evil.example:30080", origin: "http://evil.example:30080", "content-type": "application/json" },
      403,
    ],
    ["a read by a rebound name", "GET", { host: "evil.example:30080" }, 403],
    ["a body that a page may send without a preflight", "POST", { "content-type": "text/plain" }, 415],
    ["a body without a type", "POST", {}, 415],
  ])("%s is refused before its handler, without CORS headers", async (_, method, headers, status) => {
    const body = method === "POST" ? task : undefined;
    for (const path of ["/api/v1/tasks", "/api/v1/executions/p/d"]) {
      const answer = await exchange(path, { method, headers: headers as Record<string, string>, ...(body && { body }) });
      expect(answer.status).toBe(method === "POST" && path !== "/api/v1/tasks" && status === 415 ? 501 : status);
      expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
    expect(calls).toEqual([]);
  });

  test("cannot set or override headers of browsers and proxies by Grpc-Metadata-*", async () => {
    const names = ["Origin", "Sec-Fetch-Site", "Host", "Cookie", "Authorization", "X-Forwarded-For", "Own"];
    const forged = Object.fromEntries(names.map((name) => [`Grpc-Metadata-${name}`, "forged"]));
    await exchange("/api/v1/executions/p/d", { headers: { ...forged, "sec-fetch-site": "same-origin" } });
    const { metadata } = calls.at(-1)?.context ?? {};
    expect(names.map((name) => metadata?.get(name))).toEqual([
      undefined,
      "same-origin",
      expect.stringContaining("127.0.0.1"),
      undefined,
      undefined,
      undefined,
      "forged",
    ]);
    await exchange("/api/v1/executions/p/d", { headers: { "Grpc-Metadata-Own": "forged", own: "real" } });
    expect(calls.at(-1)?.context.metadata.get("own")).toBe("real");
  });
});
