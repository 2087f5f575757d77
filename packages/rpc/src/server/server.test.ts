import { once } from "node:events";
import { connect } from "node:net";
import { request as httpRequest, Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { GetVersionResponseSchema } from "@flyte-ts/idl/flyteidl/admin/version_pb";
import { GetDomainRequestSchema, InactiveProjectSchema } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { AsyncAgentService, SyncAgentService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { IdentityService } from "@flyte-ts/idl/flyteidl/service/identity_pb";
import { Health } from "@flyte-ts/idl/grpc/health/v1/health_pb";
import { ServerReflection, type ServerReflectionRequest } from "@flyte-ts/idl/grpc/reflection/v1/reflection_pb";
import { ServerReflection as ServerReflectionAlpha } from "@flyte-ts/idl/grpc/reflection/v1alpha/reflection_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { Client as GrpcClient, compressionAlgorithms, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "vitest";
import {
  Code,
  createClient,
  createRpcServer,
  EncodedMessage,
  implement,
  openChannel,
  RpcError,
  unimplementedService,
  type CallContext,
  type Channel,
  type RpcServer,
  type RpcServerOptions,
} from "../index.js";

const running: { server: RpcServer; channel: Channel }[] = [];
afterEach(async () => {
  for (const { server, channel } of running.splice(0)) {
    channel.close();
    await server.drain({ deadlineMs: 200 });
  }
});

async function start(options: Partial<RpcServerOptions>): Promise<{ server: RpcServer; channel: Channel; port: number }> {
  const server = createRpcServer({ logger: createLogger({ service: "test", level: "silent" }), services: [], ...options });
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  const channel = openChannel({ endpoint: `127.0.0.1:${port}` });
  running.push({ server, channel });
  return { server, channel, port };
}

async function failure(promise: Promise<unknown>): Promise<RpcError> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RpcError);
  return error as RpcError;
}

/** Sends bytes unchanged, unlike a typed client. */
function rawCall({
  port,
  path,
  bytes,
  options = {},
}: {
  port: number;
  path: string;
  bytes: Uint8Array;
  options?: object;
}): Promise<Buffer> {
  const client = new GrpcClient(`127.0.0.1:${port}`, credentials.createInsecure(), options);
  return new Promise<Buffer>((resolve, reject) => {
    const same = (buffer: Buffer): Buffer => buffer;
    client.makeUnaryRequest(path, same, same, Buffer.from(bytes), new Metadata(), (error, response) =>
      error ? reject(error) : resolve(response as Buffer),
    );
  }).finally(() => client.close());
}

test("a caller that sends a request id gets it back, and other callers get a generated id with a failure", async () => {
  const service = implement(AdminService, {
    getVersion: () => ({}),
    getDomains: () => {
      throw new RpcError(Code.NOT_FOUND, "none");
    },
  });
  const { port } = await start({ services: [service] });
  const ids = (method: string, given?: string): Promise<unknown[]> => {
    const client = new GrpcClient(`127.0.0.1:${port}`, credentials.createInsecure());
    const metadata = new Metadata();
    if (given !== undefined) metadata.set("x-request-id", given);
    const same = (buffer: Buffer): Buffer => buffer;
    return new Promise<unknown[]>((resolve) => {
      let first: unknown;
      const path = `/flyteidl.service.AdminService/${method}`;
      const call = client.makeUnaryRequest(path, same, same, Buffer.alloc(0), metadata, () => undefined);
      call.on("metadata", (head: Metadata) => (first = head.get("x-request-id")[0]));
      call.on("status", ({ metadata: tail }: { metadata: Metadata }) => resolve([first, tail.get("x-request-id")[0]]));
    }).finally(() => client.close());
  };
  expect(await ids("GetVersion", "mine-1")).toEqual(["mine-1", undefined]);
  expect(await ids("GetVersion")).toEqual([undefined, undefined]);
  expect(await ids("GetDomains", "mine-2")).toEqual([undefined, "mine-2"]);
  expect((await ids("GetDomains"))[1]).toMatch(/^a-[a-z0-9]{20}$/);
  const http = async (headers: Record<string, string>) =>
    (await fetch(`http://127.0.0.1:${port}/api/v1/version`, { headers })).headers.get("x-request-id");
  expect(await http({ "x-request-id": "mine-3" })).toBe("mine-3");
  expect(await http({ "grpc-metadata-x-request-id": "mine-4" })).toBe("mine-4");
  expect(await http({ "x-request-id": "no good: a space" })).toMatch(/^a-[a-z0-9]{20}$/);
});

