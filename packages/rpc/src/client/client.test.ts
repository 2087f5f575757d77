import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { type handleUnaryCall, Server, ServerCredentials } from "@grpc/grpc-js";
import { afterAll, describe, expect, test, vi } from "vitest";
import { type ChannelOptions, Code, createClient, createRpcServer, implement, openChannel, RpcError } from "../index.js";

const folder = mkdtempSync(join(tmpdir(), "flyte-ts-client-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function call(options: ChannelOptions): Promise<unknown> {
  const channel = openChannel({ deadlineMs: 5_000, ...options });
  try {
    return await createClient({ channel, service: AdminService }).getVersion({});
  } catch (error) {
    return error;
  } finally {
    channel.close();
  }
}

describe("a call that fails", () => {
  test("says that it was not sent when there is no connection", async () => {
    const error = await call({ endpoint: "127.0.0.1:1" });
    expect(error).toMatchObject({ code: Code.UNAVAILABLE, notSent: true });
    const roundRobin = await call({ endpoint: "127.0.0.1:1", roundRobin: true });
    expect(roundRobin).toMatchObject({ code: Code.UNAVAILABLE, notSent: true });
  });

  test("was not sent when its deadline passes before a connection exists", async () => {
    const silent = createServer(() => undefined);
    const port = await new Promise<number>((resolve) => {
      silent.listen(0, "127.0.0.1", () => resolve((silent.address() as { port: number }).port));
    });
    expect(await call({ endpoint: `127.0.0.1:${port}`, deadlineMs: 200 })).toMatchObject({ code: Code.DEADLINE_EXCEEDED, notSent: true });
    silent.close();
  });

  test("was sent when the server answers with the error", async () => {
    const getVersion = () => {
      throw new RpcError(Code.UNAVAILABLE, "later");
    };
    const logger = createLogger({ service: "test", level: "silent" });
    const server = createRpcServer({ logger, services: [implement(AdminService, { getVersion })] });
    const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
    expect(await call({ endpoint: `127.0.0.1:${port}` })).toMatchObject({ code: Code.UNAVAILABLE, message: "later", notSent: false });
    await server.drain({ deadlineMs: 100 });
  });
});

test("a channel with its own roots and client certificate connects where the system's roots do not", async () => {
  const [certFile, keyFile] = [join(folder, "tls.crt"), join(folder, "tls.key")];
  const subject = ["-subj", "/CN=other.example", "-addext", "subjectAltName=DNS:other.example"];
  const made = ["-keyout", keyFile, "-out", certFile];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject, ...made], { stdio: "ignore" });
  const [certificate, privateKey] = [readFileSync(certFile), readFileSync(keyFile)];
  const server = new Server();
  const bytes = (message: Buffer) => message;
  const answerEmpty: handleUnaryCall<Buffer, Buffer> = (_, answer) => answer(null, Buffer.alloc(0));
  server.register("/flyteidl.service.AdminService/GetVersion", answerEmpty, bytes, bytes, "unary");
  const credentials = ServerCredentials.createSsl(certificate, [{ cert_chain: certificate, private_key: privateKey }], true);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  const endpoint = `127.0.0.1:${port}`;
  const tls = { roots: certificate, certificate, privateKey, serverName: "other.example" };
  expect(await call({ endpoint, tls })).not.toBeInstanceOf(Error);
  expect(await call({ endpoint: `https://${endpoint}`, deadlineMs: 1_000 })).toBeInstanceOf(RpcError);
  expect(await call({ endpoint, tls: { roots: certificate, serverName: "other.example" }, deadlineMs: 1_000 })).toBeInstanceOf(RpcError);
  server.forceShutdown();
});

test("a channel that is watched connects without a call, and tells each new connection", async () => {
  const logger = createLogger({ service: "test", level: "silent" });
  const serve = () => createRpcServer({ logger, services: [implement(AdminService, {})] });
  const first = serve();
  const { port } = await first.listen({ host: "127.0.0.1", port: 0 });
  await first.drain({ deadlineMs: 100 });
  const channel = openChannel({ endpoint: `127.0.0.1:${port}`, roundRobin: true });
  let connections = 0;
  const stop = channel.onConnect(() => connections++);
  for (const round of [1, 2]) {
    const server = serve();
    await server.listen({ host: "127.0.0.1", port });
    await vi.waitFor(() => expect(connections).toBe(round), { timeout: 10_000 });
    await server.drain({ deadlineMs: 100 });
  }
  stop();
  channel.close();
  expect(connections).toBe(2);
});
