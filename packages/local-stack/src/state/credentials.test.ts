import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stackCredentials } from "./credentials.js";

const newFile = () => join(mkdtempSync(join(tmpdir(), "flyte-ts-credentials-")), "credentials.json");

test("every stack has keys of its own, which stay the same over restarts", () => {
  const [one, other] = [newFile(), newFile()];
  const made = stackCredentials(one, ["admin", "propeller"]);
  expect(stackCredentials(one, ["admin", "propeller"])).toEqual(made);
  const all = [made, stackCredentials(other, ["admin", "propeller"])].flatMap(({ bus, ...rest }) => [
    ...Object.values(rest),
    ...Object.values(bus),
  ]);
  expect(new Set(all).size).toBe(all.length);
  expect(statSync(one).mode & 0o777).toBe(0o600);
});

test("a secret that an earlier version did not have is added, and the others stay", () => {
  const file = newFile();
  const before = stackCredentials(file, ["admin", "propeller"]);
  const { clusterToken: _, ...rest } = JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  writeFileSync(file, JSON.stringify(rest));
  const after = stackCredentials(file, ["admin", "propeller"]);
  expect(after).toEqual({ ...before, clusterToken: after.clusterToken });
  expect(after.clusterToken).not.toBe(before.clusterToken);
});

test.each(["", "{", "[]", '{"blobKeyId":""}'])("a damaged credentials file is reported and not replaced: %j", (text) => {
  const file = newFile();
  writeFileSync(file, text);
  expect(() => stackCredentials(file, ["admin", "propeller"])).toThrow(`${file} is damaged`);
  expect(readFileSync(file, "utf8")).toBe(text);
});
