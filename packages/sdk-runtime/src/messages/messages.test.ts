import * as protobuf from "@bufbuild/protobuf";
import { embedFileDesc } from "@bufbuild/protobuf/codegenv2";
import { file_flyteidl_admin_execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { file_flyteidl_admin_workflow } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { file_flyteidl_core_dynamic_job } from "@flyte-ts/idl/flyteidl/core/dynamic_job_pb";
import { file_flyteidl_core_errors } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { layoutOf } from "./find-layout.js";
import { boot, fileDesc, messageDesc } from "./lazy-descriptors.js";
import { create, fromBinary, toBinary } from "./messages.js";
import { type Draw, randomMessage } from "./random-message.fixture.js";

const lazyFiles = new Map<string, protobuf.DescFile>();

/** Describes a file again, as the modules of a bundle do. */
function lazily(file: protobuf.DescFile): protobuf.DescFile {
  const known = lazyFiles.get(file.name);
  if (known !== undefined) return known;
  const embedded = embedFileDesc(file.proto);
  const lazy = embedded.bootable ? boot(embedded.boot()) : fileDesc(embedded.base64(), file.dependencies.map(lazily));
  lazyFiles.set(file.name, lazy);
  return lazy;
}

/** Lists files with all that they import. */
function reached(files: readonly protobuf.DescFile[], all = new Set<protobuf.DescFile>()): ReadonlySet<protobuf.DescFile> {
  for (const file of files) if (!all.has(file)) reached(file.dependencies, all.add(file));
  return all;
}

const files = [
  ...reached([file_flyteidl_admin_execution, file_flyteidl_admin_workflow, file_flyteidl_core_dynamic_job, file_flyteidl_core_errors]),
]
  .filter(({ edition }) => edition === protobuf.minimumEdition || edition === 999)
  .toSorted((a, b) => (a.name < b.name ? -1 : 1));
const messages = files.flatMap((file) =>
  file.messages.flatMap((full, index) =>
    described(full, [index]).map(({ desc, path }) => ({ full: desc, lazy: messageDesc(lazily(file), ...path) })),
  ),
);

interface Described {
  readonly desc: protobuf.DescMessage;
  readonly path: [number, ...number[]];
}

function described(desc: protobuf.DescMessage, path: Described["path"]): Described[] {
  const inner = desc.nestedMessages.flatMap((nested, index) => described(nested, [...path, index]));
  return [{ desc, path }, ...inner];
}

describe("messages read and written by their layout", () => {
  test("all messages of Flyte have a layout", () => {
    expect(messages.length).toBeGreaterThan(150);
    expect(messages.filter(({ lazy }) => layoutOf(lazy) === undefined)).toEqual([]);
  });

  test.each(messages.map(({ full, lazy }) => [full.typeName, full, lazy] as const))(
    "%s equals that of @bufbuild/protobuf",
    (_, full, lazy) => {
      fc.assert(
        fc.property(fc.gen(), (g) => {
          const draw: Draw = (maximum) => g(fc.nat, { max: maximum - 1 });
          const message = randomMessage(full, draw);
          const bytes = protobuf.toBinary(full, message);
          expect(Buffer.from(toBinary(lazy, message)).equals(bytes)).toBe(true);
          expect(fromBinary(lazy, bytes)).toStrictEqual(protobuf.fromBinary(full, bytes));
          const { $typeName: __, ...init } = message;
          expect(create(lazy, init)).toStrictEqual(protobuf.create(full, init));
        }),
        { numRuns: 10, seed: 7 },
      );
    },
  );
});
