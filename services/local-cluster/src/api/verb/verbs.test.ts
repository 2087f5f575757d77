import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FLYTE_DEFINITION, FLYTE_PATH, type TestCluster, testCluster, workflow } from "../../cluster.fixture.js";
import { show } from "../../object/model.js";

let k: TestCluster;
const CM = "/api/v1/namespaces/default/configmaps";
const merge = { type: "application/merge-patch+json" };

beforeAll(async () => {
  k = await testCluster();
  await k.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body: FLYTE_DEFINITION });
});
afterAll(() => k.stop());

describe("create", () => {
  test("fills in metadata and refuses a second object of the same name", async () => {
    const { status, body } = await k.call("POST", FLYTE_PATH, { body: workflow("a", { spec: { id: "x" } }) });
    expect(status).toBe(201);
    expect(body.metadata).toMatchObject({ name: "a", namespace: "default", generation: 1, uid: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const again = await k.call("POST", FLYTE_PATH, { body: workflow("a") });
    expect(again).toMatchObject({
      status: 409,
      body: {
        reason: "AlreadyExists",
        message: 'flyteworkflows.flyte.lyft.com "a" already exists',
        details: { name: "a", group: "flyte.lyft.com", kind: "flyteworkflows" },
      },
    });
  });

  test("appends a random suffix to generateName", async () => {
    const { body } = await k.call("POST", CM, { body: { metadata: { generateName: "gen-" } } });
    expect(body.metadata.name).toMatch(/^gen-[a-z0-9]{5}$/);
  });

  test.each([
    {
      what: "a name that is not a DNS name",
      body: { metadata: { name: "Not_A_Name" } },
      status: 422,
      reason: "Invalid",
      text: "lowercase RFC 1123 subdomain",
    },
    { what: "no name", body: { metadata: {} }, status: 422, reason: "Invalid", text: "name or generateName is required" },
    {
      what: "another kind",
      body: { kind: "Secret", metadata: { name: "x" } },
      status: 400,
      reason: "BadRequest",
      text: "cannot be handled as a ConfigMap",
    },
    {
      what: "another namespace",
      body: { metadata: { name: "x", namespace: "other" } },
      status: 400,
      reason: "BadRequest",
      text: "does not match",
    },
    {
      what: "a missing namespace",
      at: "nowhere",
      body: { metadata: { name: "x" } },
      status: 404,
      reason: "NotFound",
      text: 'namespaces "nowhere" not found',
    },
    {
      what: "a resource version",
      body: { metadata: { name: "x", resourceVersion: "5" } },
      status: 400,
      reason: "BadRequest",
      text: "resourceVersion",
    },
    {
      what: "an invalid label",
      body: { metadata: { name: "x", labels: { a: "b c" } } },
      status: 422,
      reason: "Invalid",
      text: "a valid label",
    },
  ])("refuses $what", async ({ at = "default", body, status, reason, text }) => {
    const answer = await k.call("POST", `/api/v1/namespaces/${at}/configmaps`, { body });
    expect(answer).toMatchObject({ status, body: { kind: "Status", status: "Failure", reason, code: status } });
    expect(answer.body.message).toContain(text);
  });

  test("with dry run stores nothing", async () => {
    expect((await k.call("POST", `${CM}?dryRun=All`, { body: { metadata: { name: "dry" } } })).status).toBe(201);
    expect((await k.call("GET", `${CM}/dry`)).status).toBe(404);
  });

  test("refuses an object that is too large", async () => {
    const body = workflow("large", { spec: { text: "x".repeat(1_600_000) } });
    expect(await k.call("POST", FLYTE_PATH, { body })).toMatchObject({
      status: 413,
      body: { reason: "RequestEntityTooLarge", message: expect.stringContaining("etcdserver: request is too large") },
    });
    const huge = workflow("large", { spec: { text: "x".repeat(4_000_000) } });
    expect(await k.call("POST", FLYTE_PATH, { body: huge })).toMatchObject({
      status: 413,
      body: { message: expect.stringContaining("Request entity too large: limit is 3145728") },
    });
  });
});

describe("update", () => {
  test("conflicts on another resource version, and raises the generation only for changes of content", async () => {
    const { body: first } = await k.call("POST", FLYTE_PATH, { body: workflow("upd", { spec: { n: 1 } }) });
    const second = await k.call("PUT", `${FLYTE_PATH}/upd`, { body: { ...first, spec: { n: 2 } } });
    expect(second).toMatchObject({ status: 200, body: { metadata: { generation: 2 } } });
    expect(Number(second.body.metadata.resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion));
    expect(await k.call("PUT", `${FLYTE_PATH}/upd`, { body: { ...first, spec: { n: 3 } } })).toMatchObject({
      status: 409,
      body: { reason: "Conflict", message: expect.stringContaining("the object has been modified") },
    });
    const labelled = await k.call("PUT", `${FLYTE_PATH}/upd`, {
      body: { ...second.body, metadata: { ...second.body.metadata, labels: { a: "b" } } },
    });
    expect(labelled.body.metadata.generation).toBe(2);
    expect(await k.call("PUT", `${FLYTE_PATH}/upd`, { body: workflow("upd") })).toMatchObject({ status: 422 });
    expect(await k.call("PUT", `${FLYTE_PATH}/missing`, { body: { ...first, metadata: { name: "missing" } } })).toMatchObject({
      status: 404,
    });
  });

  test("with the same content keeps the resource version", async () => {
    const { body } = await k.call("POST", CM, { body: { metadata: { name: "same" }, data: { a: "1" } } });
    const again = await k.call("PUT", `${CM}/same`, { body });
    expect(again.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
  });
});

describe("patch", () => {
  test("merges: sets, removes and keeps fields, and checks the resource version", async () => {
    await k.call("POST", FLYTE_PATH, { body: workflow("mp", { spec: { a: 1, b: { c: 1, d: 2 } } }) });
    const { body } = await k.call("PATCH", `${FLYTE_PATH}/mp`, {
      ...merge,
      body: { spec: { b: { c: null, e: [1] } }, status: { phase: 1 } },
    });
    expect(body).toMatchObject({ spec: { a: 1, b: { d: 2, e: [1] } }, status: { phase: 1 } });
    expect(JSON.stringify(body["spec"])).not.toContain('"c"');
    const stale = await k.call("PATCH", `${FLYTE_PATH}/mp`, { ...merge, body: { metadata: { resourceVersion: "1" }, spec: { a: 2 } } });
    expect(stale.status).toBe(409);
    expect((await k.call("PATCH", `${FLYTE_PATH}/none`, { ...merge, body: {} })).status).toBe(404);
  });

  test("applies a JSON patch", async () => {
    await k.call("POST", CM, { body: { metadata: { name: "jp" }, data: { a: "1" } } });
    const type = "application/json-patch+json";
    const ok = await k.call("PATCH", `${CM}/jp`, {
      type,
      body: [
        { op: "test", path: "/data/a", value: "1" },
        { op: "add", path: "/data/b", value: "2" },
      ],
    });
    expect(ok.body["data"]).toEqual({ a: "1", b: "2" });
    expect((await k.call("PATCH", `${CM}/jp`, { type, body: [{ op: "remove", path: "/data/none" }] })).status).toBe(422);
  });

  test("merges lists by key in a strategic merge patch, for built-in kinds only", async () => {
    const pod = { metadata: { name: "sm" }, spec: { nodeSelector: { no: "node" }, containers: [{ name: "a", image: "i" }] } };
    await k.call("POST", "/api/v1/namespaces/default/pods", { body: pod });
    const type = "application/strategic-merge-patch+json";
    const { body } = await k.call("PATCH", "/api/v1/namespaces/default/pods/sm", {
      type,
      body: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "j" }] } },
    });
    expect(body["spec"]).toMatchObject({ containers: [{ name: "a", image: "j", terminationMessagePath: "/dev/termination-log" }] });
    expect((await k.call("PATCH", `${FLYTE_PATH}/mp`, { type, body: {} })).status).toBe(415);
  });

  test("applies server-side: creates, then merges", async () => {
    const type = "application/apply-patch+yaml";
    const path = `${CM}/applied?fieldManager=test`;
    expect(await k.call("PATCH", path, { type, body: "apiVersion: v1\nkind: ConfigMap\ndata: {a: '1'}\n" })).toMatchObject({
      status: 201,
      body: { data: { a: "1" } },
    });
    expect(await k.call("PATCH", path, { type, body: "apiVersion: v1\nkind: ConfigMap\ndata: {b: '2'}\n" })).toMatchObject({
      status: 200,
      body: { data: { a: "1", b: "2" } },
    });
  });
});

