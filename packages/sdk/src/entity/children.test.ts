import { create, toBinary } from "@bufbuild/protobuf";
import { collectionLiteral, integerLiteral, literalMap } from "@flyte-ts/domain/literal";
import { LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { expect, test } from "vitest";
import type { FileStore } from "../file/file.js";
import { t } from "../type/t.js";
import { withChildren } from "./children.js";
import { task } from "./task.js";

test("a child's list of outputs that the server keeps beside its message is read", async () => {
  const child = task({ name: "child", outputs: t.list(t.int) }, () => []);
  const files = {
    read: async function* (uri: string) {
      yield toBinary(LiteralSchema, integerLiteral(uri.length));
    },
  } as Partial<FileStore> as FileStore;
  const offloaded = create(LiteralSchema, { value: { case: "offloadedMetadata", value: { uri: "s3://b/1" } } });
  const outputs = literalMap([["o0", collectionLiteral([offloaded, integerLiteral(2)])]]);
  expect(await withChildren({ files, run: () => Promise.resolve(outputs) }, () => child.run())).toEqual([8, 2]);
});