describe("unary calls", () => {
  test("return encoded responses unchanged over gRPC and REST", async () => {
    const version = create(GetVersionResponseSchema, { controlPlaneVersion: { Build: "b", Version: "1" } });
    const { channel, port } = await start({
      services: [
        implement(AdminService, {
          getVersion: () => new EncodedMessage(GetVersionResponseSchema, toBinary(GetVersionResponseSchema, version)),
        }),
      ],
      // Interceptors pass encoded answers on unchanged.
      interceptors: [(call, next) => next(call.context)],
    });
    expect(await createClient({ channel, service: AdminService }).getVersion({})).toEqual(version);
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/version`);
    expect(await answer.json()).toEqual({ controlPlaneVersion: { Build: "b", Version: "1", BuildTime: "" } });
  });

  test("run concurrently over one connection", async () => {
    const { channel } = await start({
      services: [
        implement(AdminService, {
          getTask: async ({ id }) => {
            await delay(1);
            return { shortDescription: id?.name ?? "" };
          },
        }),
      ],
    });
    const client = createClient({ channel, service: AdminService });
    const answers = await Promise.all(Array.from({ length: 500 }, (_, index) => client.getTask({ id: { name: `n${index}` } })));
    expect(answers.map((task) => task.shortDescription)).toEqual(Array.from({ length: 500 }, (_, index) => `n${index}`));
  });

  test("keep code, text and details of errors, in any script", async () => {
    const text = "100% \u00fcber \u6f22\u5b57 \u{1f600}\nsecond\tline \ud800 end";
    const { channel } = await start({
      services: [
        implement(AdminService, {
          getTask: () => {
            const details = [{ schema: InactiveProjectSchema, message: create(InactiveProjectSchema, { id: "p" }) }];
            throw new RpcError(Code.FAILED_PRECONDITION, text, { details });
          },
        }),
      ],
    });
    const error = await failure(createClient({ channel, service: AdminService }).getTask({}));
    expect([error.code, error.message]).toEqual([Code.FAILED_PRECONDITION, text.toWellFormed()]);
    expect(error.findDetails(InactiveProjectSchema)).toMatchObject([{ id: "p" }]);
    expect(error.findDetails(GetDomainRequestSchema)).toEqual([]);
  });

  test.each([
    ["ASCII", "x"],
    ["spaces", " "],
    ["three bytes each", "\u6f22"],
    ["four bytes each", "\u{1f600}"],
  ])("return a shortened error text (%s) that stock clients accept, with its details", async (_, piece) => {
    const details = [{ schema: InactiveProjectSchema, message: create(InactiveProjectSchema, { id: "p" }) }];
    const { port } = await start({
      services: [
        implement(AdminService, {
          getTask: () => Promise.reject(new RpcError(Code.NOT_FOUND, piece.repeat(50_000))),
          getWorkflow: () => Promise.reject(new RpcError(Code.NOT_FOUND, piece.repeat(50_000), { details })),
        }),
      ],
    });
    for (const method of ["GetTask", "GetWorkflow"]) {
      const call = rawCall({
        port,
        path: `/flyteidl.service.AdminService/${method}`,
        bytes: new Uint8Array(0),
        options: { "grpc.max_metadata_size": 32 * 1024 },
      });
      const error = (await call.catch((thrown: unknown) => thrown)) as ServiceError;
      expect(error.code).toBe(Code.NOT_FOUND);
      expect(error.details.length).toBeGreaterThan(1_000);
      expect(error.details.replaceAll(piece, "")).toBe("");
      expect(error.metadata.get("grpc-status-details-bin").length).toBe(method === "GetTask" ? 0 : 1);
    }
  });

  test("return INTERNAL and a constant text for an undeclared error, and log its stack", async () => {
    const lines: { fields: { err?: Error }; text: string }[] = [];
    const logger = createLogger({ service: "test", level: "silent" });
    logger.error = ((fields: { err?: Error }, text: string) => void lines.push({ fields, text })) as typeof logger.error;
    const { channel } = await start({
      logger,
      services: [
        implement(AdminService, {
          getTask: () => {
            throw new TypeError("password=hunter2");
          },
          getProject: () => Promise.reject(new RpcError(Code.NOT_FOUND, "no such project")),
        }),
      ],
    });
    const client = createClient({ channel, service: AdminService });
    expect(await failure(client.getTask({}))).toMatchObject({ code: Code.INTERNAL, message: "internal error" });
    await failure(client.getProject({}));
    expect(lines).toMatchObject([{ text: "call failed", fields: { method: "flyteidl.service.AdminService/GetTask" } }]);
    expect(lines[0]?.fields.err?.stack).toContain("hunter2");
  });

  test.each([
    ["random bytes", "ffffffff"],
    ["cut off", "0a50"],
    ["invalid UTF-8", "0a03120180"],
    ["a zero tag", "00"],
    ["groups nested too deep", "1b".repeat(200)],
  ])("with a request of %s are INVALID_ARGUMENT", async (_, hex) => {
    const { port } = await start({ services: [implement(AdminService, { getTask: () => ({}) })] });
    const call = rawCall({ port, path: "/flyteidl.service.AdminService/GetTask", bytes: Buffer.from(hex, "hex") });
    await expect(call).rejects.toMatchObject({
      code: Code.INVALID_ARGUMENT,
      details: expect.stringContaining("flyteidl.admin.ObjectGetRequest") as string,
    });
  });

  test("accept unknown fields, gzip and a token of 64 KiB; other encodings are UNIMPLEMENTED", async () => {
    const { port, channel } = await start({
      services: [implement(AdminService, { getVersion: () => ({}) }), unimplementedService(IdentityService)],
    });
    expect(await rawCall({ port, path: "/flyteidl.service.AdminService/GetVersion", bytes: Buffer.from("f80701", "hex") })).toHaveLength(0);
    const gzip = { "grpc.default_compression_algorithm": compressionAlgorithms.gzip };
    expect(
      await rawCall({ port, path: "/flyteidl.service.AdminService/GetVersion", bytes: Buffer.from("f80701", "hex"), options: gzip }),
    ).toHaveLength(0);
    for (const path of [
      "/flyteidl.service.AdminService/GetTask",
      "/flyteidl.service.AdminService/Nope",
      "/no.such.Service/X",
      "/flyteidl.service.IdentityService/UserInfo",
    ]) {
      await expect(rawCall({ port, path, bytes: new Uint8Array(0) })).rejects.toMatchObject({ code: Code.UNIMPLEMENTED });
    }
    expect(
      await createClient({ channel, service: AdminService }).getVersion(
        {},
        { metadata: { authorization: `Bearer ${"t".repeat(20_000)}` } },
      ),
    ).toBeDefined();
  });

  test("with a message above the limit are RESOURCE_EXHAUSTED, and the next call succeeds", async () => {
    const { channel } = await start({
      services: [implement(AdminService, { getTask: ({ id }) => ({ shortDescription: String(id?.name.length) }) })],
    });
    const client = createClient({ channel, service: AdminService });
    expect((await failure(client.getTask({ id: { name: "x".repeat(5_000_000) } }))).code).toBe(Code.RESOURCE_EXHAUSTED);
    expect((await client.getTask({ id: { name: "x".repeat(4_000_000) } })).shortDescription).toBe("4000000");
  });

  test("report only calls refused as unauthenticated to the provider of their metadata", async () => {
    const codes = [Code.UNAUTHENTICATED, Code.PERMISSION_DENIED] as const;
    let calls = 0;
    const getTask = () => {
      throw new RpcError(codes[calls++] ?? Code.INTERNAL, "no");
    };
    const { port } = await start({ services: [implement(AdminService, { getTask })] });
    let refused = 0;
    const channel = openChannel({ endpoint: `127.0.0.1:${port}`, onUnauthenticated: () => refused++ });
    try {
      const client = createClient({ channel, service: AdminService });
      for (const code of codes) expect((await failure(client.getTask({}))).code).toBe(code);
      expect(refused).toBe(1);
    } finally {
      channel.close();
    }
  });

  test("are not sent when they are aborted while their metadata are fetched", async () => {
    let calls = 0;
    const { port } = await start({ services: [implement(AdminService, { getTask: () => ({ shortDescription: String(++calls) }) })] });
    const given = new AbortController();
    const metadata = async () => {
      given.abort();
      return {};
    };
    const channel = openChannel({ endpoint: `127.0.0.1:${port}`, metadata });
    try {
      const made = createClient({ channel, service: AdminService }).getTask({}, { signal: given.signal });
      await expect(made).rejects.toMatchObject({ name: "AbortError" });
      expect(calls).toBe(0);
    } finally {
      channel.close();
    }
  });

  test("have a context with the caller and a signal that is aborted when the caller disconnects", async () => {
    let seen: CallContext | undefined;
    const gone = Promise.withResolvers<void>();
    const { channel } = await start({
      services: [
        implement(AdminService, {
          getTask: (_, context) => {
            seen = context;
            context.signal.addEventListener("abort", () => gone.resolve());
            return new Promise(() => {});
          },
        }),
      ],
    });
    const client = createClient({ channel, service: AdminService });
    const controller = new AbortController();
    const call = failure(client.getTask({}, { signal: controller.signal, metadata: { "x-request-id": "mine", own: "o" } }));
    while (!seen) await delay(1);
    expect(seen).toMatchObject({ requestId: "mine", transport: "grpc", peer: expect.stringContaining("127.0.0.1") as string });
    expect([seen.metadata.get("OWN"), seen.metadata.get("none"), seen.signal.aborted]).toEqual(["o", undefined, false]);
    controller.abort();
    expect((await call).code).toBe(Code.CANCELLED);
    await gone.promise;
    expect((await failure(client.getTask({}, { deadlineMs: 20 }))).code).toBe(Code.DEADLINE_EXCEEDED);
    await expect(client.getTask({}, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
  });
});

test("run interceptors around each call, outermost first, which may refuse it", async () => {
  const order: string[] = [];
  const { channel, port } = await start({
    services: [
      implement(AdminService, {
        getTask: (_, { requestId, signal, peer }) => ({ shortDescription: `${requestId} ${signal.aborted} ${peer === ""}` }),
      }),
    ],
    interceptors: [
      async ({ context }, next) => {
        order.push("a in");
        try {
          return await next({ ...context, requestId: "changed" });
        } finally {
          order.push("a out");
        }
      },
      async ({ request, context }, next) => {
        order.push(context.method.name);
        if ((request as { id?: { name: string } }).id?.name === "secret") throw new RpcError(Code.PERMISSION_DENIED, "not yours");
        return next(context);
      },
    ],
  });
  const client = createClient({ channel, service: AdminService });
  expect((await client.getTask({})).shortDescription).toBe("changed false false");
  expect((await failure(client.getTask({ id: { name: "secret" } }))).code).toBe(Code.PERMISSION_DENIED);
  expect(order).toEqual(["a in", "GetTask", "a out", "a in", "GetTask", "a out"]);
  // REST and reflection behave the same.
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/tasks/p/d/secret/v`);
  expect(response.status).toBe(403);
});

describe("streams", () => {
  const agents = implement(AsyncAgentService, {
    async *getTaskLogs({ lines, token }) {
      for (let i = 0n; i < lines; i++) yield { part: { case: "header", value: { token: `${token}${i}` } } };
      if (token === "fail") throw new RpcError(Code.ABORTED, "stopped");
    },
  });

  test("from the server keep their order and end with the error", async () => {
    const { channel } = await start({ services: [agents] });
    const client = createClient({ channel, service: AsyncAgentService });
    const tokens: string[] = [];
    for await (const { part } of client.getTaskLogs({ lines: 300n, token: "t".repeat(1000) }))
      if (part.case === "header") tokens.push(part.value.token.slice(1000));
    expect(tokens).toEqual(Array.from({ length: 300 }, (_, index) => String(index)));
    const seen: unknown[] = [];
    const failed = (async () => {
      for await (const each of client.getTaskLogs({ lines: 2n, token: "fail" })) seen.push(each);
    })();
    expect(await failure(failed)).toMatchObject({ code: Code.ABORTED, message: "stopped" });
    expect(seen).toHaveLength(2);
  });

  test("in both directions deliver responses before the last request", async () => {
    const { channel } = await start({
      services: [
        implement(SyncAgentService, {
          async *executeTaskSync(requests) {
            for await (const { part } of requests) {
              if (part.case === "header") yield { res: { case: "header", value: {} } };
              else return;
            }
          },
        }),
      ],
    });
    const client = createClient({ channel, service: SyncAgentService });
    let answered = 0;
    const next = Promise.withResolvers<void>();
    const requests = (async function* () {
      yield { part: { case: "header" as const, value: {} } };
      await next.promise;
      yield { part: { case: "inputs" as const, value: {} } };
    })();
    for await (const _ of client.executeTaskSync(requests)) {
      answered++;
      next.resolve();
    }
    expect(answered).toBe(1);
  });

  test("accumulate no listeners over many requests", async () => {
    const { channel } = await start({
      services: [
        implement(SyncAgentService, {
          async *executeTaskSync(requests) {
            for await (const _ of requests) yield { res: { case: "header", value: {} } };
          },
        }),
      ],
    });
    const warnings: string[] = [];
    const note = ({ name }: Error) => warnings.push(name);
    process.on("warning", note);
    const requests = (async function* () {
      for (let sent = 0; sent < 20; sent++) yield { part: { case: "header" as const, value: {} } };
    })();
    let answered = 0;
    for await (const _ of createClient({ channel, service: SyncAgentService }).executeTaskSync(requests)) answered++;
    process.off("warning", note);
    expect([answered, warnings]).toEqual([20, []]);
  });

  test("stop on the server when the client leaves the loop", async () => {
    const stopped = Promise.withResolvers<void>();
    const errors: string[] = [];
    const logger = createLogger({ service: "test", level: "silent" });
    logger.error = ((_: object, text: string) => void errors.push(text)) as typeof logger.error;
    const { channel } = await start({
      logger,
      services: [
        implement(AsyncAgentService, {
          async *getTaskLogs() {
            try {
              for (;;) yield { part: { case: "header", value: { token: "x".repeat(10_000) } } };
            } finally {
              stopped.resolve();
            }
          },
        }),
      ],
    });
    for await (const _ of createClient({ channel, service: AsyncAgentService }).getTaskLogs({})) break;
    await expect(stopped.promise).resolves.toBeUndefined();
    await delay(5);
    expect(errors).toEqual([]);
  });
});

describe("health and reflection", () => {
  test("answer check and watch until the server drains", async () => {
    const { server, channel } = await start({ services: [] });
    const client = createClient({ channel, service: Health });
    expect((await client.check({ service: "flyteadmin" })).status).toBe(1);
    expect((await client.check({})).status).toBe(1);
    expect((await failure(client.check({ service: "nosuch" }))).code).toBe(Code.NOT_FOUND);
    const seen: number[] = [];
    for await (const { status } of client.watch({})) {
      seen.push(status);
      if (status === 1) void server.drain({ deadlineMs: 30_000 });
    }
    expect(seen).toEqual([1, 2]);
  });

  test.each([["v1", ServerReflection] as const, ["v1alpha", ServerReflectionAlpha] as const])(
    "%s lists services and serves their files with imports",
    async (_, service) => {
      const { channel } = await start({ services: [implement(AdminService, {}), unimplementedService(IdentityService)] });
      const client = createClient({ channel, service: service as typeof ServerReflection });
      const reflect = async (...questions: ServerReflectionRequest["messageRequest"][]) => {
        const requests = (async function* () {
          for (const messageRequest of questions) yield { host: "h", messageRequest };
        })();
        const answers = [];
        for await (const answer of client.serverReflectionInfo(requests)) answers.push(answer);
        return answers;
      };
      const [list, symbol, file, missing, extension] = await reflect(
        { case: "listServices", value: "" },
        { case: "fileContainingSymbol", value: "flyteidl.service.AdminService.GetTask" },
        { case: "fileByFilename", value: "flyteidl/core/literals.proto" },
        { case: "fileContainingSymbol", value: "no.such.Thing" },
        {
          case: "fileContainingExtension",
          value: {
            $typeName: "grpc.reflection.v1.ExtensionRequest",
            containingType: "google.protobuf.MethodOptions",
            extensionNumber: 72295728,
          },
        },
      );
      const names = [
        "flyteidl.service.AdminService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
      ];
      expect(list?.messageResponse).toMatchObject({ case: "listServicesResponse", value: { service: names.map((name) => ({ name })) } });
      const files = (answer: typeof symbol): string[] =>
        answer?.messageResponse.case === "fileDescriptorResponse"
          ? answer.messageResponse.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name)
          : [];
      expect(files(symbol)[0]).toBe("flyteidl/service/admin.proto");
      expect(files(symbol)).toEqual(
        expect.arrayContaining(["google/api/http.proto", "google/protobuf/descriptor.proto", "flyteidl/core/literals.proto"]),
      );
      expect(files(file)[0]).toBe("flyteidl/core/literals.proto");
      expect(missing?.messageResponse).toMatchObject({ case: "errorResponse", value: { errorCode: 5 } });
      expect(files(extension)[0]).toBe("google/api/annotations.proto");
      expect(list).toMatchObject({ validHost: "h", originalRequest: { messageRequest: { case: "listServices" } } });
    },
  );
});

