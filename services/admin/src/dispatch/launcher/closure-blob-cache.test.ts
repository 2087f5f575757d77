import { wrapClosure } from "@flyte-ts/workflow-crd";
import { expect, test } from "vitest";
import { ClosureBlobCache } from "./closure-blob-cache.js";

function store() {
  const calls: string[] = [];
  const there = new Map<string, Uint8Array>();
  let fails = false;
  const blobs = {
    head: async (address: string) => {
      calls.push(`head ${address}`);
      const bytes = there.get(address);
      return bytes === undefined ? undefined : { size: bytes.length };
    },
    put: async (address: string, bytes: Uint8Array) => {
      calls.push(`put ${address}`);
      if (fails) throw new Error("no answer");
      there.set(address, bytes);
    },
  };
  let now = 0;
  const closures = new ClosureBlobCache(blobs as unknown as ConstructorParameters<typeof ClosureBlobCache>[0], () => new Date(now));
  /** Calls `ensure` with this many concurrent callers. */
  const ensure = async (address: string, askers = 1) => {
    calls.length = 0;
    const all = Promise.all(Array.from({ length: askers }, () => closures.ensure(address, new Uint8Array([1]))));
    await all.catch((error: Error) => calls.push(`${error.name}: ${error.message}`));
    return calls.join(", ");
  };
  return { ensure, there, pass: (ms: number) => (now += ms), fail: (does: boolean) => (fails = does) };
}

test("a copy is written once, replaces any existing content, and is checked once a minute", async () => {
  const { ensure, there, pass } = store();
  there.set("a", new Uint8Array([2]));
  expect(await ensure("a")).toBe("put a");
  expect(there.get("a")).toEqual(wrapClosure(new Uint8Array([1])));
  expect(await ensure("a")).toBe("");
  expect(await ensure("b", 3)).toBe("put b");
  pass(59_999);
  expect(await ensure("a")).toBe("");
  pass(1);
  expect(await ensure("a")).toBe("head a");
  there.clear();
  pass(60_000);
  expect(await ensure("a")).toBe("head a, put a");
  // A clock that is set back invalidates the entry.
  pass(-500_000);
  expect(await ensure("a")).toBe("head a");
});

test("a failed write is repeated by the next caller", async () => {
  const { ensure, fail } = store();
  fail(true);
  expect(await ensure("a")).toBe("put a, ClosureStoreError: no answer");
  fail(false);
  expect(await ensure("a")).toBe("put a");
});
