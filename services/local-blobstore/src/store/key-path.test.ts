import fc from "fast-check";
import { expect, test } from "vitest";
import { compareKeys, decodeName, keyPath } from "./key-path.js";

const key = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }).filter((text) => text.isWellFormed()),
  fc
    .array(fc.constantFrom("a", "A", ".", "..", "", "~", "%", "%2E", "a~", "b c", "\0", "\\", "é"), { maxLength: 5 })
    .map((parts) => parts.join("/")),
);

test("every key has its own path within the bucket, which is never the folder of another key", () => {
  fc.assert(
    fc.property(key, key, fc.boolean(), (a, b, foldsCase) => {
      const [pathA, pathB] = [keyPath(a, { foldsCase }), keyPath(b, { foldsCase })].map(({ folders, file }) => [...folders, file]);
      const [textA, textB] = [pathA?.join("/") ?? "", pathB?.join("/") ?? ""].map((text) => (foldsCase ? text.toLowerCase() : text));
      expect(textA === textB).toBe(a === b);
      expect(textB?.startsWith(`${textA}/`)).toBe(false);
      for (const name of pathA ?? []) expect(name).toMatch(/^(?!\.{1,2}$)[^/\0]{1,255}$/);
    }),
    { numRuns: 2000 },
  );
});

test("the key is recovered from its path", () => {
  fc.assert(
    fc.property(key, (text) => {
      const { folders, file } = keyPath(text, { foldsCase: false });
      const parts = [...folders, file].map((name) => decodeName(name));
      expect(parts.map((part) => part?.part).join("/")).toBe(text);
      expect(parts.map((part) => part?.kind)).toEqual([...folders.map(() => "folder"), "file"]);
    }),
  );
});

test("a key with a long component is stored under its hash", () => {
  expect(keyPath(`a/${"x".repeat(240)}/b`, { foldsCase: false })).toMatchObject({ hashed: false });
  const { folders, file, hashed } = keyPath(`a/${"x".repeat(241)}/b`, { foldsCase: false });
  expect({ folders, hashed, length: file.length }).toEqual({ folders: ["%long"], hashed: true, length: 65 });
  expect(decodeName("%long")).toBeUndefined();
});

test("keys are in the order of their bytes", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "/", "\u00e9", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{1f600}") });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareKeys(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
    { numRuns: 1000 },
  );
});
