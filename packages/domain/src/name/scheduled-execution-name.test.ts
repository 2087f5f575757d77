import { expect, test } from "vitest";
import { scheduledExecutionName } from "./scheduled-execution-name.js";

test("a launch plan and a time give the same name as in Flyte's own scheduler", () => {
  const id = { project: "p", domain: "d", name: "n", version: "v" };
  const at = Date.parse("2023-11-14T22:13:20Z");
  // Computed apart from this code: FNV-1 of "p:d:n:v:1700000000", its bytes from the lowest on.
  expect(scheduledExecutionName(id, at)).toBe("fa1bc03ad9083e1d3000");
  expect(scheduledExecutionName(id, at + 999)).toBe("fa1bc03ad9083e1d3000");
  expect(scheduledExecutionName({ ...id, version: "w" }, at)).not.toBe("fa1bc03ad9083e1d3000");
});
