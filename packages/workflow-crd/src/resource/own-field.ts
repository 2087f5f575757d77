/** Returns an own property of the object, never an inherited one, whatever the key is. */
export function ownField<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/**
 * Sets an own property. Keys are node ids, which may be `__proto__`: an ordinary assignment would
 * change the prototype of all objects.
 */
export function setOwnField<T>(object: Record<string, T>, key: string, value: NoInfer<T>): void {
  if (key === "__proto__") Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}
