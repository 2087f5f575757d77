import { afterAll, beforeAll, describe } from "vitest";
import { isolationCases } from "./isolation-cases.js";
import { killCases } from "./kill-cases.js";
import { WarmNode } from "./warm-node.fixture.js";

// All cases are in one file, because a machine can be one node at a time.

/** One idle pod of a kind, so that the next attempt takes it. */
const ONE_POD = { FLYTE_TS_PLUGIN_POD_WARMPODS__MAX_IDLE: "1" };

describe.skipIf(process.env["WARM_PODS"] === undefined)("warm pods on a real node", () => {
  let node: WarmNode;

  beforeAll(async () => {
    node = await WarmNode.start(ONE_POD);
  }, 900_000);
  afterAll(() => node?.stop(), 120_000);

  describe("isolation", () => {
    isolationCases(() => node);
  });
  describe("kills", () => {
    killCases(() => node);
  });
});
