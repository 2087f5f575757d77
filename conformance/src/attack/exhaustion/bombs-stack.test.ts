import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DataCatalog } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RunningStack, startStack } from "../../stack/stack-fixture.js";
import { type Attacker, openAttacker } from "../attacker.fixture.js";
import {
  field,
  HEADER_BOMBS,
  JSON_BOMBS,
  MESSAGE_BOMBS,
  OBJECT_BOMBS,
  PATCH_BOMBS,
  QUERY_BOMBS,
  XML_BOMBS,
  YAML_BOMBS,
} from "./bombs.fixture.js";
import { type Listener, listenersOf } from "../listeners.fixture.js";
import { excessOf } from "./process-cost.fixture.js";
import { type BlobKey, type BlobRequest, signedBlobHeaders } from "../signed-blob-request.fixture.js";

// Sends requests that are small on the wire and large in memory or time to the other listeners of a
// local stack, with and without a token or key. A refusal may cost the refusing process no more
// than process-cost.fixture.ts allows.
let stack: RunningStack;
let listeners: readonly Listener[];
let cluster: Listener & { readonly token: string; readonly logToken: string };
let blobs: Listener & { readonly key: BlobKey };
let catalog: Listener & { readonly grpc: number };
beforeAll(async () => {
  stack = await startStack(["--no-example"]);
  listeners = listenersOf(stack.folder);
  const secrets = JSON.parse(readFileSync(join(stack.folder, "credentials.json"), "utf8")) as Record<string, string>;
  const text = (name: string) => secrets[name] ?? "";
  cluster = { ...listenerOf(kubernetesPort()), token: text("clusterToken"), logToken: text("clusterLogToken") };
  blobs = { ...listenerOf(stack.blobs), key: { accessKeyId: text("blobKeyId"), secretAccessKey: text("blobSecretKey") } };
  const grpc = Number(/grpcPort: (\d+)/.exec(readFileSync(join(stack.folder, "config", "datacatalog.yaml"), "utf8"))?.[1]);
  catalog = { ...listenerOf(grpc), grpc };
}, 300_000);
afterAll(async () => {
  await stack?.stop();
}, 60_000);

const kubernetesPort = () => Number(/server: http:\/\/[^:]+:(\d+)/.exec(readFileSync(stack.kubeconfig, "utf8"))?.[1]);

function listenerOf(port: number): Listener {
  const found = listeners.find((listener) => listener.port === port);
  if (found === undefined) throw new Error(`no process of the stack listens on ${port}`);
  return found;
}

let attacker: Attacker | undefined;
const attack = (port: number): Attacker => {
  attacker?.close();
  attacker = openAttacker(port);
  return attacker;
};
beforeEach(() => {
  attacker = undefined;
});
afterEach(() => attacker?.close());

/**
 * Describes the faults of a refusal: the request was served, the server failed with status 500, or
 * the cost exceeded the maximum.
 */
async function describeFaults(pid: number, act: () => Promise<number>): Promise<string[]> {
  let status = 0;
  const excess = await excessOf(pid, async () => {
    status = await act();
  });
  return [...excess, ...(status < 400 || status === 500 ? [`answered with ${status}`] : [])];
}

const typed = (type: string) => ({ "content-type": type });
const NAMESPACE = "/api/v1/namespaces/flytesnacks-development";
const COLLECTIONS = [
  `${NAMESPACE}/configmaps`,
  `${NAMESPACE}/pods`,
  "/apis/flyte.lyft.com/v1alpha1/namespaces/flytesnacks-development/flyteworkflows",
];

const kubernetesField = (number: number, size: number) => Buffer.alloc(size, field(number, Buffer.alloc(0)));
const kubernetesBody = (raw: Uint8Array) =>
  Buffer.concat([
    Buffer.from("k8s\0"),
    field(1, Buffer.concat([field(1, Buffer.from("v1")), field(2, Buffer.from("ConfigMap"))])),
    field(2, raw),
  ]);

interface Write {
  readonly method: string;
  readonly type: string;
  readonly body: string | Uint8Array;
}

