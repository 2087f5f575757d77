import { createHash } from "node:crypto";
import { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { codeName, RpcError } from "@flyte-ts/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scope } from "../../api/valid-requests.js";
import { type Attacker, openAttacker } from "../attacker.fixture.js";
import { startVictim, type Victim } from "../victim.fixture.js";

// Requests signed URLs for objects outside the caller's project, and alters signed URLs.
let victim: Victim;
let blobs: Attacker;
let secretUrl = "";
const CONTENT = "the other team's data";
beforeAll(async () => {
  victim = await startVictim();
  const { signedUrl, nativeUrl } = await victim.root.dataProxy.createUploadLocation({
    project: "other",
    domain: scope.domain,
    filename: "secret",
    filenameRoot: "kept",
  });
  await fetch(signedUrl, { method: "PUT", body: CONTENT });
  secretUrl = nativeUrl;
  const own = await victim.root.dataProxy.createUploadLocation({ ...scope, filename: "mine", filenameRoot: "r" });
  await fetch(own.signedUrl, { method: "PUT", body: "mine" });
  blobs = openAttacker(Number(new URL(signedUrl).port));
});
afterAll(async () => {
  blobs?.close();
  await victim?.stop();
});

const clientAs = (subject: string) => victim.clientFor(subject, DataProxyService);

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "OK";
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return codeName(error.code);
  }
}

const OUTSIDE = (place: string) => [
  `s3://my-s3-bucket/other/${scope.domain}/${place}`,
  `s3://my-s3-bucket/${scope.project}/../other/${scope.domain}/${place}`,
  `s3://my-s3-bucket/${scope.project}/${scope.domain}/../../other/${scope.domain}/${place}`,
  `s3://my-s3-bucket/${scope.project}/${scope.domain}/%2e%2e/%2e%2e/other/${scope.domain}/${place}`,
  `s3://my-s3-bucket//other/${scope.domain}/${place}`,
  `s3://my-s3-bucket/./other/${scope.domain}/${place}`,
  `s3://my-s3-bucket/${scope.project}x/${scope.domain}/${place}`,
  `s3://my-s3-bucket/metadata/propeller/other-${scope.domain}-x/${place}`,
  `s3://my-s3-bucket/metadata/admin/other/${place}`,
  `s3://my-s3-bucket/data/other/${place}`,
  `s3://my-s3-bucket/`,
  `s3://my-s3-bucket`,
  `s3://other-bucket/${scope.project}/${scope.domain}/${place}`,
  `s3://my-s3-bucket@other-bucket/${scope.project}/${scope.domain}/${place}`,
  `s3://my-s3-bucket:80/${scope.project}/${scope.domain}/${place}`,
  `s3://my-s3-bucket?/${scope.project}/${scope.domain}/${place}`,
  `s3://my-s3-bucket#/${scope.project}/${scope.domain}/${place}`,
  `gs://my-s3-bucket/${scope.project}/${scope.domain}/${place}`,
  `abfs://my-s3-bucket/${scope.project}/${scope.domain}/${place}`,
  `file:///etc/passwd`,
  `/etc/passwd`,
  `../../etc/passwd`,
  `http://127.0.0.1/${place}`,
  `https://127.0.0.1/${place}`,
  `ftp://127.0.0.1/${place}`,
  `s3:///${place}`,
  `S3://my-s3-bucket/other/${scope.domain}/${place}`,
  "",
  "\u0000",
  `s3://my-s3-bucket/${scope.project}/${scope.domain}/\u0000/../../other`,
];

describe.each(["viewer", "runner", "contributor", "admin"])("a %s of one project", (subject) => {
  test.each(OUTSIDE("kept/secret"))("gets no URL to read %j", async (nativeUrl) => {
    const answer = await codeOf(clientAs(subject).createDownloadLocation({ nativeUrl, expiresIn: { seconds: 60n } }));
    expect(["PERMISSION_DENIED", "INVALID_ARGUMENT", "NOT_FOUND"]).toContain(answer);
  });

  test.each([
    `flyte://v1/other/${scope.domain}/e/n0/i`,
    `flyte://v1/${scope.project}/${scope.domain}/../../other/${scope.domain}/e/n0/i`,
    `flyte://v1/${scope.project}/${scope.domain}/e/../../../other/n0/i`,
    `flyte://v2/other/${scope.domain}/e/n0/i`,
    "flyte://v1/*/*/e/n0/i",
    "flyte://v1/%/%/e/n0/i",
    "flyte://v1////n0/i",
    "flyte://av0.1/other",
    "s3://my-s3-bucket/other/development/kept/secret",
    "http://127.0.0.1/",
    "file:///etc/passwd",
    "",
  ])("gets no data of %j", async (flyteUrl) => {
    expect(["PERMISSION_DENIED", "INVALID_ARGUMENT", "NOT_FOUND"]).toContain(await codeOf(clientAs(subject).getData({ flyteUrl })));
  });
});

