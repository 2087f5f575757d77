import { connect as connectTcp } from "node:net";
import { once } from "node:events";
import { constants } from "node:http2";
import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { ProjectListRequestSchema, ProjectRegisterRequestSchema } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import { WorkflowCreateRequestSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { MemoryBudget } from "@flyte-ts/input-limits";
import { createLogger } from "@flyte-ts/telemetry";
import { afterEach, describe, expect, test } from "vitest";
import {
  type CallGuard,
  Code,
  codeName,
  createRpcServer,
  implement,
  type Interceptor,
  RequestTooLarge,
  RpcError,
  type RpcServerOptions,
  uniformLimits,
} from "../index.js";
import { frame, openSession, openStream, streamEnd } from "../server/raw-stream.fixture.js";

const CREATE = "/flyteidl.service.AdminService/CreateWorkflow";
const REGISTER = "/flyteidl.service.AdminService/RegisterProject";
const LIST = "/flyteidl.service.AdminService/ListProjects";

const json = { "content-type": "application/json" };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function start(options: Partial<RpcServerOptions> = {}) {
  const handled: string[] = [];
  let answering: Promise<unknown> = Promise.resolve();
  const hold = (until: Promise<unknown>): void => {
    answering = until;
  };
  const handle = (name: string) => async () => {
    handled.push(name);
    await answering;
    return {};
  };
  const service = implement(AdminService, {
    createWorkflow: handle("createWorkflow"),
    registerProject: handle("registerProject"),
    listProjects: handle("listProjects"),
  });
  const server = createRpcServer({ logger: createLogger({ service: "test", level: "silent" }), services: [service], ...options });
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  closing.push(() => server.drain({ deadlineMs: 100 }));
  const session = openSession(port);
  closing.push(() => session.destroy());
  const call = (path: string, body: Uint8Array, headers: Record<string, string> = {}) => {
    const stream = openStream(session, path, headers);
    const end = streamEnd(stream);
    stream.end(body);
    return end;
  };
  return { port, session, handled, call, hold, url: `http://127.0.0.1:${port}` };
}

/**
 * Encodes empty sub-workflows (field 2 of the closure's template is a node): the decoder builds a
 * message for every two bytes.
 */
function bomb(elements: number): Buffer {
  const nodes = Buffer.alloc(elements * 2, Buffer.from([0x22, 0x00]));
  const wrap = (field: number, bytes: Buffer): Buffer => {
    const length: number[] = [];
    for (let rest = bytes.length; ; rest >>>= 7) {
      if (rest < 0x80) {
        length.push(rest);
        break;
      }
      length.push((rest & 0x7f) | 0x80);
    }
    return Buffer.concat([Buffer.from([(field << 3) | 2, ...length]), bytes]);
  };
  return wrap(2, wrap(1, nodes));
}

const refuseAll: CallGuard = {
  admit: () => Promise.reject(new RpcError(Code.UNAUTHENTICATED, "sign in")),
  interceptor: () => Promise.reject(new RpcError(Code.UNAUTHENTICATED, "asked too late")),
};

describe("before the caller is known", () => {
  test("a call is refused by its headers, and its request is not read", async () => {
    const { session } = await start({ guard: refuseAll });
    const stream = openStream(session, CREATE);
    expect(await streamEnd(stream)).toMatchObject({ code: Code.UNAUTHENTICATED, message: "sign in" });
    // The server closes the stream although the client has not ended it.
    if (!stream.closed) await once(stream, "close");
  });

  test("a compressed request is not decompressed", async () => {
    const { call, handled } = await start({ guard: refuseAll });
    const damaged = frame(Buffer.from("no gzip at all"), true);
    expect(await call(CREATE, damaged, { "grpc-encoding": "gzip" })).toMatchObject({ code: Code.UNAUTHENTICATED });
    expect(handled).toEqual([]);
  });

  test("interceptors count and log a refused call", async () => {
    const seen: string[] = [];
    const watch: Interceptor = async ({ context }, next) => {
      try {
        return await next(context);
      } catch (error) {
        seen.push(`${context.method.name} ${codeName((error as RpcError).code)}`);
        throw error;
      }
    };
    const { call, url } = await start({ guard: refuseAll, interceptors: [watch] });
    await call(CREATE, frame(bomb(10)));
    expect((await fetch(`${url}/api/v1/workflows`, { method: "POST", headers: json, body: "{" })).status).toBe(401);
    expect(seen).toEqual(["CreateWorkflow UNAUTHENTICATED", "CreateWorkflow UNAUTHENTICATED"]);
  });
});

describe("a caller without the role that a method requires", () => {
  const lacking = new RpcError(Code.PERMISSION_DENIED, "role contributor is needed in some project");
  const guard: CallGuard = {
    admit: async () => ({ lacking }),
    interceptor: () => Promise.reject(new RpcError(Code.PERMISSION_DENIED, "role contributor is needed in project p")),
  };

  test("has a small request decoded, so that the refusal can name the project and domain", async () => {
    const { call } = await start({ guard });
    const small = toBinary(WorkflowCreateRequestSchema, create(WorkflowCreateRequestSchema, { id: { project: "p" } }));
    expect(await call(CREATE, frame(small))).toMatchObject({ code: Code.PERMISSION_DENIED, message: expect.stringMatching(/project p/) });
  });

  test.each([
    ["large", frame(Buffer.alloc(100_000)), {}],
    ["of many elements", frame(bomb(20_000)), {}],
    ["large after decompression", frame(gzipSync(Buffer.alloc(1_000_000)), true), { "grpc-encoding": "gzip" }],
  ])("is refused before decoding if the request is %s", async (_, body, headers) => {
    const { call } = await start({ guard });
    expect(await call(CREATE, body, headers)).toEqual({ code: Code.PERMISSION_DENIED, message: lacking.message });
  });
});

describe("limits of a request", () => {
  test("many empty messages are refused before they are built, plain and compressed", async () => {
    const { call, handled } = await start();
    const many = bomb(1_100_000);
    const refused = { code: Code.RESOURCE_EXHAUSTED, message: expect.stringMatching(/more than 1000000 elements/) };
    expect(await call(CREATE, frame(many))).toMatchObject(refused);
    expect(await call(CREATE, frame(gzipSync(many), true), { "grpc-encoding": "gzip" })).toMatchObject(refused);
    expect(handled).toEqual([]);
  });

  test("a compression bomb is refused by its declared and by its actual size", async () => {
    const { call } = await start();
    const packed = gzipSync(Buffer.alloc(64 << 20));
    const encoding = { "grpc-encoding": "gzip" };
    expect(await call(CREATE, frame(packed, true), encoding)).toMatchObject({ code: Code.RESOURCE_EXHAUSTED });
    packed.writeUInt32LE(1_000, packed.length - 4);
    expect(await call(CREATE, frame(packed, true), encoding)).toMatchObject({ code: Code.INVALID_ARGUMENT });
  });

  test("each method has its own size limit", async () => {
    const limits: RpcServerOptions["limits"] = (method) => uniformLimits(method.name === "CreateWorkflow" ? 10_000 : 1_000)(method);
    const { call } = await start({ limits });
    const filler = (schema: typeof ProjectListRequestSchema) => frame(toBinary(schema, create(schema, { filters: "x".repeat(5_000) })));
    expect(await call(LIST, filler(ProjectListRequestSchema))).toMatchObject({ code: Code.RESOURCE_EXHAUSTED });
    // Field 15 is unknown to the message.
    expect(await call(CREATE, frame(Buffer.concat([Buffer.from([0x7a, 0x88, 0x27]), Buffer.alloc(5_000)])))).toMatchObject({ code: 0 });
  });

  test("JSON nested 20,000 deep is an invalid argument", async () => {
    const { url } = await start();
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const answer = await fetch(`${url}/api/v1/workflows`, {
      method: "POST",
      headers: json,
      body: `{"spec":{"template":{"nodes":${deep}}}}`,
    });
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: Code.INVALID_ARGUMENT }]);
  });

  test("JSON with too many values is refused before it is parsed", async () => {
    const { url, handled } = await start();
    const body = `{"spec":{"template":{"nodes":[${"{},".repeat(1_050_000)}{}]}}}`;
    const answer = await fetch(`${url}/api/v1/workflows`, { method: "POST", headers: json, body });
    expect([answer.status, await answer.json()]).toMatchObject([413, { message: expect.stringMatching(/200000 elements/) }]);
    expect(handled).toEqual([]);
  });

  test("compressed requests and JSON bodies are bounded at 16 MiB where messages may be larger", async () => {
    const { call, handled, url } = await start({ limits: uniformLimits(64 << 20) });
    // Field 15 is unknown to the message: 17 MiB of one element.
    const filler = Buffer.concat([Buffer.from([0x7a, 0x80, 0x80, 0xc0, 0x08]), Buffer.alloc(17 << 20)]);
    expect(await call(CREATE, frame(filler))).toMatchObject({ code: 0 });
    const packed = frame(gzipSync(filler), true);
    expect(await call(CREATE, packed, { "grpc-encoding": "gzip" })).toMatchObject({
      code: Code.RESOURCE_EXHAUSTED,
      message: expect.stringMatching(/larger than 16777216 bytes when decompressed/),
    });
    // A message whose compressed form exceeds the limit is not even read.
    expect(await call(CREATE, frame(filler, true), { "grpc-encoding": "gzip" })).toMatchObject({
      code: Code.RESOURCE_EXHAUSTED,
      message: "request body is larger than 16777216 bytes",
    });
    const body = `{"id":{"name":"${"x".repeat(17 << 20)}"}}`;
    const answer = await fetch(`${url}/api/v1/workflows`, { method: "POST", headers: json, body });
    expect([answer.status, await answer.json()]).toMatchObject([413, { message: expect.stringMatching(/larger than 16777216 bytes/) }]);
    expect(handled).toEqual(["createWorkflow"]);
  });

  test("a client that is still sending receives the reason of the refusal", async () => {
    const { url } = await start();
    for (let attempt = 0; attempt < 5; attempt++) {
      const answer = await fetch(`${url}/api/v1/workflows`, { method: "POST", headers: json, body: "x".repeat(30_000_000) });
      expect([answer.status, await answer.json()]).toMatchObject([413, { code: Code.RESOURCE_EXHAUSTED }]);
    }
  });

  test("the length of a form is limited to that of a useful query", async () => {
    const { url } = await start();
    const form = (bytes: number) =>
      fetch(`${url}/api/v1/projects`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", "x-http-method-override": "GET" },
        body: `filters=${"a".repeat(bytes)}`,
      });
    expect((await form(200_000)).status).toBe(200);
    expect((await form(300_000)).status).toBe(413);
  });
});

