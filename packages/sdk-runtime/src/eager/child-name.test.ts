import { expect, test } from "vitest";
import { childName } from "./child-name.js";

const CALL = { parent: '["p","d","e","n0"]', entity: "task fit", version: "v1", inputs: "hash", ordinal: 0 };

test("equal calls have equal names, and every difference gives another", () => {
  const name = childName(CALL);
  expect(name).toMatch(/^e[a-z0-9]{19}$/);
  expect(childName({ ...CALL })).toBe(name);
  const others = [{ parent: "other" }, { entity: "task other" }, { version: "v2" }, { inputs: "other" }, { ordinal: 1 }].map((change) =>
    childName({ ...CALL, ...change }),
  );
  expect(new Set([name, ...others]).size).toBe(others.length + 1);
});