const WRITES: readonly (readonly [string, Write])[] = [
  ...Object.entries(YAML_BOMBS).map(([kind, body]) => [`YAML: ${kind}`, { method: "POST", type: "application/yaml", body }] as const),
  ...Object.entries(YAML_BOMBS).map(
    ([kind, body]) => [`applied YAML: ${kind}`, { method: "PATCH", type: "application/apply-patch+yaml", body }] as const,
  ),
  ...Object.entries({ ...OBJECT_BOMBS, ...JSON_BOMBS }).map(
    ([kind, body]) => [`JSON: ${kind}`, { method: "POST", type: "application/json", body }] as const,
  ),
  ...Object.entries(PATCH_BOMBS).map(
    ([kind, [type, body]]) => [`patch: ${kind}`, { method: "PATCH", type: `application/${type}+json`, body }] as const,
  ),
  [
    "protobuf: a million list items",
    { method: "POST", type: "application/vnd.kubernetes.protobuf", body: kubernetesBody(field(1, kubernetesField(14, 2_900_000))) },
  ],
  [
    "protobuf: a million entries",
    { method: "POST", type: "application/vnd.kubernetes.protobuf", body: kubernetesBody(kubernetesField(2, 2_900_000)) },
  ],
  ["protobuf: zeros", { method: "POST", type: "application/vnd.kubernetes.protobuf", body: kubernetesBody(Buffer.alloc(2_900_000)) }],
];

describe("the API of the cluster", () => {
  const at = (who: string, path: string) =>
    who === "the token" ? `/${cluster.token}${path}` : who === "the token of logs" ? `/${cluster.logToken}${path}` : path;

  describe.each(["no token", "the token of logs", "the token"])("with %s", (who) => {
    describe.each(WRITES)("%s", (_, { method, type, body }) => {
      test.each(COLLECTIONS)("%s", async (collection) => {
        const path = at(who, method === "PATCH" ? `${collection}/x?fieldManager=t` : collection);
        const act = async () => (await attack(cluster.port).http({ method, path, body, headers: typed(type) })).status || 413;
        expect(await describeFaults(cluster.pid, act)).toEqual([]);
      });
    });

    test.each([
      ["blanks", "labelSelector", `a=${"+".repeat(40_000)}!`],
      ["blanks before a set", "labelSelector", `a+in${"+".repeat(40_000)}!`],
      ["terms", "labelSelector", "!a,".repeat(15_000)],
      ["a set without end", "labelSelector", `a in (${"x,".repeat(20_000)}`.replaceAll(" ", "+")],
      ["many field selector terms", "fieldSelector", "metadata.name!=a,".repeat(2_500)],
      ["escapes", "fieldSelector", "%5C".repeat(15_000)],
      ["digits", "limit", `${"9".repeat(40_000)}x`],
      ["nesting in a token", "continue", Buffer.from("[".repeat(30_000)).toString("base64url")],
    ])("a selection of %s", async (_, name, value) => {
      const path = at(who, `${NAMESPACE}/pods?${name}=${value}`);
      const act = async () => (await attack(cluster.port).http({ method: "GET", path, headers: {} })).status || 431;
      expect(await describeFaults(cluster.pid, act)).toEqual([]);
    });
  });
});