describe("requests in flight", () => {
  const large = (name: string) =>
    toBinary(
      ProjectRegisterRequestSchema,
      create(ProjectRegisterRequestSchema, { project: { id: name, description: "x".repeat(50_000) } }),
    );

  test("share a memory budget: a request that exceeds it is refused, and a finished one releases its part", async () => {
    const { call, hold, handled, url } = await start({ budget: new MemoryBudget(450_000) });
    const held = Promise.withResolvers<void>();
    hold(held.promise);
    const first = [call(REGISTER, frame(large("a"))), call(REGISTER, frame(large("b")))];
    await expect.poll(() => handled.length).toBe(2);
    const refused = { code: Code.RESOURCE_EXHAUSTED, message: expect.stringMatching(/450000 bytes of memory/) };
    expect(await call(REGISTER, frame(large("c")))).toMatchObject(refused);
    const rest = await fetch(`${url}/api/v1/projects`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: Buffer.from(large("d")),
    });
    expect(rest.status).toBe(429);
    held.resolve();
    for (const call of first) expect(await call).toMatchObject({ code: 0 });
    expect(await call(REGISTER, frame(large("e")))).toMatchObject({ code: 0 });
  });

  test("include bodies of plain HTTP handlers in the budget", async () => {
    const held = Promise.withResolvers<void>();
    let read = 0;
    const { url } = await start({
      budget: new MemoryBudget(150_000),
      httpRoutes: [
        {
          path: "/hook",
          handle: async (_, response, { readBody }) => {
            const refused = await readBody(100_000).then(
              () => undefined,
              (error: RpcError) => error,
            );
            read += 1;
            if (refused === undefined) await held.promise;
            response.writeHead(refused === undefined ? 200 : refused instanceof RequestTooLarge ? 413 : 503).end();
          },
        },
      ],
    });
    const post = async (bytes: number) => (await fetch(`${url}/hook`, { method: "POST", body: "x".repeat(bytes) })).status;
    const first = post(90_000);
    await expect.poll(() => read).toBe(1);
    expect([await post(90_000), await post(100_001)]).toEqual([503, 413]);
    held.resolve();
    expect(await first).toBe(200);
    expect(await post(90_000)).toBe(200);
  });

  test("are refused with the reason if they need more than the whole budget", async () => {
    const { call } = await start({ budget: new MemoryBudget(100_000) });
    expect(await call(REGISTER, frame(large("a")))).toMatchObject({
      code: Code.RESOURCE_EXHAUSTED,
      message: expect.stringMatching(/needs more/),
    });
  });
});

