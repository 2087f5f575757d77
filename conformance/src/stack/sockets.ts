import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** A TCP socket that accepts connections. */
export interface ListeningSocket {
  /**
   * Bound address in the format of /proc/net/tcp: hexadecimal, each word in the machine's byte
   * order.
   */
  readonly address: string;
  readonly port: number;
  /** Inode number by which processes that hold the socket refer to it. */
  readonly inode: string;
}

/** State LISTEN in /proc/net/tcp (include/net/tcp_states.h). */
const LISTEN = "0A";

/** Lists the listening sockets in the network namespace of a process, by default of this one. */
export function listeningSockets(pid: number | "self" = "self"): ListeningSocket[] {
  const lines = ["tcp", "tcp6"].flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, "utf8").trim().split("\n").slice(1));
  return lines.flatMap((line) => {
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    const [address = "", port = "0"] = local.split(":");
    return state === LISTEN ? [{ address, port: Number.parseInt(port, 16), inode }] : [];
  });
}

/** Lists the inodes of the sockets that a process holds; empty when it has exited. */
export function socketsOf(pid: number): string[] {
  const links = readOrEmpty(() => readdirSync(`/proc/${pid}/fd`));
  return links.flatMap((fd) => readOrEmpty(() => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.slice(1) ?? []));
}

/** Returns an empty list when the process or the descriptor is gone. */
function readOrEmpty(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}
