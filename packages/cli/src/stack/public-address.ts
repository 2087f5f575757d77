/** Names a host or URL of this machine as people write it: cookies, links and rules of origins hold for `localhost`. */
export function publicAddress(address: string): string {
  return address.replace("127.0.0.1", "localhost");
}
