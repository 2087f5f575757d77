import { fromJson, isMessage, type DescMessage, type JsonValue, type MessageShape } from "@bufbuild/protobuf";

/** The resource is not a valid FlyteWorkflow; permanent. */
export class WorkflowFormatError extends Error {
  override readonly name = "WorkflowFormatError";

  constructor(
    /** Place in the resource, as a path of field names. */
    readonly path: string,
    rule: string,
    options?: ErrorOptions,
  ) {
    super(`${path}: ${rule}`, options);
  }
}

/** A value of the resource and its path, which is formatted only for errors. */
export class Field {
  constructor(
    readonly value: unknown,
    private readonly key: string,
    private readonly parent?: Field,
  ) {}

  get path(): string {
    if (this.parent === undefined) return this.key;
    const prefix = this.parent.parent === undefined ? "" : this.parent.path;
    if (!/^[\w-]+$/.test(this.key)) return `${prefix}[${JSON.stringify(this.key)}]`;
    return prefix === "" ? this.key : `${prefix}.${this.key}`;
  }

  error(rule: string, options?: ErrorOptions): WorkflowFormatError {
    return new WorkflowFormatError(this.path, rule, options);
  }

  /** Missing, or null, which Go writes for missing values. */
  get isAbsent(): boolean {
    return this.value === undefined || this.value === null;
  }

  object(): Readonly<Record<string, unknown>> {
    const { value } = this;
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw this.error(`must be an object, is ${describeValue(value)}`);
    return value as Readonly<Record<string, unknown>>;
  }

  /** A field of an object. */
  at(key: string): Field {
    const object = this.object();
    return new Field(Object.hasOwn(object, key) ? object[key] : undefined, key, this);
  }

  /** Fields of an object; none when it is absent. */
  entries(): [key: string, field: Field][] {
    if (this.isAbsent) return [];
    return Object.entries(this.object()).map(([key, value]) => [key, new Field(value, key, this)]);
  }

  /** Items of a list; none when it is absent. */
  items(): Field[] {
    if (this.isAbsent) return [];
    if (!Array.isArray(this.value)) throw this.error(`must be a list, is ${describeValue(this.value)}`);
    return this.value.map((value, index) => new Field(value, String(index), this));
  }

  optional<T>(read: (field: Field) => T): T | undefined {
    return this.isAbsent ? undefined : read(this);
  }

  string(): string {
    if (typeof this.value !== "string") throw this.error(`must be a string, is ${describeValue(this.value)}`);
    return this.value;
  }

  /** Text, empty when absent. */
  stringOrEmpty(): string {
    return this.isAbsent ? "" : this.string();
  }

  /** A non-negative integer. */
  nonNegativeInt(): number {
    if (!Number.isSafeInteger(this.value) || (this.value as number) < 0)
      throw this.error(`must be a whole number of at least 0, is ${describeValue(this.value)}`);
    return this.value as number;
  }

  number(): number {
    if (typeof this.value !== "number") throw this.error(`must be a number, is ${describeValue(this.value)}`);
    return this.value;
  }

  boolean(): boolean {
    if (typeof this.value !== "boolean") throw this.error(`must be true or false, is ${describeValue(this.value)}`);
    return this.value;
  }

  /** Parses a protobuf message in JSON form; unknown fields are ignored. */
  message<S extends DescMessage>(schema: S): MessageShape<S> {
    // A graph that was built in memory, without a JSON form, holds some messages unconverted.
    if (isMessage(this.value, schema)) return this.value;
    try {
      return fromJson(schema, (this.value ?? {}) as JsonValue, { ignoreUnknownFields: true });
    } catch (cause) {
      throw this.error(`is no ${schema.typeName}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  }

  /** A map of texts; empty when absent. */
  stringMap(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.entries().map(([key, field]) => [key, field.string()]));
  }
}

function describeValue(value: unknown): string {
  if (value === undefined) return "absent";
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? typeof value : text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