describe("the blob store", () => {
  const WRONG: BlobKey = { accessKeyId: "someone", secretAccessKey: "else" };
  const send = async (key: BlobKey | undefined, request: BlobRequest): Promise<number> => {
    const headers = key === undefined ? request.headers : signedBlobHeaders(request, `localhost:${blobs.port}`, key);
    const path = request.query === undefined ? request.path : `${request.path}?${request.query}`;
    return (await attack(blobs.port).http({ method: request.method, path, body: request.body, headers: headers ?? {} })).status || 431;
  };
  const xml = Object.entries(XML_BOMBS).flatMap(([kind, body]): (readonly [string, BlobRequest])[] => [
    [`deletion: ${kind}`, { method: "POST", path: "/my-s3-bucket", query: "delete=", body }],
    [`end of an upload: ${kind}`, { method: "POST", path: "/my-s3-bucket/k", query: "uploadId=x", body }],
  ]);
  const chunked = (body: string): BlobRequest => ({
    method: "PUT",
    path: "/my-s3-bucket/k",
    body,
    payloadHash: "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    headers: { "x-amz-decoded-content-length": "100000000" },
  });
  const REQUESTS: readonly (readonly [string, BlobRequest])[] = [
    ...xml,
    ["the head of a chunk without end", chunked("0".repeat(300_000))],
    ["a chunk of 256 TiB", chunked("ffffffffffff\r\nx")],
    ["many empty chunks", chunked("0\r\n\r\n".repeat(50_000))],
    ["trailing headers without end", chunked(`0\r\n${"a:b\r\n".repeat(20_000)}`)],
    ["a line break without a feed", chunked("1\r".repeat(100_000))],
    ["metadata without end", { method: "PUT", path: "/my-s3-bucket/k", body: "x", headers: { "x-amz-meta-a": "x".repeat(12_000) } }],
    ["a range of digits", { method: "GET", path: "/my-s3-bucket/none", headers: { range: `bytes=${"9".repeat(12_000)}-` } }],
    [
      "conditions of quotes",
      {
        method: "GET",
        path: "/my-s3-bucket/none",
        headers: { "if-none-match": '"a", '.repeat(2_400), "if-modified-since": "(".repeat(1_000) },
      },
    ],
    ["a source of percent signs", { method: "PUT", path: "/my-s3-bucket/k", headers: { "x-amz-copy-source": "%25".repeat(4_000) } }],
    ["a number of digits", { method: "GET", path: "/my-s3-bucket", query: `list-type=2&max-keys=${"9".repeat(12_000)}` }],
    ["an invalid token", { method: "GET", path: "/my-s3-bucket", query: `continuation-token=${"A".repeat(12_000)}&list-type=2` }],
    ["a key of slashes", { method: "GET", path: `/my-s3-bucket/${"a/".repeat(6_000)}` }],
  ];
  describe.each(["no key", "another key", "the key"])("with %s", (who) => {
    test.each(REQUESTS)("%s", async (_, request) => {
      expect(
        await describeFaults(blobs.pid, () => send(who === "no key" ? undefined : who === "the key" ? blobs.key : WRONG, request)),
      ).toEqual([]);
    });
  });

  test("headers that are signed repeatedly", async () => {
    const request = { method: "GET", path: "/my-s3-bucket/k", headers: { "x-pad": "p".repeat(12_000) } };
    const headers = signedBlobHeaders(request, `localhost:${blobs.port}`, blobs.key);
    const authorization = headers["authorization"]?.replace("SignedHeaders=", `SignedHeaders=${"x-pad;".repeat(2_500)}`) ?? "";
    const act = async () => (await attack(blobs.port).http({ ...request, headers: { ...headers, authorization } })).status;
    expect(await describeFaults(blobs.pid, act)).toEqual([]);
  });
});

describe.each(Object.entries(MESSAGE_BOMBS))("the data catalog: %s", (_, bomb) => {
  test.each(DataCatalog.methods.map(({ name }) => name))("%s", async (name) => {
    let answer = "";
    const excess = await excessOf(catalog.pid, async () => {
      answer = await attack(catalog.grpc).grpc({ path: `/${DataCatalog.typeName}/${name}`, ...bomb });
    });
    // Decoders skip fields that the request type does not declare.
    expect(answer).toMatch(/^(OK|INVALID_ARGUMENT|RESOURCE_EXHAUSTED)$/);
    expect(excess).toEqual([]);
  });
});

describe("every listener of the stack", () => {
  const REQUESTS: readonly (readonly [
    string,
    { readonly method: string; readonly path: string; readonly headers: Readonly<Record<string, string>>; readonly body?: string },
  ])[] = [
    ...Object.entries(HEADER_BOMBS).flatMap(([kind, headers]) =>
      ["/", "/metrics"].map((path) => [`headers at ${path}: ${kind}`, { method: "GET", path, headers }] as const),
    ),
    ...Object.entries(QUERY_BOMBS).map(
      ([kind, query]) => [`query: ${kind}`, { method: "GET", path: `/metrics?${query}`, headers: {} }] as const,
    ),
    ...Object.entries(JSON_BOMBS).map(
      ([kind, body]) => [`body: ${kind}`, { method: "POST", path: "/", headers: typed("application/json"), body }] as const,
    ),
  ];
  test.each(REQUESTS)("%s", async (_, request) => {
    for (const { name, pid, port } of listeners) {
      expect([name, ...(await excessOf(pid, () => attack(port).http(request)))]).toEqual([name]);
    }
  });
});

test("the same processes of the stack still serve", async () => {
  expect(
    listenersOf(stack.folder)
      .map(({ pid, port }) => `${pid} ${port}`)
      .toSorted(),
  ).toEqual(listeners.map(({ pid, port }) => `${pid} ${port}`).toSorted());
  expect((await attack(stack.api).http({ method: "GET", path: "/api/v1/projects" })).status).toBe(200);
});
