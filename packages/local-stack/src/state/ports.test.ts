import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@flyte-ts/config";
import { freePort } from "@flyte-ts/host";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { stackConfigSchema } from "../stack-config.js";
import { stackPaths } from "./paths.js";
import { choosePorts, type Ports } from "./ports.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ports-"));
  mkdirSync(join(root, "config"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const load = (...argv: string[]) => loadConfig(stackConfigSchema, { service: "stack", argv, env: {} });
const choose = (...argv: string[]) => choosePorts(load(...argv), stackPaths(root), ["admin", "propeller", "plugin-pod"]);
const all = ({ ops, ...ports }: Ports) => [...Object.values(ports), ...Object.values(ops)];

test.each([
  [["--port", "4000", "--blobPort", "4000"], "blobPort: 4000 is the port of --port too: choose another"],
  [["--port", "4000", "--clusterPort", "4000"], "clusterPort: 4000 is the port of --port too: choose another"],
  [["--clusterPort", "30002"], "clusterPort: 30002 is the port of --blobPort too: choose another"],
])("two listeners with one port are rejected: %j", (argv, message) => {
  expect(() => load(...argv)).toThrow(message);
});

test("free ports, and ports of listeners that another service replaces, may be equal", () => {
  expect(load("--port", "0", "--blobPort", "0").port).toBe(0);
  expect(load("--port", "4000", "--blobPort", "4000", "--s3", "http://localhost:1").blobPort).toBe(4000);
});

test("chosen ports are kept unless another part is configured to use them", async () => {
  const first = await choose("--port", "0", "--blobPort", "0");
  expect(new Set(all(first)).size).toBe(all(first).length);
  expect(await choose("--port", "0", "--blobPort", "0")).toEqual(first);
  const second = await choose("--port", String(first.nats), "--blobPort", "0");
  expect(second).toEqual({ ...first, api: first.nats, nats: expect.any(Number) });
  expect(new Set(all(second)).size).toBe(all(second).length);
});

test.each(["", '{"api": 15', '{"api": "many"}', "[]"])("an unreadable file of ports (%j) is replaced", async (left) => {
  const file = join(root, "config", "ports.json");
  writeFileSync(file, left);
  const ports = await choose("--port", "0", "--blobPort", "0");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(ports);
});

test("a port in use is reported with the flag that chooses another", async () => {
  const port = await freePort();
  const server = createServer().listen(port, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  await expect(choose("--port", "0", "--blobPort", String(port))).rejects.toThrow(
    `port ${port} is in use: stop what listens on it, or choose another with --blobPort`,
  );
});
