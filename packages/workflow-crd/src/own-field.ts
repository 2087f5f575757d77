/** Gives a field of the object itself: nothing that objects inherit, whatever the key is. */
export function ownField<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets a field of the object itself. Ids of nodes are keys, and `__proto__` is one: an ordinary assignment would change what all objects inherit. */
export function setOwnField<T>(object: Record<string, T>, key: string, value: NoInfer<T>): void {
  if (key === "__proto__") Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}
