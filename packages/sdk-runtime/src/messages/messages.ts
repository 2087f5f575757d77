import {
  create as createByDescriptor,
  type DescMessage,
  fromBinary as readByDescriptor,
  type MessageInitShape,
  type MessageShape,
  toBinary as writeByDescriptor,
} from "@bufbuild/protobuf";
import { createMessage } from "./create-message.js";
import { layoutOf } from "./find-layout.js";
import type { Fields } from "./message-fields.js";
import { readMessage } from "./read-message.js";
import { writeMessage } from "./write-message.js";

// Replaces @bufbuild/protobuf in bundles for the modules of this project. That package describes
// all messages of a file, and compiles readers and writers of all that a message may hold: 20 ms of
// processor time in each task. These functions read the layout of the messages that they meet.
// All other functions work by descriptors.
export { clone, equals, fromJson, fromJsonString, ScalarType, toJson } from "@bufbuild/protobuf";

/** Makes a message. */
export function create<Desc extends DescMessage>(schema: Desc, init?: MessageInitShape<Desc>): MessageShape<Desc> {
  const layout = layoutOf(schema);
  if (layout === undefined) return createByDescriptor(schema, init);
  return createMessage(layout, init as Fields | undefined) as MessageShape<Desc>;
}

/** Reads a message. */
export function fromBinary<Desc extends DescMessage>(schema: Desc, bytes: Uint8Array): MessageShape<Desc> {
  const layout = layoutOf(schema);
  return layout === undefined ? readByDescriptor(schema, bytes) : (readMessage(layout, bytes) as MessageShape<Desc>);
}

/** Writes a message. */
export function toBinary<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): Uint8Array<ArrayBuffer> {
  const layout = layoutOf(schema);
  return layout === undefined ? writeByDescriptor(schema, message) : writeMessage(layout, message as Fields);
}
