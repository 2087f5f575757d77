import { connect } from "node:net";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { createLogger } from "@flyte-ts/telemetry";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { createRpcServer, implement } from "../index.js";
import { parseJsonText } from "./json/json-text.js";
import { parseRequestPath } from "./routing/request-path.js";
import { createRouteTable } from "./routing/route-table.js";
import { matchTemplate, parseTemplate } from "./routing/path-template.js";

// Every method answers, so that any failure is the gateway's.
const answers = Object.fromEntries(AdminService.methods.map((method) => [method.localName, () => ({})])) as object;
const served = implement(AdminService, answers);
const server = createRpcServer({ logger: createLogger({ service: "test", level: "silent" }), services: [served] });
const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
afterAll(() => server.drain({ deadlineMs: 100 }));

/** Status of the answer to raw bytes on the socket. */
function statusOf(head: string, body: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`${head}\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`);
      socket.write(body);
    });
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    socket.on("error", reject);
    socket.on("close", () => resolve(Number(/^HTTP\/1\.1 ([0-9]{3})/.exec(text)?.[1] ?? 0)));
  });
}

const templates = createRouteTable([served]).routes.map((route) => route.template);
const verb = fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD");
const escaped = fc.string({ unit: "binary", maxLength: 8 }).map((text) => encodeURIComponent(text.toWellFormed()));
const rough = fc.stringMatching(/^[!"$-~]{0,12}$/);
const component = fc.oneof(escaped, rough, fc.constantFrom("", ".", "..", "%", "%2F", "%ff", "-1", "1", "TASK", "99999999999999999999"));
const path = fc.oneof(
  fc.array(component, { maxLength: 8 }).map((parts) => `/${parts.join("/")}`),
  // Real routes, with any text for their variables.
  fc.tuple(fc.constantFrom(...templates), fc.array(component, { minLength: 10, maxLength: 10 })).map(([template, parts]) => {
    let next = 0;
    return template.text.replace(/\{[^}]*\}/g, () => parts[next++] ?? "");
  }),
);
const names = [
  "limit",
  "token",
  "filters",
  "sort_by.key",
  "sortBy.direction",
  "sort_by",
  "id.project",
  "id",
  "resource_type",
  "labels.values[a]",
  "labels[b]",
  "",
  ".",
];
const pair = fc.tuple(fc.oneof(fc.constantFrom(...names), component), component).map(([name, value]) => `${name}=${value}`);
const query = fc.array(fc.oneof(pair, rough), { maxLength: 5 }).map((pairs) => pairs.join("&"));
const contentType = fc.constantFrom(
  "application/json",
  "application/octet-stream",
  "application/other",
  "text/plain",
  "application/x-www-form-urlencoded",
  ";",
  "",
);
const body = fc.oneof(
  fc.uint8Array({ maxLength: 64 }),
  fc.json().map((text) => Buffer.from(text)),
  fc.json().map((text) => Buffer.from(`{"id":${text},"spec":${text}}`)),
  fc.stringMatching(/^[[\]{}",:0-9.eE+\\a-z -]{0,40}$/).map((text) => Buffer.from(text)),
);

test("no request causes an internal error of the gateway", async () => {
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(verb, path, query, contentType, body, async (...[method, target, text, type, payload]) => {
      // The HTTP parser handles characters that end a request line.
      const url = `${target}${text === "" ? "" : `?${text}`}`.replace(/[\s#]/g, "");
      const status = await statusOf(`${method} ${url} HTTP/1.1\r\nContent-Type: ${type}`, payload);
      seen.set(status, (seen.get(status) ?? 0) + 1);
      expect([200, 307, 400, 404, 415, 501]).toContain(status);
    }),
    { numRuns: 1_500 },
  );
  // Some cases reach handlers, and not only refusals.
  expect([...seen.keys()].sort((a, b) => a - b)).toEqual([200, 307, 400, 404, 415, 501]);
});

test("JSON texts are parsed as by JSON.parse", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      fc.pre(!/[0-9]{16}/.test(text));
      const { value, hasBigInteger } = parseJsonText(` ${text} `);
      expect(value).toEqual(JSON.parse(text));
      expect(hasBigInteger).toBe(false);
    }),
  );
});

test("a text is accepted exactly when a prefix of it is JSON, except for duplicate keys", () => {
  const holds = (text: string): boolean => {
    const read = attempt(() => parseJsonText(text).value);
    if (!read.ok) return read.message.includes("duplicate") || !attempt(() => JSON.parse(text) as unknown).ok;
    if (read.value === undefined) return text.trim() === "";
    const beginnings = Array.from(text, (_, index) => attempt(() => JSON.parse(text.slice(0, index + 1)) as unknown));
    return beginnings.some((parsed) => parsed.ok && JSON.stringify(parsed.value) === JSON.stringify(read.value));
  };
  const run = fc.check(fc.property(fc.stringMatching(/^[[\]{}",:0-9.eE+\\tfn -]{0,15}$/), holds), { numRuns: 3_000 });
  expect(run.counterexample).toBeNull();
});

test("escaped path components are returned unchanged", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 5 }), (given) => {
      const parts = given.map((part) => part.toWellFormed()).filter((part) => !part.includes("/") && part !== "." && part !== "..");
      fc.pre(parts.length > 0);
      const parsed = parseRequestPath(`/${parts.map(encodeURIComponent).join("/")}`);
      expect(parsed).toMatchObject({ kind: "path", components: parts });
      const template = parseTemplate(`/${parts.map((_, index) => `{f${index}}`).join("/")}`);
      expect(matchTemplate(template, parts)?.map((value) => value.text)).toEqual(parts);
    }),
  );
});

function attempt<T>(run: () => T): { ok: true; value: T } | { ok: false; message: string } {
  try {
    return { ok: true, value: run() };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : "" };
  }
}
