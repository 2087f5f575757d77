import { ValueError } from "../entity/errors.js";

/** Place of a value within inputs or outputs, for messages. */
export interface Place {
  readonly text: string;
}

export function rootPlace(name: string): Place {
  return { text: name };
}

export function fieldOf(place: Place, name: string): Place {
  return { text: /^[A-Za-z_$][\w$]*$/.test(name) ? `${place.text}.${name}` : `${place.text}[${JSON.stringify(name)}]` };
}

export function itemOf(place: Place, index: number): Place {
  return { text: `${place.text}[${index}]` };
}

export function mismatch(place: Place, wanted: string, value: unknown): ValueError {
  return new ValueError(`${place.text} must be ${wanted}, found ${shownValue(value)}`);
}

/** Shows a value in a message, shortened. */
export function shownValue(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
    case "bigint":
      return `${value}n`;
    case "number":
    case "boolean":
    case "undefined":
      return String(value);
    case "function":
      return "a function";
    case "symbol":
      return "a symbol";
    case "object":
      if (value === null) return "null";
      if (Array.isArray(value)) return `a list of ${value.length}`;
      return `an object (${(value.constructor as { name?: string } | undefined)?.name ?? "without a class"})`;
  }
}
