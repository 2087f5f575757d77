import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { ConfigError, loadConfig } from "./load-config.js";

const schema = z.strictObject({
  port: z.number().int().default(1),
  database: z.strictObject({ url: z.string().default("none"), maxConnections: z.number().default(4) }).prefault({}),
  tags: z.array(z.string()).default([]),
});
const load = (argv: string[], env: Record<string, string> = {}) => loadConfig(schema, { service: "admin", argv, env });

function file(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "config-")), "c.yaml");
  writeFileSync(path, text);
  return path;
}

test("flags override the environment, which overrides the file", () => {
  const path = file("port: 2\ndatabase: {url: file, maxConnections: 9}\n");
  expect(load(["--config", path])).toEqual({ port: 2, database: { url: "file", maxConnections: 9 }, tags: [] });
  const env = { FLYTE_TS_ADMIN_DATABASE__MAX_CONNECTIONS: "7", FLYTE_TS_ADMIN_PORT: "3", FLYTE_TS_OTHER_PORT: "8" };
  expect(load(["--config", path, "--port=5", "--tags", "[a, b]"], env)).toEqual({
    port: 5,
    database: { url: "file", maxConnections: 7 },
    tags: ["a", "b"],
  });
});

test("a later file overrides an earlier one, key by key", () => {
  const settings = file("port: 2\ndatabase: {url: file, maxConnections: 9}\ntags: [a]\n");
  const secret = file("database: {url: secret}\ntags: [b]\n");
  expect(load(["--config", settings, "--config", secret])).toEqual({
    port: 2,
    database: { url: "secret", maxConnections: 9 },
    tags: ["b"],
  });
});

test.each([
  ["unknown key", ["--colour", "red"], "colour"],
  ["wrong type", ["--port", "many"], "port"],
  ["missing value", ["--port"], "port"],
  ["not a flag", ["port"], "port"],
  ["no such file", ["--config", "/nonexistent/c.yaml"], "/nonexistent/c.yaml"],
  ["group of settings", ["--port.deep", "1", "--database", "x"], "database"],
])("%s is reported by name", (_, argv, name) => {
  expect(() => load(argv)).toThrow(ConfigError);
  expect(() => load(argv)).toThrow(name);
});

test.each(["0123", "true", "abc #def", "a: b", "'quoted'", "- x", "&x", ""])("a text setting is kept unchanged: %j", (text) => {
  expect(load(["--database.url", text]).database.url).toBe(text);
  expect(load([], { FLYTE_TS_ADMIN_DATABASE__URL: text }).database.url).toBe(text);
});

test("an unreadable file is reported", () => {
  const path = file("- 1\n");
  expect(() => load(["--config", path])).toThrow(path);
});

test.each([
  [["--prot", "1"], "prot: unknown setting; did you mean port?"],
  [["--database.maxConnection", "1"], "database.maxConnection: unknown setting; did you mean database.maxConnections?"],
  [["--url", "x"], "url: unknown setting; did you mean database.url?"],
  [["--database.port", "1"], "database.port: unknown setting; did you mean port?"],
  [["--quite.different", "x"], "quite: unknown setting"],
])("%j: %s", (argv, message) => {
  expect(() => load(argv)).toThrow(new ConfigError(`configuration of admin: ${message}`));
});
