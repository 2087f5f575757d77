import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { FlyteClient } from "@flyte-ts/client";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { createEntry } from "@flyte-ts/runtime/task";
import { type FlyteDataset, type FlyteDirectory, type FlyteFile, t, task } from "@flyte-ts/sdk";
import { decodeInputs, LocalFileStore } from "@flyte-ts/sdk/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EntityHost } from "../entities/entity-host.js";
import type { HostCalls } from "../entities/messages.js";
import { handlersOf } from "../entities/serve.js";
import { type RemoteRun, startExecution } from "./run-remote.js";

const STORE = "s3://bucket/uploads";
const inputs = {
  table: t.optional(t.file("csv")),
  config: t.optional(t.object({ data: t.file(), more: t.list(t.file()) })),
  folder: t.optional(t.directory()),
  rows: t.optional(t.dataset({ id: t.int, at: t.datetime })),
};
const train = task({ inputs, outputs: t.int }, () => 1);

let folder: string;
let server: Server;
/** Contents of the blob store. */
let blobs: Map<string, Buffer>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-run-"));
  blobs = new Map();
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      blobs.set(`${STORE}${decodeURIComponent(request.url ?? "")}`, Buffer.concat(parts));
      response.end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts an execution with these inputs. Returns them as the task receives them. */
async function received(values: Readonly<Record<string, unknown>>) {
  let sent: LiteralMap | undefined;
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = {
    dataProxy: {
      createUploadLocation: async ({ filename = "", filenameRoot = "" }) => {
        const path = `/${filenameRoot}/${filename}`;
        return { signedUrl: `${origin}${path.split("/").map(encodeURIComponent).join("/")}`, nativeUrl: `${STORE}${path}`, headers: {} };
      },
    },
    admin: {
      createExecution: async (request: { readonly inputs: LiteralMap }) => {
        sent = request.inputs;
        return { id: { name: "started" } };
      },
    },
  } as unknown as FlyteClient;
  const entry = createEntry([{ module: "flows", prefix: "", load: async () => ({ train }) }], "file:///bundle/");
  const handlers = handlersOf({ ...entry, describe: () => import("@flyte-ts/runtime/describe") });
  const host = { call: (_call: "encode", request: HostCalls["encode"]["request"]) => handlers.encode(request) } as unknown as EntityHost;
  const run = {
    project: { project: "p", domain: "d" },
    bundle: { host },
    target: { module: "flows", export: "train", kind: "task", name: "train" },
    inputs: values,
  } as unknown as RemoteRun;
  expect(await startExecution(client, run, "v1")).toBe("started");
  const store = new LocalFileStore(folder);
  store.read = async function* (uri: string) {
    yield blobs.get(uri) ?? Buffer.from(`${uri} was not sent`);
  };
  store.list = async function* (uri: string) {
    yield* [...blobs.keys()].filter((key) => key.startsWith(`${uri}/`));
  };
  return decodeInputs({ inputs }, sent ?? ({ literals: {} } as LiteralMap), store);
}

test("files among inputs are sent, also those inside of objects", async () => {
  for (const name of ["a.csv", "b b.csv", "c.csv"]) writeFileSync(join(folder, name), `content of ${name}`);
  const values = {
    table: join(folder, "a.csv"),
    config: { data: join(folder, "b b.csv"), more: [pathToFileURL(join(folder, "c.csv")).href] },
  };
  const { table, config } = (await received(values)) as { table: FlyteFile; config: { data: FlyteFile; more: FlyteFile[] } };
  const texts = await Promise.all([table, config.data, ...config.more].map((file) => file.text()));
  expect(texts).toEqual(["content of a.csv", "content of b b.csv", "content of c.csv"]);
  expect(table.uri).toMatch(/^s3:.*\/a\.csv$/);
});

test("files that are in the blob store already are not sent", async () => {
  const { table } = (await received({ table: `${STORE}/there.csv` })) as { table: FlyteFile };
  expect(table.uri).toBe(`${STORE}/there.csv`);
  expect(blobs.size).toBe(0);
});

test("rows of a data set are sent as a data set", async () => {
  const given = [{ id: 1, at: "2026-01-02T03:04:05Z" }];
  const { rows } = (await received({ rows: given })) as { rows: FlyteDataset<unknown> };
  const found: unknown[] = [];
  for await (const row of rows.rows()) found.push(row);
  expect(found).toEqual([{ id: 1, at: new Date("2026-01-02T03:04:05Z") }]);
});

test("the files of a directory are sent", async () => {
  mkdirSync(join(folder, "model", "layers"), { recursive: true });
  writeFileSync(join(folder, "model", "layers", "1"), "weights");
  const { folder: sent } = (await received({ folder: `${folder}/model/layers/..` })) as { folder: FlyteDirectory };
  const uris: string[] = [];
  for await (const { uri } of sent.list()) uris.push(uri);
  expect(uris).toEqual([expect.stringMatching(/\/model\/layers\/1$/)]);
});
