import { create, type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";

/** Returns an integer from 0 to the maximum, exclusive. */
export type Draw = (maximum: number) => number;

/** Messages in messages end at this depth. */
const MAX_DEPTH = 3;
const TEXTS = ["", "a", "ä€😀", "flyte", "__proto__"];
const INTEGERS = [0, 1, -1, 127, 128, 2 ** 31 - 1, -(2 ** 31)];
const WIDE = [0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n)];
const FLOATS = [0, -0, 0.5, -1, Infinity, NaN];

/** Draws a message, some of whose fields are set. */
export function randomMessage(desc: DescMessage, draw: Draw, depth = 0): Message {
  const message = reflect(desc, create(desc));
  for (const field of desc.fields) if (draw(3) === 1) setField(message, field, { draw, depth });
  return message.message;
}

interface Drawing {
  readonly draw: Draw;
  readonly depth: number;
}

function setField(message: ReflectMessage, field: DescField, drawing: Drawing): void {
  const { draw, depth } = drawing;
  if (field.fieldKind === "list") {
    for (let count = draw(3); count > 0; count--) {
      if (field.listKind !== "message") message.get(field).add(scalar(field.scalar ?? ScalarType.INT32, draw));
      else if (depth < MAX_DEPTH) message.get(field).add(nested(field.message, drawing));
    }
  } else if (field.fieldKind === "map") {
    for (let count = draw(3); count > 0; count--) {
      const key = scalar(field.mapKey, draw) as string;
      if (field.mapKind !== "message") message.get(field).set(key, scalar(field.scalar ?? ScalarType.INT32, draw));
      else if (depth < MAX_DEPTH) message.get(field).set(key, nested(field.message, drawing));
    }
  } else if (field.fieldKind !== "message") message.set(field, field.fieldKind === "enum" ? draw(3) : scalar(field.scalar, draw));
  else if (depth < MAX_DEPTH) message.set(field, nested(field.message, drawing));
}

const nested = (desc: DescMessage, { draw, depth }: Drawing): ReflectMessage => reflect(desc, randomMessage(desc, draw, depth + 1));

function scalar(type: ScalarType, draw: Draw): unknown {
  const one = <Value>(values: readonly Value[]): Value | undefined => values[draw(values.length)];
  switch (type) {
    case ScalarType.STRING:
      return one(TEXTS);
    case ScalarType.BYTES:
      return Uint8Array.from({ length: draw(3) }, () => draw(256));
    case ScalarType.BOOL:
      return draw(2) === 1;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return one(FLOATS);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return one(WIDE);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return BigInt(draw(1000));
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return draw(1000);
    default:
      return one(INTEGERS);
  }
}
