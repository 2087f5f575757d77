import { expect, test } from "vitest";
import { isObjectName, objectName } from "./object-name.js";

const LONG = "a1b2c3d4e5f6g7h8i9j0-n0-0-some-node-with-a-long-0";

test("a name within the maximum stays as it is", () => {
  expect(objectName("a1b2-n0-0", 47)).toBe("a1b2-n0-0");
});

test("a longer name ends with a hash of the whole, so that names with equal beginnings differ", () => {
  const name = objectName(LONG, 47);
  expect(name).toHaveLength(47);
  expect(name.startsWith(LONG.slice(0, 38))).toBe(true);
  expect(objectName(LONG.replace(/0$/, "1"), 47)).not.toBe(name);
});

test("an object is recognised by its own and by its shortened name", () => {
  expect(isObjectName(LONG, LONG)).toBe(true);
  expect(isObjectName(objectName(LONG, 47), LONG)).toBe(true);
  expect(isObjectName("another-n0-0", LONG)).toBe(false);
  expect(isObjectName("", LONG)).toBe(false);
});
