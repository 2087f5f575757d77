import { create, toBinary } from "@bufbuild/protobuf";
import { CatalogMetadataSchema } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { expect, test } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { numbers, type WorkflowSpec } from "../../../simulation/fixtures/workflow.js";
import { defaultCacheConfig } from "../cache/config.js";

const SPEC: WorkflowSpec = {
  main: {
    nodes: {
      n0: { kind: "task", inputs: { a: 1 }, cache: { task: "c" } },
      n1: { kind: "task" },
      n2: { kind: "task", inputs: { a: "n0.o0", b: "n1.o0" } },
    },
  },
};
const [CACHED, OTHER] = [numbers({ o0: 1 }), numbers({ o0: 2 })];
const IN_STATUS = Buffer.from(toBinary(LiteralMapSchema, CACHED)).toString("base64");
const OUTPUTS = "s3://my-s3-bucket/metadata/propeller/p-d-exec/n0/data/0/outputs.pb";

/**
 * n0 has small outputs, which are being stored in the cache; meanwhile those of n1 use up the
 * inline budget.
 */
function withoutRoom(): Driver {
  const driver = Driver.of(SPEC, { cache: defaultCacheConfig, maxTotalInlineOutputBytes: 20 });
  driver.answer("catalogGet", { kind: "value", value: undefined });
  driver.reply("n0", "SUCCEEDED", { outputs: CACHED });
  driver.reply("n1", "SUCCEEDED", { outputs: OTHER });
  expect(driver.takeEventTexts()).toContain("n1 SUCCEEDED");
  return driver;
}

function storeInCache(driver: Driver): void {
  driver.answer("catalogPut", { kind: "value", value: create(CatalogMetadataSchema) });
}

test("small outputs that no longer fit into the status after caching are written to the blob store before they are reported", () => {
  const driver = withoutRoom();
  storeInCache(driver);
  expect(driver.takeEventTexts()).toEqual([]);
  expect(driver.writes).toEqual([OUTPUTS]);
  driver.observe({ kind: "outputsWritten", uri: OUTPUTS });
  expect(driver.takeEventTexts()).toEqual(["n0 SUCCEEDED"]);
  expect(driver.asks.filter(({ call }) => call.kind === "catalogPut")).toHaveLength(1);
  expect(driver.reads).toEqual([OUTPUTS]);
});

test("small outputs that are being cached during an abort stay in the status, even above its limit", () => {
  const driver = withoutRoom();
  driver.observe({ kind: "abort" });
  expect(driver.takeEventTexts()).toContain("n0 SUCCEEDED");
  expect(driver.resource.status.nodeStatus?.["n0"]).toMatchObject({ phase: 5, outputs: IN_STATUS });
});

test("after a restart a sub-workflow has the outputs of its end node, whose success was written first", () => {
  const config = { maxTotalInlineOutputBytes: 20 };
  const driver = Driver.of(
    {
      main: { nodes: { n0: { kind: "sub", graph: "g" }, n1: { kind: "task", inputs: { a: "n0.o0" } } } },
      graphs: { g: { nodes: { n0: { kind: "task" }, n1: { kind: "task", inputs: { a: "n0.o0" } } }, outputs: { o0: "n1.o0" } } },
    },
    config,
  );
  driver.reply("n0/n0", "SUCCEEDED", { outputs: OTHER });
  driver.reply("n0/n1", "SUCCEEDED", { outputs: CACHED });
  const [endUri = ""] = driver.writes.splice(0);
  driver.observe({ kind: "outputsWritten", uri: endUri });
  driver.observe({ kind: "outputsRead", uri: endUri, result: { kind: "value", value: CACHED } });
  // The inline budget covers the end node's outputs, but not in addition the sub-workflow's.
  expect(driver.resource.status.nodeStatus?.["n0"]?.subNodeStatus?.["end-node"]).toMatchObject({ phase: 5, outputs: IN_STATUS });
  expect(driver.writes).toEqual([OUTPUTS]);
  const next = driver.restart(config);
  next.observe({ kind: "load" });
  expect(next.writes).toEqual([OUTPUTS]);
  next.observe({ kind: "outputsWritten", uri: OUTPUTS });
  expect(next.reads).toEqual([OUTPUTS]);
});