describe("bodies in YAML", () => {
  const bomb = [
    "a: &a [x,x,x,x,x,x,x,x,x]",
    ..."bcdefghi".split("").map((name, i) => `${name}: &${name} [${Array(9).fill(`*${"abcdefgh"[i]}`).join()}]`),
  ];
  test.each([
    ["aliases", bomb.join("\n"), "must not contain aliases"],
    ["brackets without end", "[".repeat(50_000), "nested more than"],
    ["a text that is not YAML", "a: b: c: {", "not supported YAML"],
  ])("%s are a client error", async (_what, body, message) => {
    for (const [method, path, type] of [
      ["POST", CM, "application/yaml"],
      ["PATCH", `${CM}/bomb?fieldManager=test`, "application/apply-patch+yaml"],
    ] as const) {
      const answer = await k.call(method, path, { type, body });
      expect(answer).toMatchObject({ status: 400, body: { reason: "BadRequest", message: expect.stringContaining(message) } });
    }
  });
});

describe("delete", () => {
  test("waits for finalizers, and adds none to an object in deletion", async () => {
    await k.call("POST", FLYTE_PATH, { body: { ...workflow("fin"), metadata: { name: "fin", finalizers: ["flyte.org/finalizer"] } } });
    const deleted = await k.call("DELETE", `${FLYTE_PATH}/fin`);
    expect(deleted).toMatchObject({ status: 200, body: { kind: "FlyteWorkflow", metadata: { deletionTimestamp: expect.any(String) } } });
    const more = await k.call("PATCH", `${FLYTE_PATH}/fin`, {
      ...merge,
      body: { metadata: { finalizers: ["flyte.org/finalizer", "a.b/c"] } },
    });
    expect(more).toMatchObject({
      status: 422,
      body: { reason: "Invalid", message: expect.stringContaining("no new finalizers can be added") },
    });
    expect((await k.call("PATCH", `${FLYTE_PATH}/fin`, { ...merge, body: { metadata: { finalizers: null } } })).status).toBe(200);
    expect(await k.call("GET", `${FLYTE_PATH}/fin`)).toMatchObject({ status: 404, body: { reason: "NotFound" } });
  });

  test("checks preconditions", async () => {
    const { body } = await k.call("POST", CM, { body: { metadata: { name: "pre" } } });
    expect(await k.call("DELETE", `${CM}/pre`, { body: { preconditions: { uid: "other" } } })).toMatchObject({ status: 409 });
    expect(
      await k.call("DELETE", `${CM}/pre`, { body: { preconditions: { uid: body.metadata.uid, resourceVersion: "0" } } }),
    ).toMatchObject({ status: 409 });
    expect(await k.call("DELETE", `${CM}/pre`, { body: { preconditions: { uid: body.metadata.uid } } })).toMatchObject({
      status: 200,
      body: { kind: "Status", status: "Success" },
    });
  });

  test("removes the objects of a collection that match a label selector", async () => {
    for (const name of ["dc-1", "dc-2", "dc-3"])
      await k.call("POST", CM, { body: { metadata: { name, labels: { set: name === "dc-3" ? "b" : "a" } } } });
    await k.call("DELETE", `${CM}?labelSelector=set%3Da`);
    const { body } = await k.call("GET", `${CM}?labelSelector=set`);
    expect(body.items.map((item) => item.metadata.name)).toEqual(["dc-3"]);
  });
});

