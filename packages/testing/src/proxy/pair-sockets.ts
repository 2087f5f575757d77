import type { Socket } from "node:net";

/** Sends small writes of both connections at once, and closes each when the other one closes. */
export function pairSockets(one: Socket, other: Socket, open: Set<Socket>): void {
  for (const [socket, peer] of [
    [one, other],
    [other, one],
  ] as const) {
    open.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => peer.destroy());
    socket.on("close", () => {
      open.delete(socket);
      peer.destroy();
    });
  }
}