describe("many calls of one connection", () => {
  const empty = frame(Buffer.alloc(0));

  test("wait for each other, while a call of another connection is processed at once", async () => {
    const { port, call, hold, handled } = await start({ maxConcurrentCalls: 2 });
    const held = Promise.withResolvers<void>();
    hold(held.promise);
    const calls = Array.from({ length: 5 }, () => call(LIST, empty));
    await expect.poll(() => handled.length).toBe(2);
    const other = openSession(port);
    closing.push(() => other.destroy());
    const stream = openStream(other, REGISTER);
    const end = streamEnd(stream);
    stream.end(empty);
    await expect.poll(() => handled.at(-1)).toBe("registerProject");
    expect(handled).toHaveLength(3);
    held.resolve();
    expect(await Promise.all([...calls, end])).toEqual(Array.from({ length: 6 }, () => expect.objectContaining({ code: 0 })));
    expect(handled).toHaveLength(6);
  });

  test("are not processed when they were cancelled while they waited", async () => {
    const { session, call, hold, handled } = await start({ maxConcurrentCalls: 1 });
    const held = Promise.withResolvers<void>();
    hold(held.promise);
    const first = call(LIST, empty);
    await expect.poll(() => handled.length).toBe(1);
    const cancelled = openStream(session, REGISTER);
    cancelled.end(empty);
    const last = call(CREATE, empty);
    cancelled.close(constants.NGHTTP2_CANCEL);
    await once(cancelled, "close");
    // The server acknowledges the ping after it has read the cancellation.
    await new Promise<void>((resolve, reject) => session.ping((error) => (error === null ? resolve() : reject(error))));
    held.resolve();
    expect([await first, await last]).toMatchObject([{ code: 0 }, { code: 0 }]);
    expect(handled).toEqual(["listProjects", "createWorkflow"]);
  });
});

