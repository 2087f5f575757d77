import { describe, expect, it, test } from "vitest";
import { executionsSettings } from "../config.js";
import { executionQueue } from "./execution-queue.js";

const settings = executionsSettings.queues.parse({
  executionQueues: [
    { dynamic: "standard", attributes: ["default"] },
    { dynamic: "large", attributes: ["memory", "gpu"] },
    { dynamic: "second", attributes: ["default"] },
  ],
  workflowConfigs: [
    { domain: "", tags: ["default"] },
    { domain: "production", tags: ["absent", "gpu"] },
  ],
});
const queueOf = (scope: Partial<Parameters<typeof executionQueue>[1]>) =>
  executionQueue(settings, { domain: "development", execution: "e", tags: undefined, ...scope });

describe("the queue of an execution", () => {
  it("is that of the first known tag of its attributes", () => {
    expect(queueOf({ tags: ["unknown", "memory", "default"] })).toBe("large");
  });

  it("is that of its domain when no tag is known, else of all domains", () => {
    expect(queueOf({ domain: "production", tags: ["unknown"] })).toBe("large");
    expect(queueOf({ domain: "production" })).toBe("large");
    expect(["standard", "second"]).toContain(queueOf({}));
  });

  it("is one of several of the same tag, the same for a repeated request", () => {
    const chosen = Array.from({ length: 40 }, (_, i) => queueOf({ execution: `execution${i}` }));
    expect(new Set(chosen)).toEqual(new Set(["standard", "second"]));
    expect(chosen).toEqual(Array.from({ length: 40 }, (_, i) => queueOf({ execution: `execution${i}` })));
  });
});

test("without settings there is no queue", () => {
  expect(executionQueue(executionsSettings.queues.parse(undefined), { domain: "d", execution: "e", tags: ["default"] })).toBe("");
});
