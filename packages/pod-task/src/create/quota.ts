import { compareQuantities } from "@flyte-ts/domain/quantity";

/** True when a pod was rejected because its quota is exhausted. */
export function isQuotaExceeded(message: string): boolean {
  return message.includes("exceeded quota");
}

/** True when the request exceeds the total quota: waiting does not help. */
export function exceedsQuotaTotal(message: string): boolean {
  const requested = quantities(message, "requested");
  const limited = quantities(message, "limited");
  return [...requested].some(([name, quantity]) => {
    const limit = limited.get(name);
    return limit !== undefined && isGreater(quantity, limit);
  });
}

/**
 * Parses the list after `requested:` in "… requested: limits.cpu=7,limits.memory=64Gi, used: …".
 */
function quantities(message: string, title: string): Map<string, string> {
  const list = new RegExp(`${title}: ([^ ]+)`).exec(message)?.[1] ?? "";
  return new Map(
    list
      .split(",")
      .map((entry) => entry.split("="))
      .filter((pair): pair is [string, string] => pair.length === 2),
  );
}

function isGreater(a: string, b: string): boolean {
  try {
    return compareQuantities(a, b) > 0;
  } catch {
    return false;
  }
}