describe("web pages of other origins", () => {
  const version = "/flyteidl.service.AdminService/GetVersion";
  const calledWith = async ({ authority, headers = {} }: { authority?: string; headers?: Record<string, string> }) => {
    const called: unknown[] = [];
    const getVersion = (request: unknown) => {
      called.push(request);
      return {};
    };
    const { port } = await start({ services: [implement(AdminService, { getVersion })] });
    const client = new GrpcClient(`127.0.0.1:${port}`, credentials.createInsecure(), {
      ...(authority !== undefined && { "grpc.default_authority": authority }),
    });
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    const same = (buffer: Buffer): Buffer => buffer;
    const code = await new Promise<number>((resolve) => {
      client.makeUnaryRequest(version, same, same, Buffer.alloc(0), metadata, (error) => resolve(error?.code ?? 0));
    }).finally(() => client.close());
    return [code, called.length];
  };

  test("with a rebound host name or another page's origin have gRPC calls refused before the handler", async () => {
    expect(await calledWith({})).toEqual([0, 1]);
    expect(await calledWith({ authority: "localhost:30080" })).toEqual([0, 1]);
    expect(await calledWith({ authority: "evil.example:30080" })).toEqual([7, 0]);
    expect(await calledWith({ headers: { origin: "https://evil.example" } })).toEqual([7, 0]);
    expect(await calledWith({ headers: { "sec-fetch-site": "cross-site" } })).toEqual([7, 0]);
  });
});

