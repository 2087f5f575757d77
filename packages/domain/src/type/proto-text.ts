import { type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { MAX_NESTING } from "./nesting.js";
import { compareText } from "./order.js";

/** Maximum length of the text; the rest is replaced by an ellipsis. */
const MAX_LENGTH = 4000;

/**
 * Formats a message as protobuf text on one line, in the layout of Flyte's messages and errors:
 * `name:"x"`, `field:{…}`, fields in the order of their declaration, map entries in the order of
 * their keys. `<nil>` for an absent message. Long text is cut.
 */
export function protoText<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc> | undefined): string {
  if (message === undefined) return "<nil>";
  const writer = new TextWriter();
  writer.message(reflect(schema, message), 0);
  return writer.text();
}

class TextWriter {
  private readonly parts: string[] = [];
  private length = 0;

  text(): string {
    const text = this.parts.join("");
    return this.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  }

  message(message: ReflectMessage, depth: number): void {
    let first = true;
    for (const field of message.fields) {
      if (this.length > MAX_LENGTH) return;
      if (!message.isSet(field)) continue;
      for (const write of this.entries(message, field, depth)) {
        if (this.length > MAX_LENGTH) return;
        if (!first) this.add(" ");
        first = false;
        this.add(`${field.name}:`);
        write();
      }
    }
  }

  private *entries(message: ReflectMessage, field: DescField, depth: number): Generator<() => void> {
    switch (field.fieldKind) {
      case "list":
        for (const item of message.get(field)) yield () => this.value(field, item, depth);
        return;
      case "map": {
        const entries: [unknown, unknown][] = [...message.get(field)];
        for (const [key, value] of entries.sort(([a], [b]) => compareText(String(a), String(b)))) {
          yield () => {
            this.add("{key:");
            this.scalar(field.mapKey, key);
            this.add(" value:");
            this.value(field, value, depth);
            this.add("}");
          };
        }
        return;
      }
      case "scalar":
      case "enum":
      case "message":
        yield () => this.value(field, message.get(field), depth);
    }
  }

  private value(field: DescField, value: unknown, depth: number): void {
    if (field.message !== undefined) {
      this.add("{");
      if (depth < MAX_NESTING) this.message(value as ReflectMessage, depth + 1);
      else this.add("…");
      this.add("}");
    } else if (field.enum !== undefined) {
      this.add(field.enum.value[value as number]?.name ?? String(value));
    } else {
      this.scalar(field.scalar ?? ScalarType.STRING, value);
    }
  }

  private scalar(type: ScalarType, value: unknown): void {
    if (type === ScalarType.STRING) this.add(JSON.stringify(value));
    else if (value instanceof Uint8Array) this.add(`"${bytesText(value.subarray(0, MAX_LENGTH))}"`);
    else this.add(String(value));
  }

  private add(text: string): void {
    this.parts.push(text);
    this.length += text.length;
  }
}

function bytesText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`,
  ).join("");
}