describe("list", () => {
  test("filters by selectors, and its pages show one revision", async () => {
    await k.call("POST", "/api/v1/namespaces", { body: { metadata: { name: "pages" } } });
    const path = "/api/v1/namespaces/pages/configmaps";
    for (let i = 0; i < 5; i++) await k.call("POST", path, { body: { metadata: { name: `c${i}`, labels: { odd: String(i % 2) } } } });
    const names = async (query: string) => (await k.call("GET", `${path}?${query}`)).body.items.map((item) => item.metadata.name);
    expect(await names("labelSelector=odd%3D1")).toEqual(["c1", "c3"]);
    expect(await names("labelSelector=odd+notin+(1),odd")).toEqual(["c0", "c2", "c4"]);
    expect(await names("fieldSelector=metadata.name%3Dc2")).toEqual(["c2"]);
    expect(await names("fieldSelector=metadata.name!%3Dc2,metadata.namespace%3Dpages&limit=10")).toEqual(["c0", "c1", "c3", "c4"]);
    const first = (await k.call("GET", `${path}?limit=2`)).body;
    expect(first.metadata).toMatchObject({ remainingItemCount: 3, continue: expect.any(String) });
    await k.call("DELETE", `${path}/c4`);
    const second = (await k.call("GET", `${path}?limit=2&continue=${show(first.metadata["continue"])}`)).body;
    const third = (await k.call("GET", `${path}?limit=2&continue=${show(second.metadata["continue"])}`)).body;
    expect([...second.items, ...third.items].map((item) => item.metadata.name)).toEqual(["c2", "c3", "c4"]);
    expect(third.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion });
    const forgotten = Buffer.from(JSON.stringify({ v: "local/v1", rv: 1 })).toString("base64url");
    expect(await k.call("GET", `${path}?limit=2&continue=${forgotten}`)).toMatchObject({ status: 410, body: { reason: "Expired" } });
    expect(await k.call("GET", `${path}?limit=2&continue=gone`)).toMatchObject({ status: 400, body: { reason: "BadRequest" } });
  });

  test.each(["labelSelector=a%3D%3D%3D", "fieldSelector=spec.foo%3D1", "resourceVersion=abc"])("refuses %s", async (query) => {
    expect(await k.call("GET", `${CM}?${query}`)).toMatchObject({ status: 400 });
  });

  test("with a future resource version times out", async () => {
    expect(await k.call("GET", `${CM}?resourceVersion=999999999`)).toMatchObject({ status: 504, body: { reason: "Timeout" } });
  });
});