describe("the port", () => {
  test("detects the protocol for any split of the first bytes", async () => {
    const { port } = await start({ services: [implement(AdminService, { getVersion: () => ({}) })] });
    const socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    for (const letter of "PUT /api/v1/version HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n") {
      socket.write(letter);
      await delay(1);
    }
    const text = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString())));
    expect(text).toContain("501 Not Implemented");
    socket.destroy();
    const http2 = connect(port, "127.0.0.1");
    http2.write("PRI * HT");
    await delay(5);
    http2.write("TP/2.0\r\n\r\nSM\r\n\r\n");
    http2.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    const frame = await new Promise<Buffer>((resolve) => http2.once("data", resolve));
    expect(frame[3]).toBe(4); // SETTINGS
    http2.destroy();
  });

  test("survives garbage, silence and resets", async () => {
    const { port, channel } = await start({ services: [implement(AdminService, { getVersion: () => ({}) })] });
    for (const bytes of [
      "\u0000\u0001\u0002",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\ngarbage garbage garbage",
      "GET",
      "GET / HTTP/9.9\r\n\r\n",
      "",
    ]) {
      const socket = connect(port, "127.0.0.1");
      await new Promise((resolve) => socket.once("connect", resolve));
      socket.on("error", () => {});
      socket.write(bytes);
      await delay(5);
      socket.resetAndDestroy();
    }
    await expect(createClient({ channel, service: AdminService }).getVersion({})).resolves.toBeDefined();
  });

  test("cannot be bound twice", async () => {
    const { port } = await start({});
    const other = createRpcServer({ logger: createLogger({ service: "test", level: "silent" }), services: [] });
    expect(() => other.address).toThrow("is not listening");
    await expect(other.listen({ host: "127.0.0.1", port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});

describe("drain", () => {
  const slow = (): { options: Partial<RpcServerOptions>; started: Promise<void>; finish: () => void; aborted: () => boolean } => {
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    let signal: AbortSignal | undefined;
    const service = implement(AdminService, {
      getVersion: async (_, context) => {
        signal = context.signal;
        started.resolve();
        await finish.promise;
        return { controlPlaneVersion: { Version: "done" } };
      },
    });
    return { options: { services: [service] }, started: started.promise, finish: finish.resolve, aborted: () => signal?.aborted ?? false };
  };

  test("lets gRPC calls end and accepts no new one", async () => {
    const { options, started, finish } = slow();
    const { server, channel, port } = await start(options);
    const call = createClient({ channel, service: AdminService }).getVersion({});
    await started;
    const drained = server.drain({ deadlineMs: 30_000 });
    await expect(rawCall({ port, path: "/flyteidl.service.AdminService/GetVersion", bytes: new Uint8Array(0) })).rejects.toMatchObject({
      code: Code.UNAVAILABLE,
    });
    finish();
    expect((await call).controlPlaneVersion?.Version).toBe("done");
    await drained;
  });

  test("lets REST calls end, and closes idle connections", async () => {
    const { options, started, finish } = slow();
    const { server, port } = await start(options);
    const agent = new Agent({ keepAlive: true });
    const get = (path: string): Promise<string> =>
      new Promise((resolve, reject) => {
        httpRequest({ host: "127.0.0.1", port, path, agent }, (response) => {
          response.setEncoding("utf8");
          let text = "";
          response.on("data", (chunk: string) => (text += chunk)).on("end", () => resolve(text));
        })
          .on("error", reject)
          .end();
      });
    await get("/healthcheck"); // leaves an idle connection behind
    const call = get("/api/v1/version");
    await started;
    const drained = server.drain({ deadlineMs: 30_000 });
    finish();
    expect(await call).toContain("done");
    await drained;
    agent.destroy();
  });

  test("closes connections that have sent nothing", async () => {
    const { server, port } = await start({ services: [] });
    const silent = connect(port, "127.0.0.1");
    silent.on("error", () => undefined);
    await once(silent, "connect");
    // The server accepts connections in order.
    await fetch(`http://127.0.0.1:${port}/healthcheck`, { headers: { connection: "close" } });
    const closed = once(silent.resume(), "close");
    await server.drain({ deadlineMs: 30_000 });
    await closed;
    expect(silent.destroyed).toBe(true);
  });

  test("keeps serving for the announced delay while it reports that it drains", async () => {
    const answered = implement(AdminService, { getVersion: () => ({}) });
    const { server, channel } = await start({ services: [answered] });
    const health = createClient({ channel, service: Health });
    const admin = createClient({ channel, service: AdminService });
    expect((await health.check({ service: "" })).status).toBe(1);
    const drained = server.drain({ delayMs: 500, deadlineMs: 1_000 });
    expect((await health.check({ service: "" })).status).toBe(2);
    await admin.getVersion({});
    await drained;
    expect((await failure(admin.getVersion({}, { deadlineMs: 1_000 }))).code).toBe(Code.UNAVAILABLE);
  });

  test("cuts calls off at its deadline", async () => {
    const { options, started, aborted } = slow();
    const { server, channel } = await start(options);
    const call = failure(createClient({ channel, service: AdminService }).getVersion({}));
    await started;
    await server.drain({ deadlineMs: 50 });
    expect([Code.UNAVAILABLE, Code.CANCELLED, Code.INTERNAL]).toContain((await call).code);
    await expect.poll(aborted).toBe(true);
  });
});
