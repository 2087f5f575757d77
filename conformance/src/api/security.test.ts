import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { deflateSync, gzipSync } from "node:zlib";
import { type Code, codeName, createFlyteClient, type FlyteClient, RpcError } from "@flyte-ts/client";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BLOB_KEY, type RunningAdmin, startAdmin } from "../stack/admin-fixture.js";
import { executionRequest, identifier, launchPlanRequest, scope, taskRequest, textOf, workflowRequest } from "./valid-requests.js";
import { openRawClient, type RawClient } from "./raw-client.js";

// Sends attacks to a running admin: bombs, deep nesting, path traversal, scripts. Admin logs at its
// most detailed level.
const SECRET_INPUT = "an-input-that-is-never-logged";
const SECRET_TOKEN = "eyJhbGciOiJub25lIn0.a-token-that-is-never-logged.x";
const SCRIPT = "<script>alert(document.domain)</script>";
/**
 * Memory limit of admin, bytes: eight requests of the maximum size fit, but not what they expand
 * to.
 */
const MAX_MEMORY_BYTES = 8 * 2 * 64 * 1024 * 1024;

let admin: RunningAdmin;
let client: FlyteClient;
let rawClient: RawClient;
beforeAll(async () => {
  admin = await startAdmin(() => ({ logLevel: "trace" }));
  client = createFlyteClient({ endpoint: `127.0.0.1:${admin.api}` });
  rawClient = openRawClient(admin.api);
  await client.admin.createTask(taskRequest(identifier(ResourceType.TASK)));
  await client.admin.createWorkflow(workflowRequest(identifier(ResourceType.WORKFLOW), { n0: [] }));
  await client.admin.createLaunchPlan(launchPlanRequest(identifier(ResourceType.LAUNCH_PLAN)));
});
afterAll(async () => {
  rawClient?.close();
  client?.close();
  await admin?.stop();
});

const at = (path: string) => `http://127.0.0.1:${admin.api}${path}`;

async function failureOf(call: Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await call;
    return { code: "OK", message: "" };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { code: codeName(error.code), message: error.message };
  }
}

async function expectServing(): Promise<void> {
  expect((await client.admin.listProjects({})).projects).toHaveLength(1);
}

test.each(["gzip", "deflate"] as const)("a compressed bomb over gRPC is refused before it is expanded: %s", async (encoding) => {
  const zeros = Buffer.alloc(512 * 1024 * 1024);
  const bomb = encoding === "gzip" ? gzipSync(zeros) : deflateSync(zeros);
  expect(bomb.length).toBeLessThan(1024 * 1024);
  const before = admin.residentBytes();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => rawClient.grpc("/flyteidl.service.AdminService/CreateWorkflow", bomb, encoding)),
  );
  for (const { code } of answers) expect(codeName(code as Code)).toBe("RESOURCE_EXHAUSTED");
  expect(admin.residentBytes() - before).toBeLessThan(MAX_MEMORY_BYTES);
  await expectServing();
});

test("a REST body that declares a compression is not decompressed", async () => {
  const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024, " "));
  const before = admin.residentBytes();
  const response = await fetch(at("/api/v1/tasks"), {
    method: "POST",
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
    body: bomb,
  });
  expect(response.status).toBe(400);
  expect(admin.residentBytes() - before).toBeLessThan(MAX_MEMORY_BYTES);
});

test("an endless body is cut off at the limit", async () => {
  let sent = 0;
  const piece = new Uint8Array(1024 * 1024).fill(32);
  const body = new ReadableStream<Uint8Array>({
    pull: (stream) => {
      sent += piece.length;
      if (sent > 1024 ** 3) stream.error(new Error("the server did not end the upload"));
      else stream.enqueue(piece);
    },
  });
  const init = { method: "POST", headers: { "content-type": "application/json" }, body, duplex: "half" as const };
  const status = await fetch(at("/api/v1/tasks"), init).then(
    (response) => response.status,
    () => 0,
  );
  // The response may be lost when the server closes the connection while the client sends.
  expect([0, 413]).toContain(status);
  expect(sent).toBeLessThan(1024 ** 3);
  await expectServing();
});

/** Nests a length-delimited field `depth` times; the innermost is empty. */
function nested(fields: readonly number[], depth: number): Buffer {
  const heads: Buffer[] = [];
  let length = 0;
  for (let level = 0; level < depth; level++) {
    const number = fields[level % fields.length] as number;
    const head = Buffer.concat([varint((number << 3) | 2), varint(length)]);
    heads.push(head);
    length += head.length;
  }
  return Buffer.concat(heads.reverse());
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}

const field = (number: number, bytes: Uint8Array) => Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
const textField = (number: number, text: string) => field(number, Buffer.from(text));
const DEPTHS = [50, 99, 101, 500, 2_000, 10_000, 100_000];