describe("slow clients", () => {
  test("lose their stream if they send no request", async () => {
    const { session } = await start({ requestMs: 50 });
    expect(await streamEnd(openStream(session, LIST))).toMatchObject({ code: Code.DEADLINE_EXCEEDED });
    const begun = openStream(session, LIST);
    begun.write(frame(Buffer.alloc(100)).subarray(0, 20));
    expect(await streamEnd(begun)).toMatchObject({ code: Code.DEADLINE_EXCEEDED });
    const whole = openStream(session, LIST);
    whole.write(frame(Buffer.alloc(0)));
    expect(await streamEnd(whole)).toMatchObject({ code: Code.DEADLINE_EXCEEDED });
  });

  test("hold only a few streams at once, while clients of other connections are served", async () => {
    const { port, session, call } = await start({ maxUnanswered: 3 });
    const slowSession = openSession(port);
    closing.push(() => slowSession.destroy());
    const ends = Array.from({ length: 5 }, () => streamEnd(openStream(slowSession, LIST)));
    // Waiting streams end with their connection.
    for (const end of ends) end.catch(() => undefined);
    const refused = { code: Code.RESOURCE_EXHAUSTED, message: expect.stringMatching(/too many calls are waiting/) };
    expect(await Promise.all(ends.slice(0, 2))).toMatchObject([refused, refused]);
    const slow = openStream(session, LIST);
    const slowEnd = streamEnd(slow);
    expect(await ends[2]).toMatchObject(refused);
    expect(await call(LIST, frame(Buffer.alloc(0)))).toMatchObject({ code: 0 });
    slow.end(frame(Buffer.alloc(0)));
    expect(await slowEnd).toMatchObject({ code: 0 });
  });

  test("lose their connection if they do not finish a request head", async () => {
    const { port } = await start({ headersMs: 50 });
    const socket = connectTcp(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write("GET /healthcheck HTTP/1.1\r\nHost: a\r\nX-Slow: ");
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 408/);
    await once(socket, "close");
  });

  test("cannot open more connections than the limit", async () => {
    const { port, url } = await start({ maxConnections: 2 });
    const spare = connectTcp(port, "127.0.0.1");
    closing.push(() => spare.destroy());
    await once(spare, "connect");
    await expect(fetch(`${url}/healthcheck`)).rejects.toThrow(/fetch failed/);
  });
});
