import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fromBinary } from "@bufbuild/protobuf";
import { type ErrorDocument, ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { eager, RecoverableError, reference, t, task } from "@flyte-ts/sdk";
import { collectEntities } from "@flyte-ts/sdk/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fileBlobs } from "../blob/file-blobs.js";
import { MANIFEST_FILE } from "../manifest.js";
import type { RunRequest } from "../run-request.js";
import { runRequest } from "../task/run.js";

/** API whose executions run until they are aborted. */
class FakeApi {
  readonly created: { readonly name: string; readonly version: string }[] = [];
  readonly aborted: string[] = [];
  #created = Promise.withResolvers<void>();
  readonly #server: Server = createServer((request, response) => {
    const path = new URL(request.url ?? "", "http://x").pathname;
    const name = path.split("/").at(-1) ?? "";
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const known = path.startsWith("/api/v1/executions") || path.startsWith("/api/v1/node_executions");
      response.writeHead(known ? 200 : 404, { "content-type": "application/json" });
      if (request.method === "POST") this.#create(Buffer.concat(parts).toString());
      if (request.method === "DELETE") this.aborted.push(name);
      const answer = request.method === "GET" && known ? { closure: { phase: this.aborted.includes(name) ? "ABORTED" : "RUNNING" } } : {};
      response.end(JSON.stringify(known ? answer : { code: 5, message: "Not Found" }));
    });
  });

  #create(body: string): void {
    const { name, spec } = JSON.parse(body) as { name: string; spec: { launchPlan: { version: string } } };
    this.created.push({ name, version: spec.launchPlan.version });
    this.#created.resolve();
    this.#created = Promise.withResolvers<void>();
  }

  /** Resolves when so many children are created. */
  async children(count: number): Promise<void> {
    while (this.created.length < count) await this.#created.promise;
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const child = task({ inputs: { x: t.int }, outputs: t.int }, ({ x }) => x);
let api: FakeApi;
let folder: string;
let origin: string;

beforeEach(async () => {
  api = new FakeApi();
  origin = await api.start();
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-eager-"));
  writeFileSync(join(folder, MANIFEST_FILE), JSON.stringify({ sdkVersion: "1", tasks: [], externals: [] }));
});
afterEach(() => {
  api.close();
  rmSync(folder, { recursive: true });
});

/** Runs an eager task to its failure, which it returns. */
async function failureOf(parent: object): Promise<ErrorDocument["error"]> {
  const collection = collectEntities([{ module: "m", prefix: "m", exports: { child, parent } }]);
  const prefix = pathToFileURL(folder).href;
  const environment = {
    FLYTE_PLATFORM_URL: origin,
    FLYTE_INTERNAL_EXECUTION_ID: "e1",
    FLYTE_INTERNAL_TASK_PROJECT: "p",
    FLYTE_INTERNAL_TASK_DOMAIN: "d",
    FLYTE_INTERNAL_TASK_VERSION: "v1",
  };
  const request: RunRequest = {
    format: 1,
    task: { module: "m", name: "parent" },
    addresses: {
      inputs: `${prefix}/inputs.pb`,
      outputPrefix: `${prefix}/n0/data/0`,
      rawOutputPrefix: `${prefix}/raw`,
      checkpoint: undefined,
      previousCheckpoint: undefined,
    },
    map: undefined,
    code: { kind: "bundle", uri: "s3://b/b.tar.gz", digest: "ab" },
    environment,
    blobs: fileBlobs,
  };
  const collect = async () => collection;
  await runRequest(request, { folder: `${prefix}/`, collect, collectOne: collect });
  return fromBinary(ErrorDocumentSchema, readFileSync(join(folder, "n0/data/0/error.pb"))).error;
}

describe("children of an eager task that fails", () => {
  test("a task that fails for good aborts its running children, and starts no others", async () => {
    const parent = eager({ concurrency: 2 }, async () => {
      const running = [1, 2, 3].map((x) => child.run({ x }));
      await api.children(2);
      void Promise.all(running);
      throw new TypeError("no such column");
    });
    expect(await failureOf(parent)).toMatchObject({ code: "USER:TypeError", message: expect.stringContaining("no such column") });
    expect(api.created).toHaveLength(2);
    expect(api.aborted.toSorted()).toEqual(api.created.map(({ name }) => name).toSorted());
  });

  test("an error outside of the task's promise aborts the running children, too", async () => {
    const parent = eager({}, async () => {
      void api.children(1).then(() => process.emit("unhandledRejection", new TypeError("lost"), Promise.resolve()));
      await child.run({ x: 1 });
    });
    expect(await failureOf(parent)).toMatchObject({ code: "USER:TypeError" });
    expect(api.aborted).toEqual(api.created.map(({ name }) => name));
  });

  test("the next attempt attaches to the children of one that another may follow", async () => {
    const parent = eager({}, async () => {
      const running = child.run({ x: 1 });
      // The API is gone when the test has ended.
      running.catch(() => undefined);
      await api.children(1);
      throw new RecoverableError("later");
    });
    expect(await failureOf(parent)).toMatchObject({ code: "USER:RecoverableError" });
    expect([api.created.length, api.aborted]).toEqual([1, []]);
  });

  test("a call of a reference without a version is an error that names it", async () => {
    const far = reference({ kind: "task", name: "far" }, { inputs: {}, outputs: t.int });
    const message = "the reference to the task far has no version, and registering the project found none; give it one";
    expect(await failureOf(eager({}, async () => void (await far.run())))).toMatchObject({ code: "USER:UnknownEntity", message });
    expect(api.created).toEqual([]);
  });
});