/**
 * Deeply nested requests: a description, the method, and a function from the depth to the request.
 * `nested` takes the field numbers of flyteidl from the innermost outwards.
 */
const DEEP_MESSAGES: readonly (readonly [string, string, (depth: number) => Buffer])[] = [
  [
    "literals in collections",
    "CreateExecution",
    // ExecutionCreateRequest.inputs (5) .literals (1) {2: Literal}; Literal.collection (2)
    // .literals (1)
    (depth) =>
      Buffer.concat([
        textField(1, scope.project),
        textField(2, scope.domain),
        textField(3, `d${depth}`),
        field(5, field(1, Buffer.concat([textField(1, "a"), field(2, nested([1, 2], depth))]))),
      ]),
  ],
  [
    "types in collections",
    "CreateTask",
    // TaskCreateRequest.spec (2) .template (1) .interface (4) .inputs (1) .variables (1) {2:
    // Variable.type (1)}; LiteralType.collection_type (2)
    (depth) => field(2, field(1, field(4, field(1, field(1, Buffer.concat([textField(1, "a"), field(2, field(1, nested([2], depth)))])))))),
  ],
  [
    "nodes in branches",
    "CreateWorkflow",
    // WorkflowCreateRequest.spec (2) .template (1) .nodes (4); Node.branch_node (8) .if_else (1)
    // .case (1) .then_node (2)
    (depth) => field(2, field(1, field(4, nested([2, 1, 1, 8], depth)))),
  ],
  [
    "conditions",
    "CreateWorkflow",
    // … .case (1) .condition (1); BooleanExpression.conjunction (1) .left_expression (2)
    (depth) => field(2, field(1, field(4, field(8, field(1, field(1, field(1, nested([2, 1], depth)))))))),
  ],
  [
    "a struct of structs",
    "CreateTask",
    // TaskTemplate.custom (5): Struct.fields (1) {2: Value.struct_value (5)}
    (depth) => field(2, field(1, field(5, nested([1, 2, 5], depth)))),
  ],
];

test.each(DEEP_MESSAGES.flatMap(([what, method, build]) => DEPTHS.map((depth) => ({ what, method, build, depth }))))(
  "$what nested $depth levels deep gets a client error",
  async ({ method, build, depth }) => {
    const { code, message } = await rawClient.grpc(`/flyteidl.service.AdminService/${method}`, build(depth));
    expect([codeName(code as Code), message]).not.toEqual([expect.stringMatching(/INTERNAL|UNKNOWN|UNAVAILABLE/), expect.anything()]);
  },
);

test.each(DEPTHS)("JSON nested %i levels deep gets a client error", async (depth) => {
  const open = '{"collection":{"literals":['.repeat(depth);
  const close = "]}}".repeat(depth);
  const bodies = [
    `{"project":"flytesnacks","domain":"development","inputs":{"literals":{"a":${open}{}${close}}}}`,
    "[".repeat(depth),
    '{"a":'.repeat(depth),
    `{"spec":{"template":{"custom":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}}}`,
  ];
  for (const body of bodies) {
    const { code, message } = await rawClient.rest({ method: "POST", path: "/api/v1/executions", body });
    expect([codeName(code as Code), message.slice(0, 200)]).not.toEqual([
      expect.stringMatching(/INTERNAL|UNKNOWN|UNAVAILABLE/),
      expect.anything(),
    ]);
  }
  await expectServing();
});

const HOSTILE_NAMES = [
  "..",
  ".",
  "",
  "a",
  "%2e%2e",
  "..%2f",
  "\\..\\",
  "..\\",
  "\u2025",
  "~",
  "a b",
  "?",
  "#",
  ";",
  "\n",
  "\0",
  "é",
  "%00",
  "C:",
  "&",
];
const part = fc.oneof(
  fc.constantFrom(...HOSTILE_NAMES),
  fc.string({ unit: "binary", maxLength: 6 }).map((text) => text.toWellFormed()),
);
const path = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));

/** Path of the upload URL as clients read it, with dots resolved; undefined when admin refuses. */
async function uploadPath(request: Parameters<FlyteClient["dataProxy"]["createUploadLocation"]>[0]): Promise<string | undefined> {
  try {
    const { nativeUrl, signedUrl } = await client.dataProxy.createUploadLocation(request);
    const { pathname } = new URL(signedUrl);
    // Client and store must derive the same key from the URL.
    return `s3:/${decodeURIComponent(pathname)}` === nativeUrl ? pathname : `not ${nativeUrl}: ${pathname}`;
  } catch (error) {
    if (error instanceof RpcError && codeName(error.code) === "INVALID_ARGUMENT") return undefined;
    throw error;
  }
}

