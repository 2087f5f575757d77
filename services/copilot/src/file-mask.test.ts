import { expect, test } from "vitest";
import { fileMask } from "./file-mask.js";

test.each([
  [undefined, 0],
  ["", 0],
  ["077", 0o077],
  ["0022", 0o022],
  ["rwx", 0],
  ["99", 0],
])("FLYTE_COPILOT_UMASK %j is umask %d", (given, mask) => {
  expect(fileMask({ FLYTE_COPILOT_UMASK: given })).toBe(mask);
});
