/** Returns the keys of a zod object, through defaults, optionals and pipes. */
export function objectShape(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  let current = schema as { shape?: Record<string, unknown>; def?: { innerType?: unknown; in?: unknown } } | undefined;
  while (current !== undefined && current.shape === undefined) {
    current = (current.def?.innerType ?? current.def?.in) as typeof current;
  }
  return current?.shape;
}

/** True when a setting is a string only, through defaults and optionals. */
export function isStringSchema(schema: unknown): boolean {
  let current = schema as { def?: { type?: string; innerType?: unknown } } | undefined;
  while (current?.def?.innerType !== undefined) current = current.def.innerType as typeof current;
  return current?.def?.type === "string";
}

/** Returns the schema at a path; undefined where there is none, or its parent is no object. */
export function schemaAtPath(schema: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((parent, key) => objectShape(parent)?.[String(key)], schema);
}

/** Lists all settings, as dotted paths. */
export function* settingPaths(schema: unknown, prefix = ""): Generator<string> {
  for (const [key, inner] of Object.entries(objectShape(schema) ?? {})) {
    yield `${prefix}${key}`;
    yield* settingPaths(inner, `${prefix}${key}.`);
  }
}
