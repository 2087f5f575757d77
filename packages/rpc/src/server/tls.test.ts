import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { credentials, Client } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRpcServer, implement, type RpcServer } from "../index.js";

const folder = mkdtempSync(join(tmpdir(), "flyte-ts-tls-"));
const [certFile, keyFile] = [join(folder, "tls.crt"), join(folder, "tls.key")];
const logger = createLogger({ service: "test", level: "silent" });

/** A self-signed certificate, as operators make them. */
function makeCertificate(name: string): void {
  const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const made = ["-keyout", `${keyFile}.new`, "-out", `${certFile}.new`];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject, ...made], { stdio: "ignore" });
  writeFileSync(keyFile, readFileSync(`${keyFile}.new`));
  writeFileSync(certFile, readFileSync(`${certFile}.new`));
}

let server: RpcServer;
let port: number;
beforeAll(async () => {
  makeCertificate("first");
  const services = [implement(AdminService, { getVersion: () => ({ controlPlaneVersion: { Version: "v" } }) })];
  server = createRpcServer({ logger, services, tls: { certFile, keyFile, reloadMs: 50 } });
  ({ port } = await server.listen({ host: "127.0.0.1", port: 0 }));
});
afterAll(async () => {
  await server.drain({ deadlineMs: 100 });
  rmSync(folder, { recursive: true });
});

function byGrpc(): Promise<number> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createSsl(readFileSync(certFile)));
  const same = (bytes: Buffer) => bytes;
  return new Promise<number>((done, fail) => {
    client.makeUnaryRequest("/flyteidl.service.AdminService/GetVersion", same, same, Buffer.alloc(0), (error, answer) =>
      error ? fail(error) : done(answer?.length ?? 0),
    );
  }).finally(() => client.close());
}

function byRest(): Promise<number | undefined> {
  return new Promise((done, fail) => {
    const outgoing = request({ host: "127.0.0.1", port, path: "/api/v1/version", ca: readFileSync(certFile) }, (response) => {
      response.resume();
      done(response.statusCode);
    });
    outgoing.on("error", fail).end();
  });
}

function certificate(): Promise<PeerCertificate> {
  return new Promise((done, fail) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      done(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on("error", fail);
  });
}

test("gRPC and REST are served over TLS on one port, and plaintext is refused", async () => {
  expect(await byGrpc()).toBeGreaterThan(0);
  expect(await byRest()).toBe(200);
  const answered = await new Promise<string>((done) => {
    const socket = connectTcp({ host: "127.0.0.1", port }, () => socket.write("GET /healthcheck HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    socket.on("error", () => undefined);
    socket.on("close", () => done(text));
  });
  expect(answered).not.toContain("HTTP/1.1");
});

function negotiated(offered: string[]): Promise<string | false | null> {
  return new Promise((done, fail) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false, ALPNProtocols: offered }, () => {
      done(socket.alpnProtocol);
      socket.destroy();
    });
    socket.on("error", fail);
  });
}

test("clients that offer HTTP/1.1, as browsers do, get it, and clients that offer only h2, as gRPC clients do, get h2", async () => {
  expect(await negotiated(["h2", "http/1.1"])).toBe("http/1.1");
  expect(await negotiated(["http/1.1"])).toBe("http/1.1");
  expect(await negotiated(["h2"])).toBe("h2");
  expect(await negotiated(["grpc-exp", "h2"])).toBe("h2");
  await expect(negotiated(["spdy/3"])).rejects.toThrow(/no.application.protocol/i);
});

test("a renewed certificate is used without a restart, and one that does not match its key is ignored", async () => {
  writeFileSync(certFile, "no certificate");
  await new Promise((done) => setTimeout(done, 200));
  expect((await certificate()).subject.CN).toBe("first");
  makeCertificate("second");
  await expect.poll(async () => (await certificate()).subject.CN, { timeout: 30_000 }).toBe("second");
  expect([await byGrpc(), await byRest()]).toEqual([expect.any(Number), 200]);
});

test("a client that does not finish the handshake loses its connection", async () => {
  const short = createRpcServer({ logger, services: [], tls: { certFile, keyFile, reloadMs: 50 }, headersMs: 100 });
  const { port: at } = await short.listen({ host: "127.0.0.1", port: 0 });
  const silent = connectTcp(at, "127.0.0.1");
  await once(silent.on("error", () => undefined).resume(), "close");
  // Nothing was sent in plaintext.
  expect(silent.bytesRead).toBe(0);
  await short.drain({ deadlineMs: 100 });
});

test("without a certificate the server does not start", async () => {
  const none = createRpcServer({ logger, services: [], tls: { certFile: join(folder, "none"), keyFile, reloadMs: 50 } });
  await expect(none.listen({ host: "127.0.0.1", port: 0 })).rejects.toThrow(/ENOENT/);
});
