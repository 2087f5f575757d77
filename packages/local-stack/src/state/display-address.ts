/**
 * Formats a host or URL of this machine as users type it: cookies, links and origin rules apply to
 * `localhost`.
 */
export function displayAddress(address: string): string {
  return address.replace("127.0.0.1", "localhost");
}
