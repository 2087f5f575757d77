import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { readStaticKubeconfig } from "./static-kubeconfig.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "kubeconfig-"));
  writeFileSync(join(folder, "ca.crt"), "authority");
});
afterAll(() => rmSync(folder, { recursive: true }));

function written(cluster: object, user: object): string {
  const file = join(folder, "config");
  const contexts = [{ name: "here", context: { cluster: "c", user: "u" } }];
  const content = { "current-context": "here", contexts, clusters: [{ name: "c", cluster }], users: [{ name: "u", user }] };
  writeFileSync(file, stringify(content));
  return file;
}

test("certificates and tokens are read inline and from referenced files", () => {
  const encoded = (value: string) => Buffer.from(value).toString("base64");
  const cluster = { server: "https://h:1/", "certificate-authority": "ca.crt", "tls-server-name": "n" };
  const user = { token: "t", "client-certificate-data": encoded("cert"), "client-key-data": encoded("key") };
  expect(readStaticKubeconfig(written(cluster, user), undefined)).toEqual({
    server: "https://h:1",
    token: "t",
    tokenFile: undefined,
    tls: { ca: Buffer.from("authority"), cert: Buffer.from("cert"), key: Buffer.from("key"), servername: "n" },
  });
});

test.each([
  [{ server: "https://h", "insecure-skip-tls-verify": true }, {}],
  [{ server: "https://h", "proxy-url": "http://p" }, {}],
  [{ server: "https://h" }, { exec: { command: "aws" } }],
  [{}, {}],
])("an unsupported setting is left to the official client: %j %j", (cluster, user) => {
  expect(readStaticKubeconfig(written(cluster, user), undefined)).toBeUndefined();
});

test("a missing context is left to the official client", () => {
  expect(readStaticKubeconfig(written({ server: "https://h" }, {}), "elsewhere")).toBeUndefined();
});

test("a token file is resolved like the other files", () => {
  const { tokenFile, token } = readStaticKubeconfig(written({ server: "https://h" }, { tokenFile: "token" }), undefined) ?? {};
  expect([tokenFile, token]).toEqual([join(folder, "token"), undefined]);
});