describe("an upload location stays in its project", () => {
  test.each<
    [
      string,
      {
        readonly filename?: string;
        readonly filenameRoot?: string;
        readonly project?: string;
        readonly domain?: string;
        readonly org?: string;
      },
    ]
  >([
    ["a filename that begins with ..", { filename: "../../other/x" }],
    ["a filename with .. inside", { filename: "a/../../../other/x" }],
    ["a filename of two dots", { filename: ".." }],
    ["a filename of one dot", { filename: "." }],
    ["a filename with a NUL", { filename: "a\u0000b" }],
    ["a filename of 3,000 characters", { filename: "a".repeat(3_000) }],
    ["a filename of 100,000 characters", { filename: "a".repeat(100_000) }],
    ["a filename with a line break", { filename: "a\r\nx-amz-acl: public-read" }],
    ["a root with ..", { filenameRoot: "../../other" }],
    ["a root of dots", { filenameRoot: ".." }],
    ["a root with a NUL", { filenameRoot: "a\u0000" }],
    ["a project with ..", { project: "../other" }],
    ["another project", { project: "other" }],
    ["a project with a slash", { project: "flytesnacks/../other" }],
    ["a domain with ..", { domain: "development/../../other" }],
    ["another domain", { domain: "production" }],
    ["an organization with ..", { org: ".." }],
    ["an organization of another project's name", { org: "other" }],
  ])("%s", async (_, changes) => {
    const request = { ...scope, filename: "f", filenameRoot: "root", ...changes };
    let url = "";
    const code = await codeOf(
      clientAs("runner")
        .createUploadLocation(request)
        .then(({ nativeUrl }) => (url = nativeUrl)),
    );
    expect([code === "OK" ? url.startsWith(`s3://my-s3-bucket/${scope.project}/${scope.domain}/`) : code]).toEqual([
      expect.toSatisfy((each: unknown) => [true, "INVALID_ARGUMENT", "PERMISSION_DENIED", "NOT_FOUND"].includes(each as string)),
    ]);
  });
});

/** Requests a signed URL for an object in the caller's own project. */
async function signedRead(): Promise<URL> {
  const nativeUrl = `s3://my-s3-bucket/${scope.project}/${scope.domain}/r/mine`;
  return new URL((await clientAs("viewer").createDownloadLocation({ nativeUrl, expiresIn: { seconds: 600n } })).signedUrl);
}

describe("a URL signed for one object", () => {
  const changed: readonly (readonly [string, (url: URL) => URL])[] = [
    ["of another object", (url) => alterUrl(url, { path: url.pathname.replace(/\/flytesnacks\/.*/, "/other/development/kept/secret") })],
    ["that climbs", (url) => alterUrl(url, { path: `${url.pathname}/../../../../other/development/kept/secret` })],
    ["with an escaped ..", (url) => alterUrl(url, { path: `${url.pathname}/%2e%2e/%2e%2e/%2e%2e/%2e%2e/other/development/kept/secret` })],
    ["of the bucket", (url) => alterUrl(url, { path: "/my-s3-bucket/" })],
    ["of all buckets", (url) => alterUrl(url, { path: "/" })],
    ["with a longer lifetime", (url) => alterUrl(url, { query: ["X-Amz-Expires", "600000"] })],
    ["with a later date", (url) => alterUrl(url, { query: ["X-Amz-Date", "20990101T000000Z"] })],
    ["with another key", (url) => alterUrl(url, { query: ["X-Amz-Credential", "other/20990101/us-east-1/s3/aws4_request"] })],
    [
      "with another region",
      (url) =>
        alterUrl(url, { query: ["X-Amz-Credential", (url.searchParams.get("X-Amz-Credential") ?? "").replace("us-east-1", "eu-west-1")] }),
    ],
    ["with other signed headers", (url) => alterUrl(url, { query: ["X-Amz-SignedHeaders", ""] })],
    ["with another algorithm", (url) => alterUrl(url, { query: ["X-Amz-Algorithm", "none"] })],
    ["with an additional parameter", (url) => alterUrl(url, { query: ["list-type", "2"] })],
    ["with an access list", (url) => alterUrl(url, { query: ["acl", ""] })],
    ["without its signature", (url) => alterUrl(url, { query: ["X-Amz-Signature", ""] })],
    ["with an empty key", (url) => alterUrl(url, { query: ["X-Amz-Credential", ""] })],
  ];
  test.each(changed)("does not open one %s", async (_, change) => {
    const url = change(await signedRead());
    const { status, text } = await blobs.http({ method: "GET", path: `${url.pathname}${url.search}`, headers: { host: url.host } });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).not.toContain(CONTENT);
  });

  test.each(["PUT", "DELETE", "POST"])("does not let %s it", async (method) => {
    const url = await signedRead();
    const body = method === "DELETE" ? undefined : "replaced";
    const { status } = await blobs.http({ method, path: `${url.pathname}${url.search}`, headers: { host: url.host }, body });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(await (await fetch(await signedRead())).text()).toBe("mine");
  });

  test("still works for the signed request", async () => {
    expect(await (await fetch(await signedRead())).text()).toBe("mine");
  });
});