describe("requests of web pages", () => {
  const send = (headers: Record<string, string>, { method = "GET", body = "", path = CM } = {}) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const length = body === "" ? {} : { "content-length": String(body.length) };
      request({ host: "127.0.0.1", port: k.cluster.port, path, method, headers: { ...headers, ...length } }, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve({ status: response.statusCode, text }));
      })
        .on("error", reject)
        .end(body);
    });

  test.each([
    ["a page of another origin", { origin: "http://evil.example" }],
    ["another port of this machine", { origin: "http://127.0.0.1:3000" }],
    ["a script without an origin", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }],
    ["a frame", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }],
    ["a rebound name", { host: "evil.example" }],
  ])("%s is refused, for objects, health and metrics", async (_, headers) => {
    for (const path of [CM, "/metrics", "/healthz", "/version", "/openapi/v2"])
      expect((await send(headers as Record<string, string>, { path })).status).toBe(403);
  });

  test("a request that a user types or opens from a link is served", async () => {
    const opened = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    expect((await send({ ...opened, "sec-fetch-site": "none" })).status).toBe(200);
    expect((await send({ ...opened, "sec-fetch-site": "cross-site" })).status).toBe(200);
    expect((await send({ ...opened, "sec-fetch-site": "cross-site" }, { method: "POST", body: "{}" })).status).toBe(403);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", undefined])(
    "a body of type %s, which a page may send without a preflight, is refused",
    async (type) => {
      const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
      for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
        const path = method === "POST" ? CM : `${CM}/evil`;
        const { status, text } = await send(headers, { method, path, body: '{"metadata":{"name":"evil"}}' });
        expect(status, `${method} ${text}`).toBe(415);
      }
      expect((await send({}, { path: `${CM}/evil` })).status).toBe(404);
    },
  );
});
