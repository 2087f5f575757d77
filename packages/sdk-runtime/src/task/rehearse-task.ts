import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { LiteralMapSchema, type LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";

type LiteralInit = MessageInitShape<typeof LiteralSchema>;

const number: LiteralInit = {
  value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "integer", value: 1n } } } } },
};
const list: LiteralInit = { value: { case: "collection", value: { literals: [number] } } };

/**
 * Writes and reads inputs, so that their code is compiled and their messages are described before a
 * task needs them.
 */
export async function rehearseTask(): Promise<void> {
  fromBinary(LiteralMapSchema, toBinary(LiteralMapSchema, create(LiteralMapSchema, { literals: { number, list } })));
}
