import { lookup as systemLookup, type LookupAddress, type LookupOptions } from "node:dns";
import type { LookupFunction } from "node:net";
import type { AllowAddress } from "./allowed-address.js";
import { PermanentSendError } from "./send-errors.js";

/** Resolves a name to all of its addresses. */
export type ResolveAll = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * A resolver for sockets: they connect to the very addresses that were checked, so that a name
 * which resolves differently a moment later has no effect. A name with any forbidden address is
 * refused.
 */
export function createSafeLookup(allow: AllowAddress, resolve: ResolveAll = systemLookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) return callback(error ?? new Error(`${hostname} has no address`), "", 0);
      const bad = addresses.find(({ address }) => !allow(address));
      if (bad !== undefined) return callback(forbiddenAddress(hostname, bad.address), "", 0);
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

export function forbiddenAddress(hostname: string, address: string): PermanentSendError {
  const which = hostname === address ? address : `${hostname} is ${address}, which`;
  return new PermanentSendError(`${which} is not an address of the public internet, and no configuration allows it`);
}