test("an upload with any file name is stored below its project and domain", async () => {
  let signed = 0;
  await fc.assert(
    fc.asyncProperty(path, path, fc.boolean(), async (filename, filenameRoot, hashed) => {
      const where = await uploadPath({ ...scope, filename, filenameRoot, ...(hashed && { contentMd5: new Uint8Array(16).fill(7) }) });
      if (where !== undefined) signed++;
      expect(where ?? `/my-s3-bucket/${scope.project}/${scope.domain}/`).toMatch(/^\/my-s3-bucket\/flytesnacks\/development\//);
    }),
    { numRuns: 400 },
  );
  expect(signed).toBeGreaterThan(20);
});

test.each(["../other", "flytesnacks/../other", "..", ".", "\0"])("an upload for a project named %j is refused", async (project) => {
  const request = { project, domain: "development", filename: "f", filenameRoot: "r" };
  expect(await uploadPath(request)).toBeUndefined();
  const body = JSON.stringify(request);
  const { code } = await rawClient.rest({ method: "POST", path: "/api/v1/dataproxy/artifact_urn", body });
  expect(codeName(code as Code)).toBe("INVALID_ARGUMENT");
});

test.each(["%2e%2e", "a\\b", "..%2f..", "a?b", "a#b"])("a project named %j is only a name", async (project) => {
  const where = await uploadPath({ project, domain: "development", filename: "f", filenameRoot: "r" });
  expect(decodeURIComponent(where ?? "")).toBe(`/my-s3-bucket/${project}/development/r/f`);
});

const FOREIGN_PATHS = [
  "file:///etc/passwd",
  "/etc/passwd",
  "http://169.254.169.254/latest/meta-data",
  "https://127.0.0.1/x",
  "gopher://127.0.0.1:5432/x",
  "s3://my-s3-bucket",
  "s3://my-s3-bucket/",
  "s3://../x",
  "s3:///x",
  "s3://a b/x",
  "s3://my-s3-bucket\0/x",
  "s3://my-s3-bucket@127.0.0.1:5432/x",
  "s3://127.0.0.1:5432/x",
  "",
];
test.each(FOREIGN_PATHS)("a URL for %j is not signed for another host", async (nativeUrl) => {
  const answer = await client.dataProxy.createDownloadLocation({ nativeUrl }).then(
    ({ signedUrl }) => new URL(signedUrl).hostname,
    (error: unknown) => (error instanceof RpcError ? codeName(error.code) : String(error)),
  );
  expect(answer).toMatch(/^(INVALID_ARGUMENT|127\.0\.0\.1)$/);
  const { code } = await rawClient.rest({
    method: "GET",
    path: `/api/v1/dataproxy/artifact_urn?native_url=${encodeURIComponent(nativeUrl)}`,
  });
  expect(codeName(code as Code)).toMatch(/^(INVALID_ARGUMENT|OK)$/);
});

test.each([
  "flyte://v1/../../x/n0/i",
  "flyte://v1/flytesnacks/development/%2e%2e/n0/i",
  "flyte://v1/a/b/c/d/e/f/g",
  "flyte://v1/\0/b/c/n0/i",
  "flyte:///",
  "flyte://v1/flytesnacks/development/x/n0/i/../../y",
])("data at %j is not found", async (flyteUrl) => {
  expect((await failureOf(client.dataProxy.getData({ flyteUrl }))).code).toMatch(/INVALID_ARGUMENT|NOT_FOUND/);
});

test("scripts in names and descriptions are returned as text in every content type", async () => {
  const named = { ...scope, name: "known" };
  await client.admin.updateNamedEntity({ resourceType: ResourceType.TASK, id: named, metadata: { description: SCRIPT } });
  await client.admin.updateProject({ id: scope.project, name: SCRIPT, description: SCRIPT });
  await client.admin.createTask(taskRequest(identifier(ResourceType.TASK, { name: SCRIPT })));
  const paths = [
    "/api/v1/projects",
    "/api/v1/named_entities/TASK/flytesnacks/development/known",
    "/api/v1/tasks/flytesnacks/development?limit=10",
    `/api/v1/tasks/flytesnacks/development/${encodeURIComponent(SCRIPT)}/nosuch`,
    `/api/v1/executions/flytesnacks/development/${encodeURIComponent(SCRIPT)}`,
    `/api/v1/${encodeURIComponent(SCRIPT)}`,
    `/${encodeURIComponent(SCRIPT)}?${encodeURIComponent(SCRIPT)}`,
    `/api/v1/projects?filters=${encodeURIComponent(SCRIPT)}`,
  ];
  for (const asked of paths) {
    const response = await fetch(at(asked), { headers: { accept: "text/html,*/*" } });
    await response.arrayBuffer();
    expect([asked, response.headers.get("content-type"), response.headers.get("x-content-type-options")]).toEqual([
      asked,
      "application/json",
      "nosniff",
    ]);
  }
});

test("an uploaded page runs without access to the origin of the blob store", async () => {
  const { signedUrl, nativeUrl, headers } = await client.dataProxy.createUploadLocation({
    ...scope,
    filename: "deck.html",
    filenameRoot: "x",
  });
  expect(headers).toBeDefined();
  const put = await fetch(signedUrl, { method: "PUT", body: SCRIPT, headers: { "content-type": "text/html" } });
  expect(put.status).toBe(200);
  const link = await client.dataProxy.createDownloadLocation({ nativeUrl });
  const page = await fetch(link.signedUrl);
  expect(await page.text()).toBe(SCRIPT);
  expect(page.headers.get("content-security-policy")).toMatch(/^sandbox(?!.*allow-same-origin)/);
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
});

test("an upload location with an MD5 accepts only that content, repeatedly, and overwrites nothing", async () => {
  const put = async (signedUrl: string, body: string, headers: Readonly<Record<string, string>>) =>
    (await fetch(signedUrl, { method: "PUT", body, headers })).status;
  const md5Of = (text: string) => createHash("md5").update(text).digest();
  const contentMd5 = md5Of("bundle");
  const request = { ...scope, filename: "fast.tar.gz", contentMd5, addContentMd5Metadata: true };
  const locate = async () => {
    const { signedUrl, nativeUrl, headers } = await client.dataProxy.createUploadLocation(request);
    const { "Content-Length": _length, ...sent } = headers;
    return { signedUrl, nativeUrl, sent };
  };
  const read = async (nativeUrl: string) => (await fetch((await client.dataProxy.createDownloadLocation({ nativeUrl })).signedUrl)).text();
  const early = await locate();
  const forged = { ...early.sent, "Content-MD5": md5Of("forged").toString("base64") };
  const { "Content-MD5": _sum, ...silent } = early.sent;
  expect([await put(early.signedUrl, "forged", forged), await put(early.signedUrl, "forged", silent)]).toEqual([403, 403]);
  expect(await put(early.signedUrl, "forged", early.sent)).toBe(400);
  expect(await put(early.signedUrl, "bundle", early.sent)).toBe(200);
  // Register again, as flytekit does with unchanged code.
  const again = await locate();
  expect(again.nativeUrl).toBe(early.nativeUrl);
  expect(new URL(again.signedUrl).pathname).not.toBe(new URL(early.signedUrl).pathname);
  expect(await put(again.signedUrl, "bundle", again.sent)).toBe(200);
  expect(await put(early.signedUrl, "forged", forged)).toBe(403);
  expect(await read(early.nativeUrl)).toBe("bundle");
});

test("the log at its most detailed level contains no secret", async () => {
  await client.admin
    .createExecution(executionRequest("secretive", { inputs: { literals: { a: textOf(SECRET_INPUT) } } }))
    .catch(() => undefined);
  const callers = [AdminService.method.listProjects].map(() =>
    client.admin.listProjects({}, { metadata: { authorization: `Bearer ${SECRET_TOKEN}`, cookie: `session=${SECRET_TOKEN}` } }),
  );
  await Promise.all(callers);
  await fetch(at(`/api/v1/projects?token=0&access_token=${SECRET_TOKEN}`), {
    headers: { authorization: SECRET_TOKEN, cookie: SECRET_TOKEN },
  });
  await fetch(at(`/nosuch?code=${SECRET_TOKEN}`));
  const { signedUrl } = await client.dataProxy.createUploadLocation({ ...scope, filename: "s", filenameRoot: "s" });
  const signature = new URL(signedUrl).searchParams.get("X-Amz-Signature") ?? "";
  const password = decodeURIComponent(new URL(admin.databaseUrl).password);
  expect([signature.length, password.length].every((length) => length > 20)).toBe(true);
  const text = admin.log().join("\n");
  expect(text).toContain("admin is ready");
  const secrets = { SECRET_INPUT, SECRET_TOKEN, password, signature, key: BLOB_KEY.secretAccessKey };
  expect(
    Object.entries(secrets)
      .filter(([, secret]) => text.includes(secret))
      .map(([name]) => name),
  ).toEqual([]);
  // The configuration, which only its owner may read, does contain them.
  expect(readFileSync(admin.configFile, "utf8")).toContain(password);
});

test("no attack caused a server error", () => {
  expect(
    admin
      .log()
      .filter((line) => /"level":"(error|fatal)"/.test(line))
      .slice(0, 5),
  ).toEqual([]);
});
