// Imports nothing: the messages that describe descriptors use it before any other module is ready.

/** File of messages that is parsed when one of them is used. */
export interface UnparsedFile {
  readonly parse: () => object;
  /** Encoded description; undefined for the file that describes descriptors. */
  readonly encoded?: string;
  readonly imports?: readonly object[];
}

/** Place of a message in its file: its number, after those of the messages around it. */
export interface MessagePlace {
  readonly file: object;
  readonly path: readonly number[];
}

/** Unparsed files by the objects that stand for them. */
export const unparsedFiles = new WeakMap<object, UnparsedFile>();
/** Places of messages by the objects that stand for them. */
export const messagePlaces = new WeakMap<object, MessagePlace>();

/** Stands for an object that is made when a property is read. */
export function onUse<Target extends object>(make: () => Target): Target {
  let made: Target | undefined;
  const target = () => (made ??= make());
  return new Proxy(Object.create(null) as Target, {
    get: (_, name) => Reflect.get(target(), name),
    has: (_, name) => Reflect.has(target(), name),
    ownKeys: () => Reflect.ownKeys(target()),
    getPrototypeOf: () => Reflect.getPrototypeOf(target()),
    getOwnPropertyDescriptor: (_, name) => {
      const found = Reflect.getOwnPropertyDescriptor(target(), name);
      return found && { ...found, configurable: true };
    },
  });
}
