/** The keys below a zod object, through defaults, optionals and pipes. */
export function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  let current = schema as { shape?: Record<string, unknown>; def?: { innerType?: unknown; in?: unknown } } | undefined;
  while (current !== undefined && current.shape === undefined) {
    current = (current.def?.innerType ?? current.def?.in) as typeof current;
  }
  return current?.shape;
}

/** Whether a setting is text and nothing else, through defaults and optionals. */
export function isText(schema: unknown): boolean {
  let current = schema as { def?: { type?: string; innerType?: unknown } } | undefined;
  while (current?.def?.innerType !== undefined) current = current.def.innerType as typeof current;
  return current?.def?.type === "string";
}

/** The schema at a place; undefined where there is none, or it is no object's. */
export function schemaAt(schema: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((above, key) => shapeOf(above)?.[String(key)], schema);
}

/** All settings, as dotted paths. */
export function* settingsOf(schema: unknown, above = ""): Generator<string> {
  for (const [key, inner] of Object.entries(shapeOf(schema) ?? {})) {
    yield `${above}${key}`;
    yield* settingsOf(inner, `${above}${key}.`);
  }
}
