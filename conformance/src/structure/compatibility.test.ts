import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DescMethod } from "@bufbuild/protobuf";
import { DataCatalog } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { expect, test } from "vitest";
import { bindingsOf } from "../api/rest-bindings.js";
import { nameOf, SERVICES } from "../api/rpc-samples.js";
import { root } from "../repository.js";
import { compatibilityRows } from "./compatibility.js";

const rows = compatibilityRows();
const methods: readonly DescMethod[] = [...SERVICES, DataCatalog].flatMap((service): readonly DescMethod[] => service.methods);
const rpcRows = rows.filter(({ name }) => /^[A-Z]\w+\.[A-Z]\w+$/.test(name));

test("every RPC has a row with its REST paths", () => {
  const wanted = methods.map(
    (method) =>
      `${nameOf(method)}: ${
        bindingsOf(method)
          .map(({ text }) => `\`${text}\``)
          .join(", ") || "–"
      }`,
  );
  expect(rpcRows.map(({ name, detail }) => `${name}: ${detail}`).sort()).toEqual(wanted.sort());
});

test("every row says whether it works or why not, and names existing tests", () => {
  for (const { name, works, tests } of rows) {
    expect([name, /^(yes|no: .+|not applicable: .+)$/.test(works)]).toEqual([name, true]);
    expect([name, works !== "yes" || tests.length > 0]).toEqual([name, true]);
    expect([name, tests.filter((path) => !existsSync(join(root, path)))]).toEqual([name, []]);
  }
});

test("the tests of an RPC contain a call of it", () => {
  const text = new Map<string, string>();
  const read = (path: string) => text.get(path) ?? text.set(path, readFileSync(join(root, path), "utf8")).get(path) ?? "";
  for (const { name, tests } of rpcRows) {
    const method = methods.find((each) => nameOf(each) === name);
    for (const path of tests) {
      const calls = path.endsWith("every-rpc.test.ts") || read(path).includes(method?.localName ?? "?");
      expect([name, path, calls]).toEqual([name, path, true]);
    }
  }
});
