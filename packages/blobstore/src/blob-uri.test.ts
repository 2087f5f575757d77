import { expect, test } from "vitest";
import { joinUri, parseBlobUri } from "./blob-uri.js";

test.each([
  ["s3://b/k/é?#%20", { scheme: "s3", root: "s3://b/", bucket: "b", key: "k/é?#%20" }],
  ["s3a://b//k", { scheme: "s3", root: "s3a://b/", bucket: "b", key: "/k" }],
  ["s3://b", { scheme: "s3", root: "s3://b/", bucket: "b", key: "" }],
  ["gs://b/k@x", { scheme: "gs", root: "gs://b/", bucket: "b", key: "k@x" }],
  ["abfs://c/k", { scheme: "abfs", root: "abfs://c/", bucket: "c", key: "k" }],
  [
    "abfss://c@a.dfs.core.windows.net/k",
    { scheme: "abfs", root: "abfss://c@a.dfs.core.windows.net/", bucket: "c", host: "a.dfs.core.windows.net", key: "k" },
  ],
  ["/a/b", { scheme: "file", root: "", bucket: "", key: "/a/b" }],
  ["file:///a/b", { scheme: "file", root: "file://", bucket: "", key: "/a/b" }],
])("%s is an address", (uri, address) => {
  expect(parseBlobUri(uri)).toEqual({ uri, ...address });
});

test.each(["gopher://x", "s3:///k", "gss://b/k", "gs://", "a/b", "", "file:///a/../b", "http://bucket/key"])(
  "%s is not a blob URI",
  (uri) => {
    expect(() => parseBlobUri(uri)).toThrow(/the address must be s3:\/\/bucket\/key|must not contain/);
  },
);

test.each([
  [["s3://b", "a", "b"], "s3://b/a/b"],
  [["s3://b/", "/a/", "", "b/c"], "s3://b/a/b/c"],
  [["abfs://c@a.dfs.core.windows.net", "x"], "abfs://c@a.dfs.core.windows.net/x"],
  [["file:///", "a"], "file:///a"],
  [["s3://b/x//"], "s3://b/x"],
] as [[string, ...string[]], string][])("%j join to %s", (parts, joined) => {
  expect(joinUri(...parts)).toBe(joined);
});

test("a million slashes within a part take linear time", { timeout: 20_000 }, () => {
  const slashes = "/".repeat(1_000_000);
  expect(joinUri("s3://b", `/x${slashes}y/`)).toBe(`s3://b/x${slashes}y`);
  expect(joinUri("s3://b", slashes)).toBe("s3://b");
});