function alterUrl(url: URL, { path, query }: { readonly path?: string; readonly query?: readonly [string, string] }): URL {
  const changed = new URL(url);
  if (query !== undefined) changed.searchParams.set(...query);
  // Set the raw path last: the URL class would resolve `..` segments.
  if (path !== undefined) Object.defineProperty(changed, "pathname", { value: path });
  return changed;
}

describe("a code bundle", () => {
  const bundle = "the bundle that was registered";
  const md5 = (text: string) => createHash("md5").update(text).digest();

  test.each([
    ["other content", "another bundle", {}],
    ["other content that claims the MD5 of the first", "another bundle", { "content-md5": md5(bundle).toString("base64") }],
    ["other content with its own MD5", "another bundle", { "content-md5": md5("another bundle").toString("base64") }],
    ["other content in chunks", "another bundle", { "transfer-encoding": "chunked" }],
    ["nothing", "", {}],
  ])("is not replaced by %s", async (_, body, headers) => {
    const request = { ...scope, filename: "script.tar.gz", contentMd5: md5(bundle) };
    const first = await clientAs("runner").createUploadLocation(request);
    await fetch(first.signedUrl, { method: "PUT", body: bundle, headers: { "content-md5": md5(bundle).toString("base64") } });
    const second = await clientAs("runner").createUploadLocation(request);
    for (const { signedUrl } of [first, second]) {
      const url = new URL(signedUrl);
      await blobs.http({ method: "PUT", path: `${url.pathname}${url.search}`, headers: { host: url.host, ...headers }, body });
    }
    const { signedUrl } = await clientAs("viewer").createDownloadLocation({ nativeUrl: first.nativeUrl, expiresIn: { seconds: 60n } });
    expect(await (await fetch(signedUrl)).text()).toBe(bundle);
  });
});

describe("the store itself", () => {
  test.each([
    ["GET", "/"],
    ["GET", "/my-s3-bucket"],
    ["GET", "/my-s3-bucket?list-type=2"],
    ["GET", "/my-s3-bucket/other/development/kept/secret"],
    ["HEAD", "/my-s3-bucket/other/development/kept/secret"],
    ["PUT", "/my-s3-bucket/other/development/kept/secret"],
    ["DELETE", "/my-s3-bucket/other/development/kept/secret"],
    ["POST", "/my-s3-bucket?delete"],
    ["POST", "/my-s3-bucket/x?uploads"],
    ["PUT", "/another-bucket"],
    ["DELETE", "/my-s3-bucket"],
    ["GET", "/my-s3-bucket/../../../etc/passwd"],
    ["GET", "/my-s3-bucket/%2e%2e/%2e%2e/%2e%2e/etc/passwd"],
    ["GET", "/..%2f..%2fetc%2fpasswd"],
    ["GET", "/my-s3-bucket/%00"],
    ["TRACE", "/"],
  ])("refuses %s %s without a signature", async (method, path) => {
    const body = ["PUT", "POST"].includes(method) ? "x" : undefined;
    const { status, text } = await blobs.http({ method, path, body });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).not.toContain(CONTENT);
    expect(text).not.toContain("root:");
  });
});

test("no stored object has changed", async () => {
  const { signedUrl } = await victim.root.dataProxy.createDownloadLocation({ nativeUrl: secretUrl, expiresIn: { seconds: 60n } });
  expect(await (await fetch(signedUrl)).text()).toBe(CONTENT);
});
