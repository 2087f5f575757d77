import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { externalCluster } from "./cluster.js";
import { StackError } from "../stack-error.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kubeconfig-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function given(content: string) {
  const file = join(folder, "kubeconfig");
  writeFileSync(file, content);
  return externalCluster(file, true);
}

test("the API of the current context is used", () => {
  const config = {
    "current-context": "b",
    contexts: [
      { name: "a", context: { cluster: "one" } },
      { name: "b", context: { cluster: "two" } },
    ],
    clusters: [
      { name: "one", cluster: { server: "https://one" } },
      { name: "two", cluster: { server: "https://two/" } },
    ],
  };
  expect(given(JSON.stringify(config))).toMatchObject({ url: "https://two", managed: false, hasNodes: true });
});

test.each([
  ["is empty", "", /its current context names no cluster; name another with --kubeconfig$/],
  ["is text", "nothing of it", /its current context names no cluster/],
  ["names a missing context", '{"current-context": "c", "contexts": []}', /its current context names no cluster/],
  ["is not YAML", "a: [1", /cannot be read \(.+\): name another with --kubeconfig$/],
])("a kubeconfig that %s is refused in one line", (_, content, message) => {
  let error: unknown;
  try {
    given(content);
  } catch (caught) {
    error = caught;
  }
  expect(error).toBeInstanceOf(StackError);
  expect((error as Error).message).toMatch(message);
  expect((error as Error).message).not.toContain("\n");
});

test("a missing kubeconfig is rejected in one line", () => {
  expect(() => externalCluster(join(folder, "none"), true)).toThrow(/none cannot be read \(ENOENT.*\): name another with --kubeconfig$/);
});
