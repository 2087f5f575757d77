import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { kubernetesFixture } from "@flyte-ts/testing";
import { root } from "../repository.js";
import { builtProgram } from "../stack/built-program.js";

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  /** Strings are sent unchanged, other values as JSON. */
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly type: string;
  /** Parsed response; a list of events for a watch. */
  readonly body: unknown;
}

/** A Kubernetes API whose responses are compared. */
export interface ApiUnderTest {
  call(request: ApiRequest): Promise<ApiResponse>;
  stop(): Promise<void>;
}

/** Starts kube-apiserver with the garbage collector and other controllers. */
export async function realApi(): Promise<ApiUnderTest> {
  const { url, token, ca, stop } = await kubernetesFixture({ controllers: true });
  return { call: (request) => send({ url, ca, authorization: `Bearer ${token}` }, request), stop };
}

/** Starts the local cluster's program. */
export async function localApi(): Promise<ApiUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-differential-"));
  const file = join(folder, "config.yaml");
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(file, JSON.stringify({ dataDir: join(folder, "data"), kubeconfig, logLevel: "error" }));
  const child = spawn(process.execPath, [builtProgram(join(root, "services/local-cluster")), "--config", file], { stdio: "inherit" });
  for (let waitedMs = 0; !existsSync(kubeconfig); waitedMs += 20) {
    if (child.exitCode !== null || waitedMs > 30_000) throw new Error("local-cluster did not start");
    await sleep(20);
  }
  const url = /server: (\S+)/.exec(readFileSync(kubeconfig, "utf8"))?.[1] ?? "";
  return {
    call: (request) => send({ url }, request),
    stop: async () => {
      await stopProcess(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function stopProcess(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  child.kill("SIGTERM");
  await ended;
}

interface Address {
  readonly url: string;
  readonly ca?: string;
  readonly authorization?: string;
}

function send({ url, ca, authorization }: Address, { method, path, body, type, accept }: ApiRequest): Promise<ApiResponse> {
  const headers: Record<string, string> = { accept: accept ?? "application/json" };
  if (authorization !== undefined) headers.authorization = authorization;
  const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  if (text !== undefined) {
    headers["content-type"] = type ?? "application/json";
    headers["content-length"] = String(Buffer.byteLength(text));
  }
  return new Promise((done, fail) => {
    const options = { method, headers, ...(ca === undefined ? {} : { ca }) };
    const outgoing = (url.startsWith("https:") ? tlsRequest : plainRequest)(url + path, options, (answer) => {
      let received = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => {
        received += chunk;
      });
      answer.once("end", () =>
        done({
          status: answer.statusCode ?? 0,
          type: (answer.headers["content-type"] ?? "").split(";")[0] ?? "",
          body: read(received, path),
        }),
      );
      answer.once("error", fail);
    });
    outgoing.once("error", fail);
    outgoing.end(text);
  });
}

function read(text: string, path: string): unknown {
  try {
    if (/[?&]watch=/.test(path) && !text.startsWith('{"kind":"Status"'))
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as unknown);
    return JSON.parse(text) as unknown;
  } catch {
    return text.trim();
  }
}
